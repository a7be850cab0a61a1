// Focus and dilution, Section 4.3: the way from the second critical point to where training rests,
// what is conserved on it, and Proposition C.1. Predictions are the orbit of theory; measurements
// are flows of the population loss over all weights.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_manifold.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/theory/asymmetry.hpp"
#include "dewpoint/theory/degenerate_point.hpp"
#include "dewpoint/theory/two_group_flow.hpp"
#include "dewpoint/training/flow.hpp"

namespace dewpoint::claims {
namespace {

using theory::RankOneState;
using theory::TwoGroups;

// ---- focus in the flow ----------------------------------------------------------------------

/// dA_21/dt along the flow.
double focus_velocity(const Population& data, const Weights& weights) {
  Vector downhill = flat(gradient(*data.loss, weights));
  for (double& value : downhill) value = -value;
  const auto change =
      training::token_maps_change(weights, unflat(downhill, weights.vocabulary(), weights.width()));
  const Matrix<double> shares =
      attention(data.chain.stationary, training::token_maps(weights).attention);
  return shares(1, 0) * (change.attention(1, 0) - inner(shares.row(1), change.attention.row(1)));
}

/// The flow of all weights from the entry state: where A_21 turns, where γ_2 changes sign.
struct FullExcursion {
  Passage peak, flip;
};
FullExcursion full_excursion(const Population& data) {
  const Weights start = manifold_weights(entry_state(data.chain.stationary, 1e-3));
  const Signal turning = [&](double, const Weights& at) { return -focus_velocity(data, at); };
  const Signal flipping = [](double, const Weights& at) {
    return -inner(at.embedding.row(0), at.embedding.row(1));
  };
  const auto found = passages(*data.loss, start, {turning, flipping}, 5e3);
  return {found[0], found[1]};
}

/// The entry state misses the orbit by O(η), 1e-6, which the flow contracts before the peak; the
/// steps add up to kFlowError (1 + t). Place and time of a maximum are less sharp than its height.
void compare_excursion(const TwoGroups& groups, Evidence& evidence) {
  const Population data = persistent_population(groups);
  const theory::Excursion orbit = theory::excursion(groups);
  const FullExcursion found = full_excursion(data);
  const double focus =
      attention(data.chain.stationary, training::token_maps(found.peak.weights).attention)(1, 0);
  const double tolerance = 1e-6 + kFlowError * (1.0 + found.flip.time);
  const std::string where =
      fmt::format(", π_1 = {}, d = {}, λ = {}", groups.top, groups.tokens, groups.persistence);
  evidence.statement.push_back(equal("largest A_21 − π_1" + where,
                                     orbit.peak->attention - groups.top, focus - groups.top,
                                     tolerance));
  evidence.statement.push_back(equal("η at that peak" + where, orbit.peak->amplitude,
                                     manifold_parts(found.peak.weights).along.amplitude(),
                                     10.0 * tolerance));
  evidence.statement.push_back(equal("time from the peak to γ_2 = 0" + where,
                                     *orbit.sign_change - orbit.peak->time,
                                     found.flip.time - found.peak.time, 100.0 * tolerance));
  evidence.as_printed.push_back(at_least("largest A_21" + where, 0.95, focus, 0.0));
}

Evidence focus_in_the_flow(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "flow of the population loss from κ₁q, κ₁ū, λ_Q = λ_K = 1e-3; width 3";
  std::vector<TwoGroups> cases{{0.6, 3, 0.8}, {0.75, 4, 0.8}, {0.5, 10, 0.8}};
  if (setting.effort == Effort::full) {
    cases.insert(cases.end(), {{0.75, 3, 0.8},
                               {0.7, 4, 0.8},
                               {0.5, 10, 0.5},
                               {0.9, 4, 0.8},
                               {0.4, 4, 0.8},
                               {0.75, 4, 0.95},
                               {0.75, 4, 0.3}});
  }
  for (const TwoGroups& groups : cases) compare_excursion(groups, evidence);
  return evidence;
}

// ---- what the flow conserves ----------------------------------------------------------------

double squared_norm(const Matrix<double>& matrix) { return std::pow(norm(matrix), 2); }

Evidence conservation(const Setting& setting) {
  constexpr double time = 40.0, size = 1e-3;
  const Population data = population(kExperimentLaw, "cycle");
  Evidence evidence;
  evidence.parameters = "π = (.75, .19, .05, .01), chain cycle; weights N(0, 1e-6), t = 40";
  const Weights start = drawn_weights(4, kManifoldWidth, size, setting.seed, 0);
  const Weights end = flowed(*data.loss, start, std::vector{time})[0];
  const auto before = training::conserved(start), after = training::conserved(end);
  const double error = kFlowError * (1.0 + time);
  evidence.statement = {
      at_most("‖change of W0ᵀW0 − W1W1ᵀ − WQWQᵀ − WKWKᵀ‖", error,
              distance(before.outer, after.outer), 0.0),
      at_most("‖change of WQᵀWQ − WKᵀWK‖", error, distance(before.inner, after.inner), 0.0),
      // At the start the difference is of size ε² per entry.
      equal("‖W0‖² over ‖W1‖² + ‖WQ‖² + ‖WK‖² at t = 40", 1.0,
            squared_norm(end.embedding) /
                (squared_norm(end.unembedding) + squared_norm(end.query) + squared_norm(end.key)),
            100.0 * size * size)};
  return evidence;
}

// ---- Proposition C.1 ------------------------------------------------------------------------

/// Long after γ_2 has changed sign the flow rests: the slowest mode decays as e^{−0.17 t} there.
void compare_rest(const TwoGroups& groups, Evidence& evidence) {
  const Population data = persistent_population(groups);
  const auto rest = theory::excursion(groups).rest.value();
  const RankOneState end = theory::spread_out(groups, rest.state);
  const Passage flip = full_excursion(data).flip;
  const Weights found = flowed(*data.loss, flip.weights, std::vector{150.0})[0];
  const double embedding = squared_norm(found.embedding), output = squared_norm(found.unembedding);
  const double attention_part = squared_norm(found.query) + squared_norm(found.key);
  evidence.statement.push_back(equal("‖γ‖² − ‖β‖² over λ_Q² + λ_K² where the flow rests", 1.0,
                                     (embedding - output) / attention_part, 1e-5));
  const double ratio = inner(end.embedding, end.embedding) / inner(end.output, end.output);
  evidence.statement.push_back(
      equal("‖γ‖²/‖β‖² where the flow rests", ratio, embedding / output, 1e-5 * ratio));
  evidence.as_printed.push_back(
      equal("‖γ‖²/‖β‖² where the flow rests: 1", 1.0, embedding / output, 1e-5));
}

/// In the focused limit −∇²L in (γ, β) annihilates the k's and keeps the span of the q's. Scores of
/// size ηγ_1² carry their rounding into it.
void compare_basis(const TwoGroups& groups, double surplus, Evidence& evidence) {
  constexpr double amplitude = 200.0;
  auto point = theory::focused_degenerate_point(groups, surplus).value();
  point.state.attention = std::sqrt(amplitude);
  const Population data = persistent_population(groups);
  const Matrix<double> jacobian =
      manifold_jacobian(*data.loss, theory::spread_out(groups, point.state));
  const theory::LyapunovSchmidtBasis basis = theory::lyapunov_schmidt_basis(point);
  const double rounding =
      64.0 * kEpsilon * amplitude * std::pow(point.state.top, 2) * norm(jacobian);
  double kernel = 0.0, leak = 0.0;
  for (const auto& k : basis.kernel) kernel = std::max(kernel, norm(times(jacobian, k)));
  for (const auto& q : basis.range) {
    const Vector image = times(jacobian, q);
    for (const auto& k : basis.kernel) leak = std::max(leak, std::abs(inner(image, k)));
  }
  const std::vector<double> values = eigenvalues(jacobian);
  const auto stable =
      std::count_if(values.begin(), values.end(), [&](double value) { return value < -rounding; });
  const std::string where = fmt::format(", ‖γ‖² − ‖β‖² = {}", surplus);
  evidence.statement.push_back(at_most("largest ‖J₀k_i‖" + where, rounding, kernel, 0.0));
  evidence.statement.push_back(at_most("largest |k_iᵀJ₀q_j|" + where, rounding, leak, 0.0));
  evidence.statement.push_back(
      equal("eigenvalues of J₀ below 0" + where, 3.0, static_cast<double>(stable), 0.0));
}

Evidence kernel_and_range(const Setting&) {
  const TwoGroups groups{0.6, 3, kPersistence};
  Evidence evidence;
  evidence.parameters = "π_1 = 0.6, d = 3, λ = 0.8; the flow from κ₁q, κ₁ū, and η = 200";
  compare_rest(groups, evidence);
  for (const double surplus : {0.0, 1.5}) compare_basis(groups, surplus, evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> fd_excursion_claims() {
  return {
      {"fd.focus-in-the-flow", "FD, Sections 4.2, 4.3",
       "Rare tokens' attention on the frequent one turns a few points above π_1, before their "
       "embedding changes sign; it does not tend to 1.",
       focus_in_the_flow},
      {"fd.conservation-law", "next to FD, Eq (4)",
       "The flow conserves W0ᵀW0 − W1W1ᵀ − WQWQᵀ − WKWKᵀ and WQᵀWQ − WKᵀWK.", conservation},
      {"fd.proposition-c.1", "FD, Proposition C.1",
       "Kernel and range of J₀ as given, with q_3 for any norms; ‖γ‖² − ‖β‖² is 2η where the flow "
       "rests, not 0.",
       kernel_and_range},
  };
}

}  // namespace dewpoint::claims
