// Focus and dilution, Section 4.2: the second critical point, and how attention leaves it.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/rank_one_flow.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "dewpoint/theory/two_group_flow.hpp"

namespace dewpoint::claims {
namespace {

constexpr std::size_t kWidth = 3;
const Vector kAlpha{0.48, 0.6, 0.64};  // a unit vector

/// Rounding of gradients at weights up to 2: sums of some ten products of numbers up to 4.
constexpr double kRounding = 64.0 * kEpsilon;

struct Law {
  std::string text;
  std::vector<double> values;
};
std::vector<Law> laws() {
  return {{"π_1 = 3/4, d = 4", theory::two_group_law(0.75, 4)},
          {"π_1 = 3/5, d = 3", theory::two_group_law(0.6, 3)},
          {"π = (.75, .19, .05, .01)", kExperimentLaw},
          {"π = (8, 4, 2, 1)/15", {8.0 / 15.0, 4.0 / 15.0, 2.0 / 15.0, 1.0 / 15.0}}};
}
constexpr std::size_t kTwoGroupLaws = 2;  // the first of them

Weights critical_point(std::span<const double> law) {
  const auto outer = theory::critical_weights(theory::second_critical_point(law), kAlpha);
  return outer_weights(outer.embedding, outer.unembedding);
}

/// W0 = κ q αᵀ, W1 = κ α uᵀ: the ray of Eq (12).
Weights on_ray(std::span<const double> law, double amplitude) {
  const auto growth = theory::origin_growth(law);
  Vector embedding = growth.embedding_direction, output = growth.output_direction;
  for (double& x : embedding) x *= amplitude;
  for (double& x : output) x *= amplitude;
  return outer_weights(outer_product(embedding, kAlpha), outer_product(kAlpha, output));
}

// ---- Proposition 4.3 ---------------------------------------------------------------------------

/// The same point by measurement: the flow with WQ = WK = 0 ends there, from a start of size ε, up
/// to ‖W0‖² − ‖W1‖² = O(ε²) and what ε leaves across. Its slowest rate is −outer_decay.
void compare_end_of_flow(const Law& law, const Setting& setting, Evidence& evidence) {
  constexpr double size = 1e-5;
  const Population data = population(law.values);
  const auto point = theory::second_critical_point(law.values);
  const double slowest = -theory::outer_decay(law.values).back();
  const Weights drawn = drawn_weights(law.values.size(), kWidth, size, setting.seed, 0);
  const double time =
      std::log(1.0 / size) / theory::origin_growth(law.values).rate + 30.0 / slowest;
  const Weights end = flowed(*data.loss, outer_weights(drawn.embedding, drawn.unembedding),
                             std::vector<double>{time})[0];
  const Vector alpha = theory::condensate(law.values, drawn.embedding, drawn.unembedding).direction;
  const double error = norm(flat(drawn)) / point.amplitude;
  evidence.statement.push_back(
      equal("‖W0‖ where the flow with WQ = WK = 0 ends, " + law.text + ": κ₁", point.amplitude,
            norm(end.embedding), point.amplitude * error));
  evidence.statement.push_back(
      at_most("‖W1/‖W1‖ − α₁ūᵀ‖ there, " + law.text, 4.0 * error,
              misalignment(end.unembedding, outer_product(alpha, point.output_direction)), 0.0));
}

Evidence second_point(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "four laws, λ = 0.8, width 3; flows from ε = 1e-5";
  for (const Law& law : laws()) {
    const Population data = population(law.values);
    const Weights point = critical_point(law.values);
    const auto theory_point = theory::second_critical_point(law.values);
    training::TokenMaps unused(law.values.size());
    const double loss = data.loss->slope(0, training::token_maps(point), unused);
    evidence.statement.push_back(at_most("‖∇L‖ at θ_c¹, " + law.text, kRounding,
                                         norm(flat(gradient(*data.loss, point))), 0.0));
    evidence.statement.push_back(
        equal("L at θ_c¹, " + law.text + ": H(π)", theory_point.loss, loss, kRounding));
    evidence.statement.push_back(equal("p_1 at θ_c¹, " + law.text + ": π_1", law.values[0],
                                       uniform_prediction(law.values, point)[0], kRounding));
    compare_end_of_flow(law, setting, evidence);
    const Weights printed = on_ray(law.values, theory::published_amplitude(law.values));
    evidence.as_printed.push_back(at_most("‖∇L‖ with κ₁ of Eq (127), " + law.text, kRounding,
                                          norm(flat(gradient(*data.loss, printed))), 0.0));
    evidence.as_printed.push_back(equal("p_1 with κ₁ of Eq (127), " + law.text, law.values[0],
                                        uniform_prediction(law.values, printed)[0], kRounding));
  }
  return evidence;
}

// ---- Proposition B.7 ---------------------------------------------------------------------------

/// Eq (129) with K for λV, and Eq (130) for a change of M drawn at random.
void compare_derivatives(const Law& law, const std::string& chain, const Setting& setting,
                         Evidence& evidence) {
  const Population data = population(law.values, chain);
  const auto point = theory::second_critical_point(law.values);
  const auto left =
      theory::pair_covariance_times(law.values, data.chain.transition, point.output_direction);
  const auto right = theory::covariance_times(law.values, point.embedding_direction);
  Matrix<double> expected = outer_product(left, right);
  for (double& x : std::span(expected.data(), expected.size())) {
    x *= -point.amplitude * point.amplitude;
  }
  const Weights critical = critical_point(law.values);
  const training::TokenMaps slope = token_slope(*data.loss, critical);
  const std::string where = fmt::format("{}, {}", law.text, chain);
  evidence.statement.push_back(at_most("‖∂L/∂Φ + κ₁²(Kū)(Vq)ᵀ‖/‖∂L/∂Φ‖ at θ_c¹, " + where,
                                       kRounding / norm(expected),
                                       distance(slope.attention, expected) / norm(expected), 0.0));
  evidence.statement.push_back(
      equal("‖∂L/∂Φ‖ at θ_c¹, " + where, norm(expected), norm(slope.attention), kRounding));

  const std::size_t d = law.values.size();
  training::TokenMaps along(d), change(d);
  const Weights drawn = drawn_weights(d, d, 1.0, setting.seed, 1);
  along.value = drawn.embedding;
  Vector mean(d, 0.0);
  for (std::size_t i = 0; i < d; ++i) add(mean, law.values[i], along.value.row(i));
  const Matrix<double> predicted =
      outer_product(law.values, theory::covariance_times(law.values, mean));
  data.loss->slope_change(training::token_maps(critical), along, change);
  const double size = norm(along.value);
  evidence.statement.push_back(equal("‖d ∂L/∂M‖ at θ_c¹ over ‖ππᵀ dM V‖, " + where, 1.0,
                                     norm(change.value) / norm(predicted),
                                     kRounding * size / norm(predicted)));
  evidence.statement.push_back(at_most("‖d ∂L/∂M − ππᵀ dM V‖/‖dM‖, " + where, kRounding,
                                       distance(change.value, predicted) / size, 0.0));
}

Evidence derivatives(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "four laws, four chains, width 3";
  for (const Law& law : laws()) {
    for (const std::string& chain : training::chain_names()) {
      if (chain != "lambda" && law.values != kExperimentLaw) continue;
      compare_derivatives(law, chain, setting, evidence);
    }
  }
  return evidence;
}

// ---- Proposition 4.4 ---------------------------------------------------------------------------

/// −∇²L at θ_c¹ in its two blocks, and what couples them.
struct Blocks {
  std::vector<double> outer, attention;
  double coupling;
};
Blocks blocks(const Population& data) {
  const Matrix<double> jacobian = flow_jacobian(*data.loss, critical_point(data.chain.stationary));
  const std::size_t outer = 2 * data.chain.vocabulary() * kWidth, all = jacobian.rows();
  const MatrixView<const double> view = jacobian.view();
  double coupling = 0.0;
  for (std::size_t i = 0; i < outer; ++i) {
    for (std::size_t j = outer; j < all; ++j) coupling = std::max(coupling, std::abs(view(i, j)));
  }
  return {eigenvalues(view.block({0, outer}, {0, outer})),
          eigenvalues(view.block({outer, all}, {outer, all})), coupling};
}

std::vector<double> spread(const std::vector<theory::EigenvalueGroup>& groups) {
  std::vector<double> values;
  for (const auto& group : groups) values.insert(values.end(), group.multiplicity, group.value);
  std::sort(values.begin(), values.end());
  return values;
}

/// Spectra of both blocks. A symmetric eigenvalue is found within the size of the matrix units in
/// the last place of its norm, here below 1.
void compare_spectra(const Law& law, const std::string& chain, Evidence& evidence) {
  const Population data = population(law.values, chain);
  const auto& transition = data.chain.transition;
  const Blocks found = blocks(data);
  const double rate = theory::attention_rate(law.values, transition);
  const double rounding = kRounding * static_cast<double>(found.outer.size());
  const std::string where = fmt::format("{}, {}", law.text, chain);
  evidence.statement.push_back(equal("largest eigenvalue of J_att, " + where + ": c", rate,
                                     found.attention.back(), rounding));
  evidence.statement.push_back(equal("smallest eigenvalue of J_att, " + where + ": −c", -rate,
                                     found.attention.front(), rounding));
  evidence.statement.push_back(at_most(
      "J_att off c and −c (width times each) and 0, " + where, rounding,
      distance(found.attention, spread(theory::attention_spectrum(law.values, transition, kWidth))),
      0.0));
  evidence.statement.push_back(
      at_most("J_out off its d − 1 negative eigenvalues and 0, " + where, rounding,
              distance(found.outer, spread(theory::outer_spectrum(law.values, kWidth))), 0.0));
  evidence.statement.push_back(equal("fastest decay of J_out, " + where,
                                     theory::outer_decay(law.values).front(), found.outer.front(),
                                     rounding));
  evidence.statement.push_back(
      at_most("coupling of the two blocks, " + where, kRounding, found.coupling, 0.0));
  evidence.as_printed.push_back(
      at_least("smallest eigenvalue of J_att, " + where + ": semi-definite", 0.0,
               found.attention.front(), rounding));
}

/// The printed c: right for two groups, and only for them.
void compare_printed_rate(const std::vector<Law>& all, Evidence& evidence) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Population data = population(all[k].values);
    const double measured = blocks(data).attention.back();
    const Comparison comparison = equal(
        "c of Proposition 4.4, " + all[k].text,
        theory::published_attention_rate(all[k].values, kPersistence), measured, 100.0 * kRounding);
    (k < kTwoGroupLaws ? evidence.statement : evidence.as_printed).push_back(comparison);
  }
}

Evidence linearised(const Setting&) {
  Evidence evidence;
  evidence.parameters = "four laws, λ = 0.8 and three other chains, width 3: dense Hessians";
  for (const Law& law : laws()) {
    for (const std::string& chain : training::chain_names()) {
      if (chain != "lambda" && law.values != kExperimentLaw) continue;
      compare_spectra(law, chain, evidence);
    }
  }
  compare_printed_rate(laws(), evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> fd_critical_point_claims() {
  return {
      {"fd.proposition-4.3", "FD, Proposition 4.3",
       "W0 = κ₁qαᵀ, W1 = κ₁αūᵀ with κ₁² = ‖log π − mean‖/‖π‖ is a critical point for every π, and "
       "the flow without attention ends there.",
       second_point},
      {"fd.proposition-b.7", "FD, Proposition B.7",
       "There ∂L/∂Φ = −κ₁²(Kū)(Vq)ᵀ (Eq (129) with K = λV) and d ∂L/∂M = ππᵀ dM V.", derivatives},
      {"fd.proposition-4.4", "FD, Proposition 4.4",
       "Its linearisation separates: W0, W1 decay or rest; WQ, WK have eigenvalues c and −c, as "
       "often as the width, c = κ₁⁴(qᵀKū)(qᵀVq).",
       linearised},
  };
}

}  // namespace dewpoint::claims
