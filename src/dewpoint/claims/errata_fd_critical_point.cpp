// Errata 29-32: Focus and dilution, Section 4.2, the second critical point and how attention leaves
// it.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/errata_fd_support.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "dewpoint/theory/two_group_flow.hpp"

namespace dewpoint::claims {
namespace {

/// W0 = κ q αᵀ, W1 = κ α uᵀ, WQ = WK = 0: the ray of Eq (12), for width 1.
Weights on_ray(std::span<const double> law, double amplitude) {
  const auto growth = theory::origin_growth(law);
  Weights weights(law.size(), 1);
  for (std::size_t i = 0; i < law.size(); ++i) {
    weights.embedding(i, 0) = amplitude * growth.embedding_direction[i];
    weights.unembedding(0, i) = amplitude * growth.output_direction[i];
  }
  return weights;
}

double gradient_length(const Population& data, const Weights& weights) {
  return norm(flat(gradient(*data.loss, weights)));
}

// ---- rows 29, 30 -------------------------------------------------------------------------------

Evidence amplitude(const Setting&) {
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4 and 3/5, 3; λ = 0.8";
  for (const auto& law : {two_groups(), theory::two_group_law(0.6, 3)}) {
    const Population data = population(law);
    const std::size_t d = law.size();
    const double away = theory::origin_growth(law).rate / norm(law);  // ‖π − 1/d‖
    const std::vector<double> shares = uniform_prediction(law, on_ray(law, 1.0));
    const double gap = std::log(shares[0] / shares[1]), step = law[0] - law[1];
    const std::string where = fmt::format(", π_1 = {}, d = {}", law[0], d);
    const double kappa = theory::second_critical_point(law).amplitude;
    evidence.statement.push_back(equal("difference of two logits at κ = 1: ‖π‖/‖π−1/d‖" + where,
                                       norm(law) / away * step, gap, kRounding));
    evidence.statement.push_back(equal("p_1 at κ₁² = ‖log π − mean‖/‖π‖" + where, law[0],
                                       uniform_prediction(law, on_ray(law, kappa))[0], kRounding));
    evidence.statement.push_back(at_most("‖∇L‖ at that κ₁" + where, kRounding,
                                         gradient_length(data, on_ray(law, kappa)), 0.0));
    const Weights printed = on_ray(law, theory::published_amplitude(law));
    evidence.as_printed.push_back(equal("difference of two logits at κ = 1: ‖π‖²" + where,
                                        norm(law) * norm(law) * step, gap, kRounding));
    evidence.as_printed.push_back(equal("p_1 at the κ₁ of Eq (127)" + where, law[0],
                                        uniform_prediction(law, printed)[0], kRounding));
    evidence.as_printed.push_back(at_most("‖∇L‖ at the κ₁ of Eq (127)" + where, kRounding,
                                          gradient_length(data, printed), 0.0));
  }
  return evidence;
}

/// The shortest gradient on the ray of Eq (12), for κ from 0.5 to 3 in steps of 0.01.
double shortest_on_ray(const Population& data) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int k = 50; k <= 300; ++k) {
    shortest = std::min(shortest, gradient_length(data, on_ray(data.chain.stationary,
                                                               0.01 * static_cast<double>(k))));
  }
  return shortest;
}

/// On the ray of two groups a step of 0.01 past κ₁ leaves at most 0.005 |J_out| √2.
Evidence other_laws(const Setting&) {
  Evidence evidence;
  evidence.parameters = "π = (.75, .19, .05, .01), λ = 0.8 and three other chains, width 2";
  const double nearest = 0.005 * std::sqrt(2.0);
  evidence.statement.push_back(at_most("shortest ‖∇L‖ on the ray of Eq (12), two groups", nearest,
                                       shortest_on_ray(population(two_groups())), 0.0));
  const Population experiment = population(kExperimentLaw);
  evidence.as_printed.push_back(
      at_most("the same, π = (.75, .19, .05, .01)", nearest, shortest_on_ray(experiment), 0.0));
  const Weights critical = critical_point(kExperimentLaw, 2);
  for (const std::string& name : training::chain_names()) {
    const Population data = population(kExperimentLaw, name);
    const double found = eigenvalues(flow_jacobian(*data.loss, critical)).back();
    evidence.statement.push_back(
        at_most("‖∇L‖ at W1 = κ₁αūᵀ, " + name, kRounding, gradient_length(data, critical), 0.0));
    evidence.statement.push_back(equal(
        "c = κ₁⁴(qᵀKū)(qᵀVq), " + name,
        theory::attention_rate(kExperimentLaw, data.chain.transition), found, 100.0 * kRounding));
    if (name != "lambda") continue;
    evidence.as_printed.push_back(equal(
        "c of Proposition 4.4", theory::published_attention_rate(kExperimentLaw, kPersistence),
        found, 100.0 * kRounding));
  }
  return evidence;
}

// ---- row 31 ------------------------------------------------------------------------------------

/// xᵀJx for a displacement x of W0 and W1: −tr(dM V dMᵀππᵀ) with dM = ΔW0 W1 + W0 ΔW1.
void compare_signs(const Population& data, const Setting& setting, Evidence& evidence) {
  const std::vector<double>& law = data.chain.stationary;
  const Weights critical = critical_point(law, 3);
  const Weights drawn = drawn_weights(law.size(), 3, 1.0, setting.seed, 0);
  const Weights along = outer_weights(drawn.embedding, drawn.unembedding);
  const Weights product = training::hessian_product(*data.loss, critical, along);
  const double measured = -inner(flat(along), flat(product));
  const Matrix<double> change = training::token_maps_change(critical, along).value;
  Vector mean(law.size(), 0.0);
  for (std::size_t i = 0; i < law.size(); ++i) add(mean, law[i], change.row(i));
  const double predicted = inner(mean, theory::covariance_times(law, mean));
  const double rounding = kRounding * inner(flat(along), flat(along));
  evidence.statement.push_back(
      equal("ΔθᵀJ_outΔθ for random ΔW0, ΔW1: −πᵀdM V dMᵀπ", -predicted, measured, rounding));
  evidence.as_printed.push_back(
      equal("ΔθᵀJ_outΔθ with the signs of Eq (138)", predicted, measured, rounding));
}

Evidence signs(const Setting& setting) {
  const std::vector<double> law = two_groups();
  const Population data = population(law);
  const Matrix<double> jacobian = flow_jacobian(*data.loss, critical_point(law, 3));
  const std::size_t outer = 6 * law.size(), all = jacobian.rows();
  const std::vector<double> found = eigenvalues(jacobian.view().block({outer, all}, {outer, all}));
  const double rate = theory::attention_rate(law, data.chain.transition);
  const double rounding = 100.0 * kRounding;
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4, λ = 0.8, width 3: dense Hessian";
  evidence.statement = {equal("largest eigenvalue of J_att: c", rate, found.back(), rounding),
                        equal("smallest eigenvalue of J_att: −c", -rate, found.front(), rounding)};
  evidence.as_printed = {
      at_least("smallest eigenvalue of J_att, semi-definite", 0.0, found.front(), rounding)};
  compare_signs(data, setting, evidence);
  return evidence;
}

// ---- row 32 ------------------------------------------------------------------------------------

Evidence focus(const Setting& setting) {
  const theory::TwoGroups groups{0.75, 4, kPersistence};
  const std::vector<double> law = two_groups();
  const Population data = population(law);
  Evidence evidence;
  evidence.parameters = "π_1 = 3/4, d = 4, λ = 0.8; the flow from ε = 1e-5, width 3";

  // On the ray itself, WQ = WK = αα̃ᵀ with α, α̃ the first two axes.
  Weights weights = critical_point(law, 2);
  weights.query(0, 1) = weights.key(0, 1) = 1.0;
  const Matrix<double> scores = training::token_maps(weights).attention;
  const double share = scores(0, 0) / norm(scores), square = law[0] * law[0];
  evidence.statement = {
      equal("Φ_11/‖Φ‖: π_1²/‖π‖²", square / (norm(law) * norm(law)), share, kRounding)};
  evidence.as_printed = {equal("Φ_11/‖Φ‖: π_1²", square, share, kRounding)};

  // In the flow W0 answers before A_21 comes near 1. Tolerance: as in fd.theorem-4.5.
  const Weights start = drawn_weights(law.size(), 3, 1e-5, setting.seed, 0);
  const double step = 0.005 / theory::attention_rate(law, data.chain.transition);
  const double measured = largest_focus(data, start, step);
  const double predicted = theory::excursion(groups).peak.value().attention - law[0];
  const double displaced = 10.0 * norm(flat(start)) / theory::second_critical_point(law).amplitude;
  evidence.statement.push_back(equal("largest A_21 − π_1 along the flow", predicted,
                                     measured - law[0], predicted * (6.25e-4 + displaced)));
  evidence.as_printed.push_back(equal("largest A_21 along the flow: 1", 1.0, measured, 0.05));
  return evidence;
}

}  // namespace

std::vector<Claim> fd_critical_point_errata() {
  return {
      {"erratum.29", "FD, Eq (127)",
       "printed logits κ²‖π‖²(π_j − 1/d); right is κ²(‖π‖/‖π − 1/d‖)(π_j − 1/d)", amplitude},
      {"erratum.30", "FD, Propositions 4.3, 4.4",
       "printed for two groups, used for (.75, .19, .05, .01); right is W1 along log π − mean, and "
       "c = κ₁⁴(qᵀKū)(qᵀVq)",
       other_laws},
      {"erratum.31", "FD, Proposition 4.4, Eq (138)",
       "printed J_att positive semi-definite, and no minus signs in (138); right is ±c, and a "
       "minus "
       "in both lines",
       signs},
      {"erratum.32", "FD, Eq (16), (17)",
       "printed Φ/‖Φ‖ = ππᵀ and A_i → e_1; right is ππᵀ/‖π‖², and a limit only with W0 held fixed",
       focus},
  };
}

}  // namespace dewpoint::claims
