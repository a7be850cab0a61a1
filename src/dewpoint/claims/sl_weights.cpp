// Scaling limits of long-context transformers: the law of the ordered weights at the critical
// scale.
//
// Weights are measured on the sampler that is exact in law at any n (experiments/query.hpp); the
// limit law is drawn from its definition (experiments/critical_limit.hpp) and integrated
// (theory/critical_sphere.hpp). The speed of convergence is a matter of exact means at finite n.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/drawn_keys.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/experiments/critical_limit.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::claims {
namespace {

// ---- the law of the ordered weights ---------------------------------------------------------

/// One point of the critical regime: draws at n = 1e15 and draws of the limit law.
struct CriticalPoint {
  int dimension;
  theory::CriticalSphere law;
  experiments::QueryResult drawn;
  Matrix<double> limit;
  double length;   // relative error of the limit law at this n
  double sampler;  // bounds of the sampler on the law of w_1
};

CriticalPoint critical_point(int dimension, double theta, const Setting& setting) {
  const theory::CriticalSphere law{theta, local_exponent(dimension)};
  auto question = key_query(dimension, kLongest, {theta}, 6000, setting);
  question.keep_draws = true;
  experiments::QueryResult drawn = experiments::query(question, setting.context);
  const experiments::CriticalLimit limit{theta, law.exponent, 4 * question.draws, 128,
                                         2,     setting.seed};
  const double sampler = 2.0 * drawn.means.variable("log_partition_bound").cells[0].mean;
  return {dimension,
          law,
          std::move(drawn),
          experiments::critical_limit_weights(limit, setting.context),
          length_error(law, unit_of(kLongest, dimension), kLongest),
          sampler};
}

std::vector<double> limit_weights(const CriticalPoint& point, std::size_t rank) {
  std::vector<double> values;
  for (std::size_t i = 0; i < point.limit.rows(); ++i) values.push_back(point.limit(i, rank));
  return values;
}

void compare_means(const CriticalPoint& point, Evidence& evidence) {
  const theory::CriticalSphereMeans means = theory::critical_sphere_means(point.law);
  const auto compare = [&](const char* text, const char* name, double limit, double factor) {
    evidence.statement.push_back(
        {fmt::format("{}, d = {}, θ = {}", text, point.dimension, point.law.theta), limit,
         Relation::equals, point.drawn.means.variable(name).cells[0],
         limit * point.length + factor * point.sampler});
  };
  compare("E w_1", "weight", theory::critical_sphere_largest_weight(point.law), 1.0);
  compare("E Σw²", "participation", means.participation, 1.0);
  // The entropy is log Z + E_w θu, whose terms move with log Z one to one.
  compare("entropy", "entropy", means.entropy, 1.0 + means.entropy);
}

/// Kolmogorov's distance of n = 1e15 and the limit. A change of log θ by e moves a distribution
/// function by e times a slope of order one.
void compare_laws(const CriticalPoint& point, Evidence& evidence) {
  const char* const names[] = {"largest_weight", "second_weight"};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto values = drawn_values(point.drawn.draws, names[rank], 0);
    const double bound = distance_bound(values.size()) + distance_bound(point.limit.rows());
    evidence.statement.push_back(at_most(
        fmt::format("distance of the laws of w_{} at n = 1e15 and in the limit, d = {}", rank + 1,
                    point.dimension),
        bound + point.length, distance_of_samples(values, limit_weights(point, rank)), 0.0));
  }
}

Evidence critical_weights(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = fmt::format("n = 1e15, {} draws; {} draws of the limit law",
                                    draws_of(setting, 6000), 4 * draws_of(setting, 6000));
  // θ of order a, where a handful of keys share the weight.
  for (const auto& [dimension, theta] : {std::pair{3, 1.0}, {5, 2.0}, {8, 5.0}}) {
    const CriticalPoint point = critical_point(dimension, theta, setting);
    compare_means(point, evidence);
    compare_laws(point, evidence);
  }
  return evidence;
}

// ---- a finite collection --------------------------------------------------------------------

/// E(w_1 + ... + w_8) of the limit law.
Estimate limit_share_of_eight(const theory::CriticalSphere& law, const Setting& setting) {
  const experiments::CriticalLimit question{law.theta, law.exponent, draws_of(setting, 16'000), 64,
                                            8,         setting.seed};
  const Matrix<double> weights = experiments::critical_limit_weights(question, setting.context);
  RunningMoments shares;
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    double share = 0.0;
    for (std::size_t k = 0; k < weights.cols(); ++k) share += weights(i, k);
    shares.add(share);
  }
  return shares.estimate();
}

/// The same over draws at n keys. Errors of dependent weights add up at most.
Estimate share_of_eight(const Frame& means) {
  Estimate share{0.0, 0.0, means.variable("weight").cells[0].samples};
  for (const Estimate& weight : means.variable("weight").cells) {
    share.mean += weight.mean;
    share.standard_error += weight.standard_error;
  }
  return share;
}

Evidence finite_collection(const Setting& setting) {
  constexpr int dimension = 5;
  const theory::CriticalSphere law{2.0, local_exponent(dimension)};
  const double participation = theory::critical_sphere_means(law).participation;
  const Estimate limit = limit_share_of_eight(law, setting);
  Evidence evidence;
  evidence.parameters =
      fmt::format("d = 5, θ = 2, n = 1e6 and 1e15, {} draws", draws_of(setting, 6000));
  for (const double n : {1e6, kLongest}) {
    const auto question = key_query(dimension, n, {law.theta}, 6000, setting);
    const Frame means = experiments::query(question, setting.context).means;
    const Estimate& largest = means.variable("weight").cells[0];
    const double error = length_error(law, unit_of(n, dimension), n) +
                         2.0 * means.variable("log_partition_bound").cells[0].mean;
    const std::string length = fmt::format(", n = {:.0e}", n);
    // Σw² ≤ w_1 and w_1² ≤ Σw²: neither nothing nor everything is left to the nearest key.
    evidence.statement.push_back({"E w_1 ≥ lim E Σw²" + length, participation, Relation::at_least,
                                  largest, participation * error});
    evidence.statement.push_back({"E w_1 ≤ (lim E Σw²)^½" + length, std::sqrt(participation),
                                  Relation::at_most, largest, error});
    Estimate share = share_of_eight(means);
    share.standard_error = std::hypot(share.standard_error, limit.standard_error);
    evidence.statement.push_back({"E(w_1 + ... + w_8) against draws of the limit law" + length,
                                  limit.mean, Relation::equals, share, limit.mean * error});
  }
  return evidence;
}

// ---- how fast -------------------------------------------------------------------------------

/// E w_1 at n keys minus its limit, at θ = a.
double largest_weight_error(int dimension, double n) {
  const double a = local_exponent(dimension), log_n = std::log(n);
  const double beta = a * theory::sphere_unit(log_n, dimension);
  return theory::finite_largest_weight(SphereGap(dimension), {log_n, beta}) -
         theory::critical_sphere_largest_weight({a, a});
}

/// Relative size of what follows the leading correction. There are two reasons to differ: the
/// curvature of the sphere, of order 1/β*, and the count of the keys, which is not Poisson's, of
/// order 1/n. Each is followed by its square, and by the weaker of the two; their coefficients are
/// between 0.09 and 0.5 below, within a factor of eight of each other. In space, d = 3, there is no
/// curvature term.
double next_order(int dimension, double n) {
  const double a = local_exponent(dimension), unit = unit_of(n, dimension);
  const double weaker = dimension == 3 ? 1.0 / n : std::min(unit / n, n / unit);
  return length_error({a, a}, unit, n) + 8.0 * weaker;
}

/// The exponent between two lengths: an error at the shorter one counts over the logarithm of their
/// ratio.
Comparison rate_comparison(int dimension, double n, double longer) {
  const double near = largest_weight_error(dimension, n);
  const double far = largest_weight_error(dimension, longer), span = std::log(longer / n);
  const double rounding = 4.0 * theory::kFiniteLargestWeightError / std::abs(far);
  return equal(fmt::format("exponent of E w_1 − lim in 1/n, d = {}, n = {:.0e} to {:.0e}",
                           dimension, n, longer),
               std::min(1.0, 1.0 / local_exponent(dimension)), std::log(near / far) / span,
               (next_order(dimension, n) + rounding) / span);
}

/// ∫ h(y) dy over the line by trapezoids. The functions below fall off as e^y on the left and at
/// least as e^{−y/2} on the right.
double integral(const std::function<double(double)>& function) {
  constexpr double kStep = 0.25;
  double sum = 0.0;
  for (int k = -160; k <= 640; ++k) sum += function(kStep * k);
  return kStep * sum;
}

double laplace(double theta, double exponent, double y) {
  return exponent == 0.0 ? -std::expm1(-std::exp(y))
                         : theory::critical_sphere_laplace({theta, exponent}, y);
}

/// lim β*(E Σw²(n) − E Σw²(∞)) for d > 3. With Ψ_a the Laplace exponent of Z, E Σw² is
/// 1 − ∫ e^{−Ψ}Ψ'² dy, and the curvature of the sphere adds −κΨ_{a+1}/β* to Ψ = Ψ_a, where
/// κ = a(a−1)/(2(a+1)) and Ψ_a' = (a/θ)Ψ_{a−1}.
double curvature_coefficient(double theta, double a) {
  const double kappa = 0.5 * a * (a - 1.0) / (a + 1.0);
  return kappa * integral([=](double y) {
           const double psi = laplace(theta, a, y), change = laplace(theta, a + 1.0, y);
           const double slope = a / theta * laplace(theta, a - 1.0, y);
           return std::exp(-psi) * (2.0 * slope * (a + 1.0) / theta * psi - change * slope * slope);
         });
}

/// lim n(E Σw²(n) − E Σw²(∞)) for d = 3, where the law of the gap is a power exactly and only
/// (1 − Ψ/n)^{n−1} = e^{−Ψ}(1 + (Ψ − Ψ²/2)/n + ...) is left.
double counting_coefficient(double theta) {
  return integral([theta](double y) {
    const double psi = laplace(theta, 1.0, y), slope = laplace(theta, 0.0, y) / theta;
    return std::exp(-psi) * (1.0 - 2.0 * psi + 0.5 * psi * psi) * slope * slope;
  });
}

Comparison coefficient_comparison(int dimension, double n) {
  const double a = local_exponent(dimension), unit = unit_of(n, dimension);
  const double exact =
      theory::finite_score_means(SphereGap(dimension), {std::log(n), a * unit}).participation;
  const double difference = exact - theory::critical_sphere_means({a, a}).participation;
  const double scale = dimension == 3 ? n : unit;
  const double predicted = dimension == 3 ? counting_coefficient(a) : curvature_coefficient(a, a);
  return equal(
      fmt::format("{} (E Σw² − lim), d = {}, n = {:.0e}", dimension == 3 ? "n" : "β*", dimension,
                  n),
      predicted, scale * difference,
      std::abs(predicted) * next_order(dimension, n) + 4.0 * scale * theory::kFiniteScoresError);
}

Evidence convergence_rate(const Setting&) {
  Evidence evidence;
  evidence.parameters = "exact means at θ = (d − 1)/2 and n from 1e3 to 1e40";
  evidence.statement = {rate_comparison(2, 1e3, 1e5),    rate_comparison(3, 1e3, 1e5),
                        rate_comparison(4, 1e9, 1e12),   rate_comparison(5, 1e9, 1e12),
                        rate_comparison(8, 1e15, 1e21),  rate_comparison(17, 1e30, 1e40),
                        coefficient_comparison(3, 1e4),  coefficient_comparison(5, 1e10),
                        coefficient_comparison(8, 1e15), coefficient_comparison(17, 1e30)};
  return evidence;
}

}  // namespace

std::vector<Claim> sl_weight_claims() {
  return {
      {"sl.critical-weights", "SL, abstract",
       "At β = θβ* the ordered weights tend to e^(−θΓ_k^(1/a))/Z, Γ_k the points of a Poisson "
       "process.",
       critical_weights},
      {"sl.finite-collection", "SL, abstract",
       "At β* a finite collection of keys holds the mass, and no single one, however large n is.",
       finite_collection},
      {"sl.convergence-rate", "next to SL, abstract",
       "The limit law is approached as n^(−min(1, 2/(d−1))), with an explicit first correction.",
       convergence_rate},
  };
}

}  // namespace dewpoint::claims
