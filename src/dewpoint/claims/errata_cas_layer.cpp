// Errata 8-17, 24 and 25: what a layer does to tokens, and which tokens there are. The judge is a
// layer on explicit tokens, or a sample of the tokens themselves.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"
#include "dewpoint/theory/layer_bounds.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_depth.hpp"
#include "dewpoint/theory/two_level_simplex.hpp"

namespace dewpoint::claims {
namespace {

using experiments::explicit_layer;
using experiments::ExplicitLayer;
using experiments::simplex_tokens;

double squared(double x) { return x * x; }

double log_of(std::size_t n) { return std::log(static_cast<double>(n)); }

/// β = c log n/(1 − ρ).
double temperature_at(double reduced_scale, std::size_t n, double rho) {
  return reduced_scale * log_of(n) / (1.0 - rho);
}

/// Mean of a value over replicas 0..count−1, in parallel, added in order.
Estimate mean_over(std::size_t count, const RunContext& context,
                   const std::function<double(std::uint64_t)>& value) {
  std::vector<double> values(count);
  parallel_for(count, context, [&](std::size_t replica) { values[replica] = value(replica); });
  RunningMoments moments;
  for (const double each : values) moments.add(each);
  return moments.estimate();
}

/// Eq (25) with z_0, z_i of independent coordinates of the given deviation.
Matrix<double> sampled_tokens(std::size_t n, std::size_t d, double rho, double deviation,
                              const Stream& stream) {
  Matrix<double> tokens(n, d);
  stream.normals(0, {tokens.data(), tokens.size()});
  Vector common(d);
  stream.normals(tokens.size(), common);
  for (std::size_t i = 0; i < n; ++i) {
    for (double& coordinate : tokens.row(i)) coordinate *= deviation * std::sqrt(1.0 - rho);
    add(tokens.row(i), deviation * std::sqrt(rho), common);
  }
  return tokens;
}

double negative_share(const Matrix<double>& tokens) {
  std::size_t negative = 0;
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (inner(tokens.row(i), tokens.row(j)) < 0.0) ++negative;
    }
  }
  const auto n = static_cast<double>(tokens.rows());
  return static_cast<double>(negative) / (0.5 * n * (n - 1.0));
}

// ---- row 8 ----------------------------------------------------------------------------------

Evidence norm_in_bound(const Setting&) {
  constexpr std::size_t n = 128;
  constexpr double rho = 0.5, q = 4.0, alpha = 1.0;
  const double beta = temperature_at(0.3, n, rho), kappa = alpha * std::sqrt(q);
  const auto layer = explicit_layer(simplex_tokens(n, rho, q), beta, alpha);
  const double measured = experiments::square_interval(layer.outputs).largest;

  // The o(1) of Eq (47), exactly: (1 − ρ_2)(2κ A_ii + S_i), at most
  const theory::WeightBounds weights = theory::weight_bounds({log_of(n), beta, rho, rho});
  const double remainder =
      (1.0 - rho) * (2.0 * kappa * weights.largest_self + weights.largest_overlap);
  const auto bound = [&](double q_or_root) {
    return squared(kappa + 1.0) - (1.0 - rho) * (1.0 + 2.0 * alpha * q_or_root);
  };
  Evidence evidence;
  evidence.parameters = "simplex, n = 128, ρ = 0.5, q = 4, α = 1, c = 0.3";
  evidence.statement = {at_most("‖x'_i‖² against Eq (47) with √q_1", bound(std::sqrt(q)), measured,
                                remainder + 10.0 * layer_rounding(n, n, beta))};
  evidence.as_printed = {at_most("‖x'_i‖² against Eq (47) with q_1", bound(q), measured,
                                 remainder + 10.0 * layer_rounding(n, n, beta))};
  return evidence;
}

// ---- row 9 ----------------------------------------------------------------------------------

Evidence gain_of_collapse(const Setting&) {
  constexpr std::size_t n = 256;
  constexpr double rho = 0.1;
  const double beta = temperature_at(0.1, n, rho);
  const auto layer = explicit_layer(simplex_tokens(n, rho), beta, 0.0);
  const double measured = experiments::cosine_interval(layer.outputs).smallest;
  // What n = 256 lacks of the limit, by the same bound at finite n.
  const double limit = rho + theory::collapse_gain(rho, rho, 0.0);
  const double remainder =
      limit - theory::collapse_bound({log_of(n), beta, rho, rho}, 0.0) + layer_rounding(n, n, beta);
  Evidence evidence;
  evidence.parameters = "simplex, n = 256, ρ = 0.1, α = 0, c = 0.1: δ = 2.16";
  evidence.statement = {
      at_least("smallest ⟨y'_i,y'_j⟩ against ρ_1 + ρ_1(2+δ)δ", limit, measured, remainder)};
  evidence.as_printed = {at_least("smallest ⟨y'_i,y'_j⟩ against ρ_1 + ρ_1(1+2δ)δ",
                                  rho + theory::published_collapse_gain(rho, rho, 0.0), measured,
                                  remainder)};
  return evidence;
}

// ---- row 10 ---------------------------------------------------------------------------------

double largest_displacement(std::size_t n, double rho, double beta) {
  const ExplicitLayer layer = explicit_layer(simplex_tokens(n, rho), beta, 0.0);
  double largest = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    Vector moved(layer.mixed.row(i).begin(), layer.mixed.row(i).end());
    add(moved, -1.0, layer.directions.row(i));
    largest = std::max(largest, std::sqrt(inner(moved, moved)));
  }
  return largest;
}

/// Weight of token 0 on the other tokens of its cluster [0, size).
double cluster_mass(const Matrix<double>& weights, std::size_t size) {
  double mass = 0.0;
  for (std::size_t j = 1; j < size; ++j) mass += weights(0, j);
  return mass;
}

Evidence direction_of_inequality(const Setting&) {
  constexpr std::size_t n = 64, tokens = 256, size = 16;
  constexpr double rho = 0.5, inner_rho = 0.7, outer_rho = 0.1;
  const double high = temperature_at(1.5, n, rho), low = temperature_at(0.5, n, rho);
  const theory::SimplexWeights weights = theory::simplex_weights(log_of(n), high, rho);
  const double scale = std::sqrt((1.0 - rho) * n / (n - 1.0));  // distance to the mean of others
  const double moved = largest_displacement(n, rho, high);

  const double beta = 1.2 * log_of(tokens);
  const ExplicitLayer clustered =
      explicit_layer(experiments::two_level_tokens({tokens, size, inner_rho, outer_rho}), beta, 0);
  const theory::TwoLevelMasses masses = theory::two_level_masses(
      {log_of(size - 1), log_of(tokens - size), inner_rho, outer_rho}, beta);

  Evidence evidence;
  evidence.parameters = "simplex, n = 64, ρ = 0.5; 16 clusters of 16 with ρ = 0.7, 0.1, γ = 1.2";
  evidence.statement = {
      equal("‖ATT(y) − y‖ at γ = 1.5/(1−ρ)", weights.others * scale, moved,
            layer_rounding(n, n, high)),
      at_most("the same against n^{1−c} √(2(1−ρ))",
              std::pow(n, -0.5) * std::sqrt(2.0 * (1.0 - rho)), moved, 0.0),
      equal("share of Z_i on 𝒦_i, Assumption 3", masses.cluster,
            cluster_mass(clustered.weights, size), layer_rounding(tokens, tokens + 17, beta)),
      at_least("the same against the larger of the two other shares",
               std::max(masses.self, masses.rest), cluster_mass(clustered.weights, size), 0.0)};
  // n^{−|1−c|} is the rate at which the right statement holds.
  evidence.as_printed = {at_most("‖ATT(y) − y‖ at γ = 0.5/(1−ρ)",
                                 std::pow(n, -0.5) * std::sqrt(2.0 * (1.0 - rho)),
                                 largest_displacement(n, rho, low), 0.0)};
  return evidence;
}

// ---- row 11 ---------------------------------------------------------------------------------

/// Σ_ij of ‖R_2‖², R_2 = e^{β⟨y_j,y_i⟩}((±y_i + β P y_j) ⊗ y_i + I), and of U_1ᵀ R_2 U_4.
struct SumsOfR2 {
  double squares = 0.0;
  double products = 0.0;
};

SumsOfR2 sums_of_r2(const Matrix<double>& y, double rho, double beta, double sign) {
  const std::size_t n = y.rows(), d = y.cols();
  Vector v(d, 0.0);
  for (std::size_t m = 0; m < n; ++m) add(v, 1.0, y.row(m));
  SumsOfR2 sums;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double factor = std::exp(beta * inner(y.row(i), y.row(j)));
      Vector left = tangent(y.row(i), y.row(j));
      for (double& coordinate : left) coordinate *= beta;
      add(left, sign, y.row(i));
      Matrix<double> r2(d, d);
      add_identity(r2, factor);
      add_outer(r2, factor, left, y.row(i));
      sums.squares += trace_product(r2, r2);
      if (i != j) continue;
      const Vector u1 = tangent(y.row(i), v);
      sums.products += beta * std::exp(2.0 * beta * rho) * inner(u1, times(r2, v));
    }
  }
  return sums;
}

Evidence misprints(const Setting&) {
  constexpr std::size_t n = 6, d = 7;
  constexpr double rho = 0.4, beta = 1.5, alpha = 0.7, size = n;
  const Matrix<double> y = simplex_tokens(n, rho, 1.0, d);
  const SumsOfR2 right = sums_of_r2(y, rho, beta, -1.0), printed = sums_of_r2(y, rho, beta, 1.0);
  const double pairs = size * (size - 1.0);
  const double eq94 =
      std::exp(2.0 * beta) * (d - 1.0) * size +
      std::exp(2.0 * beta * rho) * (squared(beta) * (1.0 - rho * rho) + d - 1.0) * pairs;
  const double eq101 =
      beta * std::exp(beta * (2.0 * rho + 1.0)) * pairs * (size * rho + 1.0 - rho) * (1.0 - rho);
  const Matrix<double> tokens = simplex_tokens(n, rho, 1.7, d);
  const ExplicitLayer layer = explicit_layer(tokens, beta, alpha);
  const double eq45 = squared(alpha) * inner(tokens.row(0), tokens.row(1)) +
                      alpha * inner(tokens.row(0), layer.mixed.row(1)) +
                      alpha * inner(tokens.row(1), layer.mixed.row(0)) +
                      inner(layer.mixed.row(0), layer.mixed.row(1));
  const double rounding = jacobian_rounding(n, d, 2.0 * beta);
  Evidence evidence;
  evidence.parameters = "simplex, n = 6, d = 7, ρ = 0.4, β = 1.5, α = 0.7, q = 1.7";
  evidence.statement = {
      equal("⟨x'_1,x'_2⟩ by Eq (45) with α²⟨x_1,x_2⟩", eq45,
            inner(layer.outputs.row(0), layer.outputs.row(1)), rounding * eq45),
      equal("Σ Tr R_2ᵀR_2 with −y_i against Eq (94)", eq94, right.squares, rounding * eq94),
      equal("Σ U_1ᵀR_2U_4 with −y_i against Eq (101)", eq101, right.products, rounding * eq101),
      equal("Σ U_1ᵀR_2U_4 with +y_i against Eq (101): the sign drops out", eq101, printed.products,
            rounding * eq101)};
  evidence.as_printed = {equal("Σ Tr R_2ᵀR_2 with the +y_i of Eq (101) against Eq (94)", eq94,
                               printed.squares, rounding * eq94)};
  return evidence;
}

// ---- row 12 ---------------------------------------------------------------------------------

Evidence pairs_in_contraction(const Setting&) {
  constexpr std::size_t n = 32;
  constexpr double rho = 0.5;
  const double beta = temperature_at(1.0, n, rho);
  const Matrix<double> inputs = simplex_tokens(n, rho);
  const ExplicitLayer layer = explicit_layer(inputs, beta, 0.0);
  const double norm = inner(layer.outputs.row(0), layer.outputs.row(0));
  const double per_pair = 2.0 / (n * (n - 1.0));
  double contraction = 0.0, below = 0.0, up_to = 0.0, undefined = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      up_to += per_pair;
      if (i == j) {
        undefined += 1.0;
        continue;
      }
      below += per_pair;
      const double cosine = inner(layer.outputs.row(i), layer.outputs.row(j)) / norm;
      contraction += per_pair * (1.0 - cosine) / (1.0 - inner(inputs.row(i), inputs.row(j)));
    }
  }
  const double predicted = std::exp(theory::simplex_output(log_of(n), beta, rho).log_contraction);
  Evidence evidence;
  evidence.parameters = "simplex, n = 32, ρ = 0.5, c = 1";
  // Differences from 1 of cosines, divided by 1 − ρ = ½.
  evidence.statement = {
      equal("λ over i < j", predicted, contraction, 4.0 * layer_rounding(n, n, beta)),
      equal("terms i < j, times 2/(n(n−1))", 1.0, below, n * n * kEpsilon)};
  evidence.as_printed = {equal("terms i ≤ j, times 2/(n(n−1))", 1.0, up_to, n * n * kEpsilon),
                         at_most("terms i = j among them, which are 0/0", 0.0, undefined, 0.0)};
  return evidence;
}

// ---- row 13 ---------------------------------------------------------------------------------

Evidence variance_of_coordinates(const Setting& setting) {
  constexpr std::size_t d = 64;
  const std::size_t draws = setting.effort == Effort::quick ? 4000 : 100'000;
  const auto mean_square = [&](double deviation) {
    return mean_over(draws, setting.context, [&](std::uint64_t replica) {
      const Stream stream(setting.seed, "errata/norms", replica);
      const Matrix<double> token = sampled_tokens(1, d, 0.5, deviation, stream);
      return inner(token.row(0), token.row(0));
    });
  };
  const Estimate scaled = mean_square(1.0 / std::sqrt(double{d})), standard = mean_square(1.0);
  Evidence evidence;
  evidence.parameters = fmt::format("Eq (25), d = 64, ρ = 0.5, {} tokens", draws);
  evidence.statement = {{"E‖x‖² with z ~ N(0, I/d)", 1.0, Relation::equals, scaled, 0.0},
                        {"E‖x‖² with z ~ N(0, I)", double{d}, Relation::equals, standard, 0.0}};
  evidence.as_printed = {{"E‖x‖² with z ~ N(0, I)", 1.0, Relation::equals, standard, 0.0}};
  return evidence;
}

// ---- row 14 ---------------------------------------------------------------------------------

enum class Length { unit, gauss_per_d, gauss };

// At β = 1e4 a token reads only itself unless another is within 1 − cos < 0.003, which in d = 8 has
// the probability 1e-9 per pair: no remainder.
Estimate frozen_gradient(std::size_t d, Length length, std::size_t clouds, const Setting& setting) {
  return mean_over(clouds, setting.context, [&](std::uint64_t replica) {
    const Stream stream(setting.seed, "errata/frozen", replica);
    const double deviation =
        length == Length::gauss ? 1.0 : 1.0 / std::sqrt(static_cast<double>(d));
    Matrix<double> tokens = sampled_tokens(4, d, 0.2, deviation, stream);
    if (length == Length::unit) tokens = explicit_layer(tokens, 0.0, 0.0).directions;
    return experiments::mean_squared_gain(experiments::complex_step_jacobian(tokens, 1e4, 0.0));
  });
}

Evidence plateau_of_gradient(const Setting& setting) {
  constexpr double d = 8.0;
  const std::size_t clouds = setting.effort == Effort::quick ? 2000 : 40'000;
  const auto measured = [&](Length length) { return frozen_gradient(8, length, clouds, setting); };
  const Estimate unit = measured(Length::unit), scaled = measured(Length::gauss_per_d);
  const double rounding = jacobian_rounding(4, 8, 1e4);
  Evidence evidence;
  evidence.parameters = fmt::format("Eq (25), n = 4, d = 8, ρ = 0.2, β = 1e4, {} clouds", clouds);
  evidence.statement = {
      {"η, tokens of length 1: 1 − 1/d", 1.0 - 1.0 / d, Relation::equals, unit, rounding},
      {"η, z ~ N(0, I/d): (d−1)/(d−2)", (d - 1.0) / (d - 2.0), Relation::equals, scaled, rounding},
      {"η, z ~ N(0, I): (d−1)/(d(d−2))", (d - 1.0) / (d * (d - 2.0)), Relation::equals,
       measured(Length::gauss), rounding}};
  evidence.as_printed = {
      {"η, z ~ N(0, I/d): 1 − 1/d", 1.0 - 1.0 / d, Relation::equals, scaled, rounding}};
  return evidence;
}

// ---- row 15 ---------------------------------------------------------------------------------

/// Probability that two uniform points of a half-sphere have a negative inner product. Let them be
/// points at angle θ of the whole sphere, reflected where needed; the plane between the halves
/// parts them with probability θ/π, so the answer is E[min(θ, π − θ)]/π = E[θ | θ < π/2]/π.
double half_sphere_negative(int d) {
  const theory::QuadratureRule rule =
      theory::on_interval(theory::gauss_legendre(200), 0.0, 0.5 * std::numbers::pi);
  double total = 0.0, first = 0.0;
  for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
    const double density = rule.weights[k] * std::pow(std::sin(rule.nodes[k]), d - 2);
    total += density;
    first += density * rule.nodes[k];
  }
  return first / total / std::numbers::pi;
}

Evidence half_sphere(const Setting& setting) {
  constexpr std::size_t n = 64;
  const std::size_t clouds = setting.effort == Effort::quick ? 300 : 4000;
  Evidence evidence;
  evidence.parameters = fmt::format("uniform on a half-sphere, n = 64, {} clouds", clouds);
  for (const std::size_t d : {std::size_t{3}, std::size_t{8}, std::size_t{64}, std::size_t{512}}) {
    const Estimate share = mean_over(clouds, setting.context, [&](std::uint64_t replica) {
      Matrix<double> points(n, d);
      Stream(setting.seed, fmt::format("errata/half-sphere/d={}", d), replica)
          .normals(0, {points.data(), points.size()});
      for (std::size_t i = 0; i < n; ++i) points(i, 0) = std::abs(points(i, 0));
      return negative_share(points);
    });
    const std::string quantity = fmt::format("share of negative inner products, d = {}", d);
    evidence.statement.push_back(
        {quantity, half_sphere_negative(static_cast<int>(d)), Relation::equals, share, 1e-12});
    evidence.as_printed.push_back({quantity, 0.0, Relation::at_most, share, 0.0});
  }
  return evidence;
}

// ---- row 16 ---------------------------------------------------------------------------------

/// P(⟨x_i, x_j⟩ < 0) for Eq (25): coordinate by coordinate x_i x_j is a difference of squares of
/// independent normal variables of variance (1±ρ)/2, so it is P((1+ρ)χ²_d < (1−ρ)χ'²_d).
double negative_probability(double d, double rho) {
  return boost::math::ibeta(0.5 * d, 0.5 * d, 0.5 * (1.0 - rho));
}

/// Share of clouds in which every inner product is positive.
Estimate positive_clouds(std::size_t n, std::size_t d, double rho, std::size_t clouds,
                         const Setting& setting) {
  return mean_over(clouds, setting.context, [&](std::uint64_t replica) {
    const Stream stream(setting.seed, fmt::format("errata/clouds/d={}", d), replica);
    return negative_share(sampled_tokens(n, d, rho, 1.0, stream)) == 0.0 ? 1.0 : 0.0;
  });
}

Estimate negative_pairs(std::size_t d, double rho, std::size_t pairs, const Setting& setting) {
  return mean_over(pairs, setting.context, [&](std::uint64_t replica) {
    const Stream stream(setting.seed, "errata/pairs", replica);
    return negative_share(sampled_tokens(2, d, rho, 1.0, stream));
  });
}

Evidence sampled_assumption(const Setting& setting) {
  constexpr std::size_t n = 512;
  const bool quick = setting.effort == Effort::quick;
  const std::size_t clouds = quick ? 4 : 40, pairs = quick ? 100'000 : 1'000'000;
  const double all = 0.5 * n * (n - 1.0);
  Evidence evidence;
  evidence.parameters =
      fmt::format("Eq (25): {} pairs, and {} clouds of n = 512 each", pairs, clouds);
  evidence.statement = {
      {"share of negative inner products, d = 8, ρ = 0.5", negative_probability(8, 0.5),
       Relation::equals, negative_pairs(8, 0.5, pairs, setting), 1e-12},
      {"share of negative inner products, d = 8, ρ = 0.2", negative_probability(8, 0.2),
       Relation::equals, negative_pairs(8, 0.2, pairs, setting), 1e-12},
      // The union bound leaves 1e-30 for a negative pair.
      {"share of clouds without a negative one, d = 512, ρ = 0.5",
       1.0 - all * negative_probability(512, 0.5), Relation::equals,
       positive_clouds(n, 512, 0.5, clouds, setting), 1e-12}};
  // "With high probability": nineteen times out of twenty at least.
  const auto likely = [&](std::size_t d, double rho) -> Comparison {
    return {fmt::format("share of clouds without a negative one, d = {}, ρ = {}", d, rho), 0.95,
            Relation::at_least, positive_clouds(n, d, rho, clouds, setting), 0.0};
  };
  evidence.as_printed = {likely(8, 0.5), likely(64, 0.2)};
  return evidence;
}

// ---- row 17 ---------------------------------------------------------------------------------

Evidence size_of_bound(const Setting& setting) {
  constexpr std::size_t n = 256, d = 128;
  const Matrix<double> tokens = experiments::gaussian_tokens(n, d, 0.5, setting.seed, 0);
  const double smallest = experiments::cosine_interval(tokens).smallest;
  const double beta = 0.9 * log_of(n) / (1.0 - smallest);
  const double bound =
      4.0 * squared(beta) / (experiments::square_interval(tokens).smallest * double{d});
  const double eta = experiments::gradient_norm(tokens, beta, 0.0);
  const double typical = 4.0 * squared(std::log(4096.0)) / 128.0;
  Evidence evidence;
  evidence.parameters =
      "γ = q_1 = 1, n = 4096, d = 128; a Gaussian cloud, n = 256, d = 128, c = 0.9";
  evidence.statement = {
      at_least("bound (22), n = 4096, d = 128, against the supercritical 1 − 1/d",
               1.0 - 1.0 / 128.0, typical, 0.0),
      at_least("bound (22) of the cloud against ten times its η", 10.0 * eta, bound, 0.0)};
  // Small beside the value 1 − 1/d from which it should be told apart: a tenth.
  evidence.as_printed = {at_most("bound (22), n = 4096, d = 128", 0.1, typical, 0.0)};
  return evidence;
}

// ---- row 24 ---------------------------------------------------------------------------------

/// Layers until the explicit tokens of a simplex have all cosines above a threshold.
double measured_depth(std::size_t n, double rho, double beta, double threshold) {
  Matrix<double> tokens = simplex_tokens(n, rho);
  int layers = 0;
  while (experiments::cosine_interval(tokens).smallest <= threshold && layers < 1000) {
    tokens = explicit_layer(tokens, beta, 0.0).outputs;
    ++layers;
  }
  return layers;
}

double predicted_depth(double log_n, double rho, double beta) {
  const auto depth =
      theory::collapse_depth(theory::simplex_state(1.0, rho), {log_n, beta}, 0.999, 1'000'000);
  return static_cast<double>(depth.value_or(-1));
}

Evidence depth_of_collapse(const Setting&) {
  constexpr double rho = 0.5, threshold = 0.999;
  constexpr std::size_t n = 64;
  const double million = std::log(1e6), trillion = std::log(1e12);
  const double beta = temperature_at(2.0, n, rho);
  const double gamma = 1.4 / (1.0 - rho), deep = gamma * trillion;
  const double leading = theory::leading_collapse_depth(trillion, deep, rho);
  const auto states = theory::simplex_trajectory(theory::simplex_state(1.0, rho),
                                                 {million, 1.2 * million / (1.0 - rho)}, 4);
  Evidence evidence;
  evidence.parameters =
      "simplex, ρ = 0.5, α = 0: n = 64, c = 2; n = 1e6, c = 1.2; n = 1e12, "
      "c = 1.4";
  // At ρ = ½ the first correction of the integral vanishes and the second is 8/(γ log n)²; the end
  // of the collapse takes another ten layers at most.
  evidence.statement = {
      equal("layers until ρ > 0.999, n = 64, explicit tokens",
            predicted_depth(log_of(n), rho, beta), measured_depth(n, rho, beta, threshold), 0.0),
      equal("layers until ρ > 0.999, n = 1e6", 4.0,
            predicted_depth(million, rho, 1.2 * million / (1.0 - rho)), 0.0),
      equal("layers until ρ > 0.999, n = 1e12, against n^{c−1}/(2ρ(1−ρ)γ log n)", leading,
            predicted_depth(trillion, rho, deep), 10.0 + leading * 8.0 / squared(deep))};
  // A drift that is negligible for a polynomial number of layers: four are few.
  evidence.as_printed = {
      equal("ρ after 4 layers, n = 1e6, c = 1.2", rho, states.back().correlation(), 0.1)};
  return evidence;
}

// ---- row 25 ---------------------------------------------------------------------------------

/// The least share of the tokens that holds 90 % of the weight of token 0.
double needed_share(const Matrix<double>& weights) {
  Vector row(weights.row(0).begin(), weights.row(0).end());
  std::sort(row.rbegin(), row.rend());
  double held = 0.0, count = 0.0;
  while (held < 0.9) held += row[static_cast<std::size_t>(count++)];
  return count / static_cast<double>(row.size());
}

Evidence critical_weights(const Setting&) {
  constexpr std::size_t n = 256, fewer = 64;
  constexpr double rho = 0.5, size = n;
  const auto weights_of = [&](std::size_t tokens) {
    return explicit_layer(simplex_tokens(tokens, rho), temperature_at(1.0, tokens, rho), 0.0)
        .weights;
  };
  const Matrix<double> weights = weights_of(n);
  double entropy = 0.0;
  for (const double weight : weights.row(0)) entropy -= weight * std::log(weight);
  const double a = size / (2.0 * size - 1.0), s = 1.0 - a;
  const double rounding = layer_rounding(n, n, temperature_at(1.0, n, rho));
  const double share = needed_share(weights), share_of_fewer = needed_share(weights_of(fewer));
  Evidence evidence;
  evidence.parameters = "simplex, ρ = 0.5, c = 1, n = 64 and 256";
  evidence.statement = {
      equal("self weight: n/(2n−1)", a, weights(0, 0), rounding),
      equal("entropy against log 2 + ½ log(n−1)", std::log(2.0) + 0.5 * std::log(size - 1.0),
            entropy, std::log(size) / size),  // a − ½ = 1/(4n), and dH/da ≤ log n there
      equal("Σw²", a * a + s * s / (size - 1.0), inner(weights.row(0), weights.row(0)), rounding),
      // Half is on the token itself; 0.4 of the other half's 0.5 is 80 % of the others, to a token.
      equal("share of the tokens that holds 90 % of the weight", 0.8, share, 2.0 / size)};
  // Even n/log n tokens would be a smaller share of 256 than of 64, by the ratio of logarithms.
  evidence.as_printed = {at_most("that share at n = 256 over that at n = 64",
                                 log_of(fewer) / log_of(n), share / share_of_fewer, 2.0 / fewer)};
  return evidence;
}

}  // namespace

std::vector<Claim> cas_layer_errata() {
  return {
      {"erratum.8", "CAS, Eq (47)", "printed (1−ρ_2)(1+2αq_1); right is (1−ρ_2)(1+2α√q_1)",
       norm_in_bound},
      {"erratum.9", "CAS, below Eq (49)", "printed ε = ρ_1(1+2δ)δ; right is ρ_1(2+δ)δ",
       gain_of_collapse},
      {"erratum.10", "CAS, proof of Theorem 2.3; Lemma C.1, Theorem C.2",
       "printed γ < 1/(1−ρ_2), and Assumption 2; right is γ > 1/(1−ρ_2), and Assumption 3",
       direction_of_inequality},
      {"erratum.11", "CAS, Eq (45), Eq (101), Assumption 1, proof of Theorem 2.1",
       "printed α²p, +y_i, q ≥ 0, ⟨x_i,x_i⟩; right is α²⟨x_i,x_j⟩, −y_i, q > 0, ⟨x'_i,x'_i⟩",
       misprints},
      {"erratum.12", "CAS, Eq (26)", "printed a sum over i ≤ j; right is i < j",
       pairs_in_contraction},
      {"erratum.13", "CAS, Eq (25)",
       "printed standard Gaussian z and E‖x‖² = 1; right is variance 1/d per coordinate",
       variance_of_coordinates},
      {"erratum.14", "CAS, Section 3",
       "printed η → 1−1/d for large γ; right is (d−1)/(d−2) for z ~ N(0, I/d), and 1−1/d only for "
       "tokens of length 1",
       plateau_of_gradient},
      {"erratum.15", "CAS, Section 2.2",
       "printed that points of a half-sphere satisfy Assumption 2; right is that a third to a half "
       "of their inner products are negative",
       half_sphere},
      {"erratum.16", "CAS, Section 3",
       "printed that samples of Eq (25) satisfy Assumption 2 with high probability; right is only "
       "when d is large for the given n and ρ",
       sampled_assumption},
      {"erratum.17", "CAS, end of Section 2.3",
       "printed that log²n/d in (22) is small for typical n, d; right is that the bound exceeds "
       "the supercritical value at n = 4096, d = 128",
       size_of_bound},
      {"erratum.24", "CAS, end of Section 2.2",
       "printed that the theorems persist for poly(n) layers; right is n^{c−1}/(2ρ(1−ρ)γ log n) "
       "layers, which may be four",
       depth_of_collapse},
      {"erratum.25", "CAS, introduction",
       "printed that critical attention rests on a sublinear number of tokens; right is half on "
       "the token itself, half spread evenly over all others",
       critical_weights},
  };
}

}  // namespace dewpoint::claims
