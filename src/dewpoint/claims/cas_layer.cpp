// Critical attention scaling, Section 2.1-2.2 and Appendix A: what one layer does to the tokens.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/almost_simplex.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/theory/layer_bounds.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::claims {
namespace {

using experiments::explicit_layer;
using experiments::ExplicitLayer;
using experiments::Interval;

// ---- a regular simplex ------------------------------------------------------------------------

struct SimplexCase {
  double correlation;    // ρ
  double residual;       // α
  double squared_norm;   // q
  double reduced_scale;  // c = β(1 − ρ)/log n

  [[nodiscard]] double inverse_temperature(double log_n) const {
    return reduced_scale * log_n / (1.0 - correlation);
  }
  [[nodiscard]] double scaled_residual() const { return residual * std::sqrt(squared_norm); }
  [[nodiscard]] std::string text() const {
    return fmt::format("ρ = {}, α = {}, q = {}, c = {}", correlation, residual, squared_norm,
                       reduced_scale);
  }
};

constexpr SimplexCase kSimplexCases[] = {{0.5, 0.0, 1.0, 0.5}, {0.5, 0.0, 1.0, 1.0},
                                         {0.5, 0.0, 1.0, 1.5}, {0.2, 0.7, 2.0, 0.6},
                                         {0.2, 0.7, 2.0, 1.0}, {0.8, 0.3, 0.5, 1.4}};

// Eq 6 as printed.
double limit_of_cosine(const SimplexCase& at) {
  const double rho = at.correlation, kappa = at.scaled_residual();
  const double common = rho * (kappa + 1.0) * (kappa + 1.0);
  if (at.reduced_scale < 1.0) return common / (kappa * kappa + 2.0 * kappa * rho + rho);
  if (at.reduced_scale > 1.0) return rho;
  return common / (kappa * kappa + kappa * (1.0 + rho) + (1.0 + 3.0 * rho) / 4.0);
}

// Every pair of outputs has the one cosine of the closed form: the smallest and the largest do.
void compare_cosines(const SimplexCase& at, std::size_t n, std::vector<Comparison>& into) {
  const double log_n = std::log(static_cast<double>(n));
  const double beta = at.inverse_temperature(log_n);
  const auto tokens = experiments::simplex_tokens(n, at.correlation, at.squared_norm);
  const ExplicitLayer layer = explicit_layer(tokens, beta, at.residual);
  const Interval cosines = experiments::cosine_interval(layer.outputs);
  const double predicted =
      theory::simplex_output(log_n, beta, at.correlation, at.scaled_residual()).correlation;
  const double tolerance = layer_rounding(n, n, beta);
  into.push_back(
      equal("smallest ⟨y'_i,y'_j⟩, " + at.text(), predicted, cosines.smallest, tolerance));
  into.push_back(equal("largest ⟨y'_i,y'_j⟩, " + at.text(), predicted, cosines.largest, tolerance));
}

// At n = 1e300 what is left of n^{−|1−c|} is below rounding.
void compare_limit(const SimplexCase& at, std::vector<Comparison>& into) {
  const double beta = at.inverse_temperature(kLargestLog);
  const double exact =
      theory::simplex_output(kLargestLog, beta, at.correlation, at.scaled_residual()).correlation;
  into.push_back(equal("closed form at n = 1e300, " + at.text(), limit_of_cosine(at), exact,
                       theory::simplex_error(kLargestLog, beta)));
}

Estimate contraction_of_simplex(std::size_t n, double correlation, double inverse_temperature,
                                const Setting& setting) {
  experiments::PhasePoint point;
  point.cloud.law = "simplex";
  point.cloud.n = n;
  point.cloud.rho = correlation;
  point.inverse_temperature = inverse_temperature;
  point.norm.reset();
  point.seed = setting.seed;
  return experiments::phase_point(point, setting.context).variable("contraction").cells[0];
}

// The contraction λ = (1 − ρ')/(1 − ρ) at a length of practice, against the closed form, and at the
// critical point against the printed limit itself, from which n tokens differ by at most the
// crossover's stated bias. λ is quadratic in the weights, so that it has twice their rounding.
void compare_contractions(std::size_t n, const Setting& setting, std::vector<Comparison>& into) {
  constexpr double rho = 0.5;
  const double log_n = std::log(static_cast<double>(n));
  for (const double scale : {0.5, 1.0, 1.5}) {
    const double beta = scale * log_n / (1.0 - rho);
    const Estimate measured = contraction_of_simplex(n, rho, beta, setting);
    const double predicted = std::exp(theory::simplex_output(log_n, beta, rho).log_contraction);
    into.push_back({fmt::format("contraction λ, n = {}, ρ = {}, c = {}", n, rho, scale), predicted,
                    Relation::equals, measured,
                    2.0 * single_rounding(n, scale * log_n) * predicted});
    if (scale != 1.0) continue;
    const double limit = (1.0 - limit_of_cosine({rho, 0.0, 1.0, 1.0})) / (1.0 - rho);
    const double bias = theory::kCrossoverBias / (rho * (static_cast<double>(n) - 1.0));
    into.push_back({fmt::format("contraction λ against its limit, n = {}, c = 1", n), limit,
                    Relation::equals, measured, bias + 2.0 * single_rounding(n, log_n)});
  }
}

Evidence theorem_2_1(const Setting& setting) {
  const bool full = setting.effort == Effort::full;
  const std::size_t few = full ? 256 : 64, many = full ? 2048 : 512;
  Evidence evidence;
  evidence.parameters =
      fmt::format("explicit simplex n = {} and {}, closed form n = 1e300", few, many);
  for (const SimplexCase& at : kSimplexCases) {
    compare_cosines(at, few, evidence.statement);
    compare_limit(at, evidence.statement);
  }
  compare_contractions(many, setting, evidence.statement);
  return evidence;
}

// ---- almost a simplex -------------------------------------------------------------------------

// A cloud whose smallest cosine is not positive would fail the claim, not pass it.
std::vector<AlmostCase> gaussian_clouds(const Setting& setting) {
  const bool full = setting.effort == Effort::full;
  CloudFamily family;
  family.tokens = full ? 384 : 256;
  family.dimension = 2 * family.tokens;
  family.clouds = full ? 4 : 2;
  return almost_simplices(family, setting.seed);
}

double largest_displacement(const ExplicitLayer& layer) {
  double largest = 0.0;
  for (std::size_t i = 0; i < layer.mixed.rows(); ++i) {
    Vector moved(layer.mixed.row(i).begin(), layer.mixed.row(i).end());
    add(moved, -1.0, layer.directions.row(i));
    largest = std::max(largest, std::sqrt(inner(moved, moved)));
  }
  return largest;
}

Interval self_weights(const ExplicitLayer& layer) {
  Interval all = {1.0, 0.0};
  for (std::size_t i = 0; i < layer.weights.rows(); ++i) {
    all.smallest = std::min(all.smallest, layer.weights(i, i));
    all.largest = std::max(all.largest, layer.weights(i, i));
  }
  return all;
}

double largest_change_of_cosine(const ExplicitLayer& layer) {
  double largest = 0.0;
  const auto& x = layer.outputs;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double after = inner(x.row(i), x.row(j)) /
                           std::sqrt(inner(x.row(i), x.row(i)) * inner(x.row(j), x.row(j)));
      const double before = inner(layer.directions.row(i), layer.directions.row(j));
      largest = std::max(largest, std::abs(after - before));
    }
  }
  return largest;
}

void compare_collapse(const AlmostCase& cloud, double residual, std::vector<Comparison>& into) {
  const double beta = cloud.subcritical(0.6);
  const double kappa = residual * std::sqrt(cloud.squares.largest);
  const ExplicitLayer layer = explicit_layer(cloud.tokens, beta, residual);
  into.push_back(at_least(fmt::format("smallest ⟨y'_i,y'_j⟩, γ(1−ρ_1) = 0.6, α = {}", residual),
                          theory::collapse_bound(cloud.at(beta), kappa),
                          experiments::cosine_interval(layer.outputs).smallest,
                          cloud.rounding(beta)));
}

// With e the bound of ‖ATT(y_i) − y_i‖, x'_i = (1 + κ_i) y_i + (ATT(y_i) − y_i) turns by at most an
// angle whose chord is 2e, so that a cosine changes by at most 4e.
void compare_freezing(const AlmostCase& cloud, double residual, std::vector<Comparison>& into) {
  const double beta = cloud.supercritical(1.6);
  const ExplicitLayer layer = explicit_layer(cloud.tokens, beta, residual);
  const double bound = theory::displacement_bound(
      theory::weight_bounds(cloud.at(beta)).largest_others, cloud.cosines.smallest);
  into.push_back(at_most(fmt::format("largest ‖ATT(y_i) − y_i‖, γ(1−ρ_2) = 1.6, α = {}", residual),
                         bound, largest_displacement(layer), cloud.rounding(beta)));
  into.push_back(
      at_most(fmt::format("largest |⟨y'_i,y'_j⟩ − ⟨y_i,y_j⟩|, γ(1−ρ_2) = 1.6, α = {}", residual),
              4.0 * bound, largest_change_of_cosine(layer), cloud.rounding(beta)));
}

// The gain ε on the simplex, where the theorem is sharp: as n → ∞ the cosine tends to ρ + ε. At
// n tokens the bound misses ρ + ε by a known amount, which is the tolerance of the printed ε.
void compare_gains(std::size_t n, Evidence& evidence) {
  constexpr double rho = 0.1, scale = 0.3;
  const double log_n = std::log(static_cast<double>(n)), beta = scale * log_n / (1.0 - rho);
  const ExplicitLayer layer = explicit_layer(experiments::simplex_tokens(n, rho), beta, 0.0);
  const double measured = experiments::cosine_interval(layer.outputs).smallest;
  const double gain = theory::collapse_gain(rho, rho, 0.0);
  const double finite = theory::collapse_bound({log_n, beta, rho, rho}, 0.0);
  const double rounding = layer_rounding(n, n, beta);
  const std::string text = fmt::format("smallest ⟨y'_i,y'_j⟩ of a simplex, n = {}, ρ = {}", n, rho);
  evidence.statement.push_back(at_least(text, finite, measured, rounding));
  const double hot = scale * kLargestLog / (1.0 - rho);
  evidence.statement.push_back(equal("bound at n = 1e300 against ρ + ρδ(2+δ)", rho + gain,
                                     theory::collapse_bound({kLargestLog, hot, rho, rho}, 0.0),
                                     theory::simplex_error(kLargestLog, hot)));
  evidence.as_printed.push_back(at_least(text + " against ρ + ρ(1+2δ)δ",
                                         rho + theory::published_collapse_gain(rho, rho, 0.0),
                                         measured, rho + gain - finite + rounding));
}

// The step of the proof that bounds ‖x'_i‖² by (κ+1)² − (1−ρ_2)(1 + 2α√q_1), Eq 47, where q_1 is
// printed without its root. On a subcritical simplex of q = 4 it is sharp up to
// (1 − ρ)(2κa + S_i) ≤ (1 − ρ)(2κ + 1) a, a the self weight.
void compare_norm_step(std::size_t n, Evidence& evidence) {
  constexpr double rho = 0.5, scale = 0.2, alpha = 1.0, q = 4.0, kappa = 2.0;
  const double log_n = std::log(static_cast<double>(n)), beta = scale * log_n / (1.0 - rho);
  const ExplicitLayer layer = explicit_layer(experiments::simplex_tokens(n, rho, q), beta, alpha);
  const double measured = inner(layer.outputs.row(0), layer.outputs.row(0));
  const double self = theory::weight_bounds({log_n, beta, rho, rho}).largest_self;
  const double tolerance = (1.0 - rho) * (2.0 * kappa + 1.0) * self;
  const auto bound = [&](double root) {
    return (kappa + 1.0) * (kappa + 1.0) - (1.0 - rho) * (1.0 + 2.0 * alpha * root);
  };
  const std::string text = fmt::format("‖x'_i‖² of a simplex, n = {}, q = {}, α = {}", n, q, alpha);
  evidence.statement.push_back(equal(text, bound(std::sqrt(q)), measured, tolerance));
  evidence.as_printed.push_back(at_most(text + " against Eq 47", bound(q), measured, tolerance));
}

Evidence theorem_2_3(const Setting& setting) {
  const std::vector<AlmostCase> clouds = gaussian_clouds(setting);
  Evidence evidence;
  evidence.parameters = text_of(clouds);
  for (const AlmostCase& cloud : clouds) {
    for (const double residual : {0.0, 1.0}) {
      compare_collapse(cloud, residual, evidence.statement);
      compare_freezing(cloud, residual, evidence.statement);
    }
  }
  compare_gains(256, evidence);
  compare_norm_step(256, evidence);
  return evidence;
}

// ---- lemmas -----------------------------------------------------------------------------------

// e^β/Z_i is the self weight. How fast it vanishes or fills the row is read off at n = 1e300 as a
// power of n; the distance of log(1 + odds) from log odds is below n^{−1/4}.
Evidence lemma_a_1(const Setting& setting) {
  const std::vector<AlmostCase> clouds = gaussian_clouds(setting);
  Evidence evidence;
  evidence.parameters = text_of(clouds) + ", closed form n = 1e300";
  for (const AlmostCase& cloud : clouds) {
    const double low = cloud.subcritical(0.6), high = cloud.supercritical(1.6);
    evidence.statement.push_back(at_most(
        "largest e^β/Z_i, γ(1−ρ_1) = 0.6", theory::weight_bounds(cloud.at(low)).largest_self,
        self_weights(explicit_layer(cloud.tokens, low, 0.0)).largest, cloud.rounding(low)));
    evidence.statement.push_back(at_least(
        "smallest e^β/Z_i, γ(1−ρ_2) = 1.6", theory::weight_bounds(cloud.at(high)).smallest_self,
        self_weights(explicit_layer(cloud.tokens, high, 0.0)).smallest, cloud.rounding(high)));
  }
  for (const double scale : {0.5, 0.75, 1.25, 1.5}) {
    const double beta = scale * kLargestLog / 0.5;
    const theory::WeightBounds bounds = theory::weight_bounds({kLargestLog, beta, 0.5, 0.5});
    const double left = scale < 1.0 ? bounds.largest_self : bounds.largest_others;
    evidence.statement.push_back(
        equal(fmt::format("power of n of what Z_i drops, n = 1e300, γ(1−ρ) = {}", scale),
              -std::abs(1.0 - scale), std::log(left) / kLargestLog,
              theory::simplex_error(kLargestLog, beta)));
  }
  return evidence;
}

// On a simplex Σ_{j≠i} (y_j − y_i) has squared length n(n−1)(1−ρ), so that the displacement is
// s √(n(1−ρ)/(n−1)) with s the weight of the others.
Evidence lemma_a_2(const Setting& setting) {
  const std::vector<AlmostCase> clouds = gaussian_clouds(setting);
  Evidence evidence;
  evidence.parameters = text_of(clouds) + ", and an explicit simplex";
  for (const AlmostCase& cloud : clouds) {
    for (const double scale : {1.2, 2.0}) {
      const double beta = cloud.supercritical(scale);
      const double others = theory::weight_bounds(cloud.at(beta)).largest_others;
      evidence.statement.push_back(at_most(
          fmt::format("largest ‖ATT(y_i) − y_i‖, γ(1−ρ_2) = {}", scale),
          theory::displacement_bound(others, cloud.cosines.smallest),
          largest_displacement(explicit_layer(cloud.tokens, beta, 0.0)), cloud.rounding(beta)));
    }
  }
  constexpr std::size_t n = 128;
  constexpr double rho = 0.3, count = n;
  for (const double scale : {1.2, 2.0}) {
    const double beta = scale * std::log(count) / (1.0 - rho);
    const double others = theory::simplex_weights(std::log(count), beta, rho).others;
    const ExplicitLayer layer = explicit_layer(experiments::simplex_tokens(n, rho), beta, 0.0);
    evidence.statement.push_back(
        equal(fmt::format("‖ATT(y_i) − y_i‖ of a simplex, n = {}, c = {}", n, scale),
              others * std::sqrt(count * (1.0 - rho) / (count - 1.0)), largest_displacement(layer),
              layer_rounding(n, n, beta)));
  }
  return evidence;
}

// What Eq 38-44 are made of, as they write it, with e^{β(cos − 1)} for e^a so that Z is of order
// one: sums over all tokens but i.
struct Sums {
  const ExplicitLayer& layer;
  double beta;

  [[nodiscard]] double cosine(std::size_t i, std::size_t j) const {
    return inner(layer.directions.row(i), layer.directions.row(j));
  }
  [[nodiscard]] double exponential(std::size_t i, std::size_t j) const {
    return i == j ? 1.0 : std::exp(beta * (cosine(i, j) - 1.0));
  }
  // Σ_{k≠i} e^{a_ik}
  [[nodiscard]] double others(std::size_t i) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < layer.weights.rows(); ++k) sum += k == i ? 0.0 : exponential(i, k);
    return sum;
  }
  // Σ_{k≠i} e^{a_ik} ⟨y_j, y_k⟩
  [[nodiscard]] double towards(std::size_t i, std::size_t j) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < layer.weights.rows(); ++k) {
      if (k != i) sum += exponential(i, k) * cosine(j, k);
    }
    return sum;
  }
  // Σ_{k≠i} Σ_{l≠j} e^{a_ik + a_jl} ⟨y_k, y_l⟩, as the product of two vectors
  [[nodiscard]] double pairs(std::size_t i, std::size_t j) const {
    return inner(mixture(i), mixture(j));
  }

 private:
  [[nodiscard]] Vector mixture(std::size_t i) const {
    Vector sum(layer.directions.cols());
    for (std::size_t k = 0; k < layer.weights.rows(); ++k) {
      if (k != i) add(sum, exponential(i, k), layer.directions.row(k));
    }
    return sum;
  }
};

// Eq 38 (i = j) and Eq 42, with κ = α‖x‖.
double product_of_outputs(const Sums& sums, std::size_t i, std::size_t j, double kappa_i,
                          double kappa_j) {
  const double z_i = 1.0 + sums.others(i), z_j = 1.0 + sums.others(j), cosine = sums.cosine(i, j);
  return kappa_i * kappa_j * cosine + kappa_j * (cosine + sums.towards(i, j)) / z_i +
         kappa_i * (cosine + sums.towards(j, i)) / z_j +
         (cosine + sums.towards(i, j) + sums.towards(j, i) + sums.pairs(i, j)) / (z_i * z_j);
}

// Eq 39 (i = j) and Eq 43 without their o(1).
double subcritical_product(const Sums& sums, std::size_t i, std::size_t j, double kappa_i,
                           double kappa_j) {
  const double z_i = sums.others(i), z_j = sums.others(j);
  return kappa_i * kappa_j * sums.cosine(i, j) + kappa_j * sums.towards(i, j) / z_i +
         kappa_i * sums.towards(j, i) / z_j + sums.pairs(i, j) / (z_i * z_j);
}

// ⟨x'_i, x'_j⟩ against the exact form, the subcritical form and the supercritical one. Leaving the
// token itself out of ATT(y_i) moves it by A_ii times a distance of at most √(2(1−ρ_1)); replacing
// it by y_i moves it by at most the displacement. A move e of both factors changes the product by
// at most e(2 + κ_i + κ_j).
void compare_products(const AlmostCase& cloud, std::size_t i, std::size_t j, double residual,
                      std::vector<Comparison>& into) {
  const double kappa_i = residual * cloud.norm(i), kappa_j = residual * cloud.norm(j);
  const double reach = 2.0 + kappa_i + kappa_j;
  const double far = std::sqrt(2.0 * (1.0 - cloud.cosines.smallest));
  const auto measured = [&](const ExplicitLayer& layer) {
    return inner(layer.outputs.row(i), layer.outputs.row(j));
  };
  const std::string text = fmt::format("⟨x'_{},x'_{}⟩, α = {}, ", i, j, residual);

  const double middle = cloud.subcritical(1.0);
  const ExplicitLayer any = explicit_layer(cloud.tokens, middle, residual);
  into.push_back(equal(text + "exact", product_of_outputs({any, middle}, i, j, kappa_i, kappa_j),
                       measured(any), reach * reach * cloud.rounding(middle)));

  const double low = cloud.subcritical(0.1);
  const ExplicitLayer diffuse = explicit_layer(cloud.tokens, low, residual);
  const double self = theory::weight_bounds(cloud.at(low)).largest_self;
  into.push_back(equal(text + "γ(1−ρ_1) = 0.1",
                       subcritical_product({diffuse, low}, i, j, kappa_i, kappa_j),
                       measured(diffuse), reach * far * self));

  const double high = cloud.supercritical(2.0);
  const ExplicitLayer frozen = explicit_layer(cloud.tokens, high, residual);
  const double moved = theory::displacement_bound(
      theory::weight_bounds(cloud.at(high)).largest_others, cloud.cosines.smallest);
  const double cosine = Sums{frozen, high}.cosine(i, j);
  into.push_back(equal(text + "γ(1−ρ_2) = 2", (kappa_i + 1.0) * (kappa_j + 1.0) * cosine,
                       measured(frozen), reach * moved));
}

Evidence products_of_outputs(const Setting& setting, bool of_one_token) {
  const std::vector<AlmostCase> clouds = gaussian_clouds(setting);
  Evidence evidence;
  evidence.parameters = text_of(clouds);
  for (const AlmostCase& cloud : clouds) {
    const std::size_t last = cloud.tokens.rows() - 1;
    for (const double residual : {0.0, 0.7}) {
      compare_products(cloud, 0, of_one_token ? 0 : last, residual, evidence.statement);
      compare_products(cloud, last, of_one_token ? last : 1, residual, evidence.statement);
    }
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cas_layer_claims() {
  return {
      {"cas.theorem-2.1", "CAS, Theorem 2.1",
       "A simplex goes to a simplex; its cosine has three limits, with the border at γ = 1/(1−ρ).",
       theorem_2_1},
      {"cas.theorem-2.3", "CAS, Theorem 2.3",
       "Almost a simplex: below 1/(1−ρ_1) cosines rise by ε = ρ_1 δ(2+δ), above 1/(1−ρ_2) none "
       "changes.",
       theorem_2_3},
      {"cas.lemma-a.1", "CAS, Lemma A.1",
       "Z_i is the sum over the other tokens below 1/(1−ρ_1), and e^β above 1/(1−ρ_2).", lemma_a_1},
      {"cas.lemma-a.2", "CAS, Lemma A.2",
       "Above 1/(1−ρ_2) attention returns the token itself, up to a power of 1/n.", lemma_a_2},
      {"cas.lemma-a.3", "CAS, Lemma A.3",
       "‖x'_i‖² as a double sum, and without the token itself or with nothing else in the phases.",
       [](const Setting& setting) { return products_of_outputs(setting, true); }},
      {"cas.lemma-a.4", "CAS, Lemma A.4",
       "⟨x'_i,x'_j⟩ as a double sum, and its form in either phase.",
       [](const Setting& setting) { return products_of_outputs(setting, false); }},
  };
}

}  // namespace dewpoint::claims
