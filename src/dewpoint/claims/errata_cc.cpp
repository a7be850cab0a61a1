// Errata 18-23: Gaussian scores, Appendix D of CAS and the note CC, and one sentence about CAS.
//
// Limit laws of Gaussian extremes are approached as 1/log N, so no sample decides between two of
// them by itself. Each row therefore goes in two steps: drawn scores confirm the exact mean at
// finite N (theory/gaussian_extremes.hpp), and the exact mean at N = 1e250 confirms the law, with
// the first neglected term as tolerance.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/experiments/gaussian_scores.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"

namespace dewpoint::claims {
namespace {

const double kLongLog = 250.0 * std::log(10.0);
constexpr const char* kLongText = "1e250";

double critical_temperature(double log_n) { return std::sqrt(2.0 * log_n); }

double quantile(double log_n) { return normal::upper_quantile(-log_n); }

double squared(double x) { return x * x; }

experiments::GaussianScoreMeans drawn(std::size_t scores, std::size_t draws,
                                      std::vector<experiments::ScoreSoftmax> softmaxes,
                                      const Setting& setting) {
  experiments::GaussianScores question;
  question.scores = scores;
  question.draws = draws;
  question.softmaxes = std::move(softmaxes);
  question.seed = setting.seed;
  return experiments::gaussian_scores(question, setting.context);
}

/// Relative size of what e^{βM} ≈ e^{βb + (β/b)G}, G Gumbel, neglects: M − b is
/// G/b − (G + G²/2)/b³ + O(b⁻⁵), and under the weight e^{tG}, t = β/b, the mean and the second
/// moment of G are −ψ(1−t) and ψ'(1−t) + ψ(1−t)². Twice that covers the next order for b ≥ 7.
double exponential_remainder(double beta, double b) {
  const double t = beta / b, mean = -boost::math::digamma(1.0 - t);
  return 2.0 * beta / (b * b * b) * (mean + 0.5 * (boost::math::trigamma(1.0 - t) + mean * mean));
}

// ---- row 18 ---------------------------------------------------------------------------------

/// Gaps of drawn scores against their exact means, for k = 2, 3, 4.
void compare_drawn_gaps(const experiments::GaussianScoreMeans& means, double log_n,
                        Evidence& evidence) {
  const double t_n = quantile(log_n);
  double harmonic = 0.0, exact = 0.0;
  for (int k = 2; k <= 4; ++k) {
    const auto index = static_cast<std::size_t>(k - 2);
    harmonic += 1.0 / (k - 1.0);
    exact += t_n * theory::mean_top_gap(log_n, k - 1);
    Estimate gap = means.gaps[index];
    gap.mean *= t_n;
    gap.standard_error *= t_n;
    evidence.statement.push_back({fmt::format("log Φ̄(a_{}) − log Φ̄(a_1): harmonic for every N", k),
                                  harmonic, Relation::equals, means.tail_gaps[index], 0.0});
    evidence.statement.push_back({fmt::format("t_n (a_1 − a_{}) against its exact mean", k), exact,
                                  Relation::equals, gap, theory::kExtremesError});
  }
}

/// The limits of the gaps, printed and right, against exact means at a length where t_n is the
/// hazard of the top scores up to a factor 1 + O(1/t_n²).
void compare_limits_of_gaps(Evidence& evidence) {
  const double t_n = quantile(kLongLog);
  double harmonic = 0.0, exact = 0.0;
  for (int k = 2; k <= 4; ++k) {
    harmonic += 1.0 / (k - 1.0);
    exact += t_n * theory::mean_top_gap(kLongLog, k - 1);
    const std::string quantity = fmt::format("t_n (a_1 − a_{}), N = {}: ", k, kLongText);
    evidence.statement.push_back(equal(quantity + fmt::format("1 + .. + 1/{}", k - 1), harmonic,
                                       exact, 3.0 * harmonic / (t_n * t_n)));
    if (k == 2) continue;  // one and the same
    evidence.as_printed.push_back(
        equal(quantity + fmt::format("{}", k - 1), k - 1.0, exact, 3.0 * (k - 1.0) / (t_n * t_n)));
  }
}

/// The largest weight that goes with them: a load of β/b_N above the transition, none below.
void compare_limits_of_weight(Evidence& evidence) {
  const double b = quantile(kLongLog), hot = 0.5 * critical_temperature(kLongLog), cold = 4.0 * hot;
  const double weight = theory::mean_largest_weight(kLongLog, cold), tolerance = 1.0 / (b * b);
  const std::string quantity = fmt::format("E A_1, N = {}, ", kLongText);
  evidence.statement.push_back(equal(quantity + "t = 2: weights Γ_k^{−t}",
                                     theory::poisson_dirichlet_largest_weight(cold / b), weight,
                                     tolerance));
  evidence.as_printed.push_back(equal(quantity + "t = 2: Eq (118)",
                                      theory::published_largest_weight(2.0), weight, tolerance));
  evidence.as_printed.push_back(equal(quantity + "t = 1/2: Eq (118)",
                                      theory::published_largest_weight(0.5),
                                      theory::mean_largest_weight(kLongLog, hot), tolerance));
}

Evidence top_gaps(const Setting& setting) {
  constexpr std::size_t scores = 4000;
  const std::size_t draws = draws_of(setting, 8000);
  const double log_n = std::log(double{scores}), cold = 2.0 * critical_temperature(log_n);
  const auto means = drawn(scores, draws, {{cold, 0.0}}, setting);
  Evidence evidence;
  evidence.parameters =
      fmt::format("{} draws of N = 4000 scores; exact means at N = {}", draws, kLongText);
  compare_drawn_gaps(means, log_n, evidence);
  evidence.statement.push_back({"E A_1, t = 2, against its exact mean",
                                theory::mean_largest_weight(log_n, cold), Relation::equals,
                                means.softmaxes[0].largest_weight, theory::kLargestWeightError});
  compare_limits_of_gaps(evidence);
  compare_limits_of_weight(evidence);
  return evidence;
}

// ---- row 19 ---------------------------------------------------------------------------------

Evidence diffuse_weight(const Setting& setting) {
  constexpr std::size_t scores = 4000;
  constexpr double beta = 1.0;
  const std::size_t draws = draws_of(setting, 3000);
  const auto means = drawn(scores, draws, {{beta, 0.0}}, setting);
  const double exact = theory::mean_largest_weight(std::log(double{scores}), beta);

  Evidence evidence;
  evidence.parameters =
      fmt::format("β = 1; {} draws of N = 4000, exact means at N = 1e3 .. 1e30", draws);
  evidence.statement = {{"E w_max, N = 4000, against its exact mean", exact, Relation::equals,
                         means.softmaxes[0].largest_weight, exact * theory::kLargestWeightError}};
  for (const double power : {12.0, 30.0}) {
    const double log_n = power * std::log(10.0), b = quantile(log_n);
    const double law = std::exp(beta * b - 0.5 * beta * beta - log_n) * std::tgamma(1.0 - beta / b);
    evidence.statement.push_back(
        equal(fmt::format("E w_max over (1/N) e^{{βb_N − β²/2}} Γ(1 − β/b_N), N = 1e{}", power),
              1.0, theory::mean_largest_weight(log_n, beta) / law, exponential_remainder(beta, b)));
  }
  // "Of order log N/N": the ratio stays within a factor two.
  const auto in_units = [&](double power) {
    const double log_n = power * std::log(10.0);
    return theory::mean_largest_weight(log_n, beta) * std::exp(log_n) / log_n;
  };
  evidence.as_printed = {equal("E w_max/(log N/N) at N = 1e30 over that at N = 1e3", 1.0,
                               in_units(30.0) / in_units(3.0), 1.0)};
  return evidence;
}

// ---- row 20 ---------------------------------------------------------------------------------

Evidence largest_score(const Setting& setting) {
  constexpr std::size_t scores = 4000;
  const std::size_t draws = draws_of(setting, 2000);
  const auto means = drawn(scores, draws, {}, setting);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 4000; exact b_N up to log N = 1e8", draws);
  evidence.statement = {{"E M_N, N = 4000, against its exact mean",
                         theory::mean_largest_score(std::log(double{scores})), Relation::equals,
                         means.largest, theory::kExtremesError}};
  for (const double log_n : {30.0 * std::log(10.0), kLongLog, 1e8}) {
    const double root = std::sqrt(2.0 * log_n), shift = root - quantile(log_n);
    const double law = 0.5 * std::log(4.0 * std::numbers::pi * log_n) / root;
    // b²/2 + log(b √2π) = log N − 1/b² + ..: the next terms of the shift are
    // (shift²/2 + shift/root + 1/b²)/root at most. The subtraction costs root · ε.
    const double next =
        (0.5 * squared(shift) + shift / root + squared(1.0 / (root - shift))) / root;
    evidence.statement.push_back(equal(
        fmt::format("(√(2 log N) − b_N) 2√(2 log N)/(log log N + log 4π), log N = {:.4g}", log_n),
        1.0, shift / law, next / law + 8.0 * kEpsilon * root / law));
  }
  // A correction of order 1/√log N: its product with √log N stays within a factor two.
  const auto in_units = [](double log_n) {
    return (std::sqrt(2.0 * log_n) - quantile(log_n)) * std::sqrt(log_n);
  };
  evidence.as_printed = {equal("(√(2 log N) − b_N)√log N at log N = 1e8 over that at N = 1e3", 1.0,
                               in_units(1e8) / in_units(std::log(1e3)), 1.0)};
  return evidence;
}

// ---- row 21 ---------------------------------------------------------------------------------

Evidence prefactor(const Setting& setting) {
  constexpr std::size_t scores = 4000;
  const std::size_t draws = draws_of(setting, 4000);
  const double log_n = std::log(double{scores}), beta = 0.3 * critical_temperature(log_n);
  const auto means = drawn(scores, draws, {{beta, 0.0}}, setting);
  const double exact = theory::mean_largest_weight(log_n, beta);
  Evidence evidence;
  evidence.parameters =
      fmt::format("{} draws of N = 4000, t = 0.3; exact means at N = {}", draws, kLongText);
  evidence.statement = {{"E w_max, N = 4000, t = 0.3, against its exact mean", exact,
                         Relation::equals, means.softmaxes[0].largest_weight,
                         exact * theory::kLargestWeightError}};
  const double b = quantile(kLongLog), root = critical_temperature(kLongLog);
  for (const double t : {0.2, 0.5}) {
    const double weight = theory::mean_largest_weight(kLongLog, t * root);
    const double power = std::exp(-squared(1.0 - t) * kLongLog);
    const double factor =
        std::pow(4.0 * std::numbers::pi * kLongLog, -0.5 * t) * std::tgamma(1.0 - t);
    // b_N by two terms instead of exactly, t for β/b_N in Γ, and the Gumbel remainder.
    const double asymptotic = root - 0.5 * std::log(4.0 * std::numbers::pi * kLongLog) / root;
    const double remainder = t * root * std::abs(asymptotic - b) +
                             t * (root / b - 1.0) * std::abs(boost::math::digamma(1.0 - t)) +
                             exponential_remainder(t * root, b);
    evidence.statement.push_back(
        equal(fmt::format("E w_max N^{{(1−t)²}}, t = {}: (4π log N)^{{−t/2}} Γ(1−t)", t), factor,
              weight / power, 2.0 * factor * remainder));
    evidence.as_printed.push_back(equal(fmt::format("E w_max N^{{(1−t)²}}, t = {}: 1", t), 1.0,
                                        weight / power, 2.0 * remainder));
  }
  return evidence;
}

// ---- row 22 ---------------------------------------------------------------------------------

Evidence planted_weight(const Setting& setting) {
  constexpr std::size_t scores = 4000;
  const std::size_t draws = draws_of(setting, 500);
  const double log_n = std::log(double{scores}), beta = 0.4 * critical_temperature(log_n);
  const double noise = log_n + 0.5 * beta * beta;  // log E Z
  const double advantages[] = {-3.0, 0.0, 2.0};    // βm − log E Z
  std::vector<experiments::ScoreSoftmax> softmaxes;
  for (const double advantage : advantages) {
    softmaxes.push_back({beta, (noise + advantage) / beta});
  }
  const auto means = drawn(scores, draws, softmaxes, setting);

  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 4000 noise keys, t = 0.4", draws);
  // With ζ = Z/EZ, 1/(1 + ζe^{−x}) has a second derivative below 0.3 near ζ = 1: the bias is at
  // most Var ζ/6 = (e^{β²} − 1)/(6N). All of Var ζ is allowed.
  const double variance = std::expm1(beta * beta) / double{scores};
  for (std::size_t k = 0; k < softmaxes.size(); ++k) {
    const double x = advantages[k];
    const Estimate& measured = means.softmaxes[k].planted_weight;
    const std::string quantity = fmt::format("E w_*, βm − log N − β²σ²/2 = {}", x);
    evidence.statement.push_back({quantity + ": 1/(1 + e^{−x})", 1.0 / (1.0 + std::exp(-x)),
                                  Relation::equals, measured, variance});
    evidence.as_printed.push_back(
        {quantity + ": e^x", std::exp(x), Relation::equals, measured, variance});
  }
  return evidence;
}

// ---- row 23 ---------------------------------------------------------------------------------

/// Mean self weight of n directions of independent Gaussian vectors.
Estimate self_weight_on_sphere(std::size_t n, std::size_t d, double beta, const Setting& setting) {
  const std::size_t clouds = draws_of(setting, 100);
  std::vector<double> values(clouds);
  parallel_for(clouds, setting.context, [&](std::size_t replica) {
    Matrix<double> tokens(n, d);
    Stream(setting.seed, "errata/sphere", replica).normals(0, {tokens.data(), tokens.size()});
    const Matrix<double> weights = experiments::explicit_layer(tokens, beta, 0.0).weights;
    for (std::size_t i = 0; i < n; ++i) values[replica] += weights(i, i) / static_cast<double>(n);
  });
  RunningMoments moments;
  for (const double value : values) moments.add(value);
  return moments.estimate();
}

Evidence model_of_tokens(const Setting& setting) {
  constexpr std::size_t n = 128, d = 8;
  constexpr double rho = 0.5, size = n;
  const double log_n = std::log(size), beta = log_n / (1.0 - rho);
  const double half = size / (2.0 * size - 1.0);
  const Matrix<double> tokens = experiments::simplex_tokens(n, rho);
  const experiments::Interval cosines = experiments::cosine_interval(tokens);
  const Matrix<double> weights = experiments::explicit_layer(tokens, beta, 0.0).weights;

  Evidence evidence;
  evidence.parameters =
      "critical scale, n = 128: a simplex with ρ = 0.5, Gaussian directions d = 8";
  evidence.statement = {
      equal("smallest cosine of the tokens", rho, cosines.smallest, layer_rounding(n, n, 0.0)),
      equal("largest cosine of the tokens", rho, cosines.largest, layer_rounding(n, n, 0.0)),
      equal("self weight on the simplex, β = log n/(1−ρ)", half, weights(0, 0),
            layer_rounding(n, n, beta))};
  // Independent Gaussian directions have ρ = 0.
  evidence.as_printed = {{"self weight on Gaussian directions, β = log n", half, Relation::equals,
                          self_weight_on_sphere(n, d, log_n, setting), 0.1}};
  return evidence;
}

}  // namespace

std::vector<Claim> cc_errata() {
  return {
      {"erratum.18", "CAS, Eq (117), (118)",
       "printed t_n(a_1 − a_k) → E_1 + … + E_{k−1}; right is E_1 + E_2/2 + … + E_{k−1}/(k−1)",
       top_gaps},
      {"erratum.19", "CC, footnote 2",
       "printed diffuse w_max of order log N/N; right is (1/N) e^{βb_N − β²/2} Γ(1 − β/b_N)",
       diffuse_weight},
      {"erratum.20", "CC, below Eq (7)",
       "printed corrections of order σ/√log N to M_N; right is −σ(log log N + log 4π)/(2√(2 log "
       "N))",
       largest_score},
      {"erratum.21", "CC, below Eq (11)",
       "printed w_max ≈ N^{−(1−t)²}; right is that times (4π log N)^{−t/2} Γ(1−t)", prefactor},
      {"erratum.22", "CC, below Eq (14)",
       "printed w_* ≈ exp(βm − log N − β²σ²/2) = e^x; right is 1/(1 + e^{−x})", planted_weight},
      {"erratum.23", "summary of CAS, method",
       "printed a simplified spherical Gaussian model; right is a simplex or almost a simplex",
       model_of_tokens},
  };
}

}  // namespace dewpoint::claims
