// Focus and dilution, Section 4.3: training on the rank-one manifold. Predictions are the reduced
// flow and the orbit of theory; measurements are gradients and flows of the population loss over
// all weights.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_manifold.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/two_group_flow.hpp"

namespace dewpoint::claims {
namespace {

using theory::RankOneState;
using theory::TwoGroups;

// ---- Proposition 4.6 ------------------------------------------------------------------------

/// γ, β, λ_Q, λ_K independent and normal.
RankOneState drawn_state(std::size_t tokens, std::uint64_t seed, std::uint64_t replica) {
  const Stream stream(seed, "claims/manifold", replica);
  RankOneState state{Vector(tokens), Vector(tokens), stream.normal(0), stream.normal(1)};
  stream.normals(2, state.embedding);
  stream.normals(2 + tokens, state.output);
  return state;
}

/// Rounding of a gradient: sums over the tokens of products with γ and β, where exponentials carry
/// the error of the scores ηγγᵀ.
double gradient_rounding(const RankOneState& state) {
  const double embedding = norm(state.embedding), output = norm(state.output);
  const double score = std::abs(state.amplitude()) * embedding * embedding;
  const double weights = 1.0 + embedding + output + std::abs(state.query) + std::abs(state.key);
  return 4.0 * kEpsilon * (4.0 + score) * weights * (1.0 + embedding * embedding);
}

Vector coordinates(const RankOneState& state) {
  Vector all = state.embedding;
  all.insert(all.end(), state.output.begin(), state.output.end());
  all.insert(all.end(), {state.query, state.key});
  return all;
}

void compare_velocity(const Population& data, const RankOneState& state, const std::string& where,
                      Evidence& evidence) {
  const theory::RankOneFlow flow(data.chain.stationary, data.chain.transition);
  const ManifoldParts measured = measured_velocity(*data.loss, state);
  const Vector predicted = coordinates(flow.velocity(state)), found = coordinates(measured.along);
  const double rounding = gradient_rounding(state), size = norm(predicted);
  evidence.statement.push_back(
      at_most("part of ∇L off the manifold" + where, rounding, measured.across, 0.0));
  evidence.statement.push_back(at_most("∇L against (γ', β', λ_Q', λ_K')" + where, rounding,
                                       distance(found, predicted), 0.0));
  evidence.statement.push_back(equal("its component along that, over its length" + where, 1.0,
                                     inner(found, predicted) / (size * size), rounding / size));
}

/// Rare tokens that are alike stay alike.
void compare_symmetry(const Setting& setting, Evidence& evidence) {
  const TwoGroups groups{0.75, 4, kPersistence};
  RankOneState state = drawn_state(groups.tokens, setting.seed, 99);
  std::fill(state.embedding.begin() + 1, state.embedding.end(), state.embedding[1]);
  std::fill(state.output.begin() + 1, state.output.end(), state.output[1]);
  const Population data = persistent_population(groups);
  const RankOneState velocity = measured_velocity(*data.loss, state).along;
  double spread = 0.0;
  for (const Vector& part : {velocity.embedding, velocity.output}) {
    const auto [least, most] = std::minmax_element(part.begin() + 1, part.end());
    spread = std::max(spread, *most - *least);
  }
  evidence.statement.push_back(at_most("largest difference between rare tokens in γ', β'",
                                       gradient_rounding(state), spread, 0.0));
}

/// The flow of all weights against that of the 2d + 2 variables.
void compare_flows(const Population& data, Evidence& evidence) {
  constexpr double time = 20.0;
  const RankOneState start = entry_state(data.chain.stationary, 0.3);
  const theory::RankOneFlow flow(data.chain.stationary, data.chain.transition);
  const RankOneState reduced = flow.trajectory(start, std::vector{time})[0];
  const Weights full = flowed(*data.loss, manifold_weights(start), std::vector{time})[0];
  const double error = kFlowError * (1.0 + time);
  evidence.statement.push_back(
      at_most("W(t) off the manifold at t = 20", error, manifold_parts(full).across, 0.0));
  evidence.statement.push_back(equal("η at t = 20, from κ₁q, κ₁ū, λ_Q = λ_K = 0.3",
                                     reduced.amplitude(), manifold_parts(full).along.amplitude(),
                                     10.0 * error));
}

Evidence invariant_manifold(const Setting& setting) {
  const std::uint64_t draws = draws_of(setting, 3);
  Evidence evidence;
  evidence.parameters =
      fmt::format("π = (.75, .19, .05, .01), {} drawn points each; width 3", draws);
  for (const char* chain : {"lambda", "cycle"}) {
    const Population data = population(kExperimentLaw, chain);
    for (std::uint64_t k = 0; k < draws; ++k) {
      compare_velocity(data, drawn_state(data.chain.vocabulary(), setting.seed, k),
                       fmt::format(", chain {}, draw {}", chain, k), evidence);
    }
  }
  compare_symmetry(setting, evidence);
  compare_flows(population(kExperimentLaw), evidence);
  return evidence;
}

// ---- Eq (20) --------------------------------------------------------------------------------

double measured_amplitude_velocity(const Population& data, const RankOneState& state) {
  const RankOneState velocity = measured_velocity(*data.loss, state).along;
  return velocity.query * state.key + velocity.key * state.query;
}

Evidence amplitude_equation(const Setting&) {
  const Population data = persistent_population(TwoGroups{0.6, 3, kPersistence});
  const theory::RankOneFlow flow(data.chain.stationary, data.chain.transition);
  Evidence evidence;
  evidence.parameters = "π_1 = 0.6, d = 3, λ = 0.8, at κ₁q, κ₁ū";
  RankOneState state = entry_state(data.chain.stationary, 0.0);
  const auto compare = [&](double query, double key) {
    state.query = query, state.key = key;
    const std::string where = fmt::format(", λ_Q = {}, λ_K = {}", query, key);
    const double predicted = theory::amplitude_velocity(flow, state),
                 measured = measured_amplitude_velocity(data, state);
    // D is a difference of terms a hundred times as large.
    const double tolerance = 1e4 * kEpsilon * std::abs(predicted);
    evidence.statement.push_back(
        equal("η'" + where + ": (λ_Q² + λ_K²)D", predicted, measured, tolerance));
    if (query != key) {
      evidence.as_printed.push_back(equal("η'" + where + ": 2ηD",
                                          theory::published_amplitude_velocity(flow, state),
                                          measured, tolerance));
    }
    return measured;
  };
  compare(0.3, 0.3);
  const double unequal = compare(1e-2, 1e-4), equals = compare(1e-3, 1e-3);
  compare(0.5, 0.1);
  // The same η = 1e-6: only if η closes the system is η' the same.
  evidence.statement.push_back(equal("η' at (1e-2, 1e-4) over η' at (1e-3, 1e-3), the same η",
                                     0.5 * (1e-4 + 1e-8) / 1e-6, unequal / equals, 1e-9));
  evidence.as_printed.push_back(
      equal("η' at (1e-2, 1e-4) over η' at (1e-3, 1e-3), the same η", 1.0, unequal / equals, 1e-9));
  const RankOneState velocity = measured_velocity(*data.loss, state).along;
  evidence.statement.push_back(equal("λ_Qλ_Q' over λ_Kλ_K': λ_Q² − λ_K² stays", 1.0,
                                     state.query * velocity.query / (state.key * velocity.key),
                                     1e4 * kEpsilon));
  return evidence;
}

// ---- Theorem 4.7 ----------------------------------------------------------------------------

/// (1 − π_1)γ_1 − (d − 1)π_1γ_2.
double contrast(const TwoGroups& groups, const Vector& embedding) {
  double rare = 0.0;
  for (std::size_t i = 1; i < embedding.size(); ++i) rare += embedding[i];
  return (1.0 - groups.top) * embedding[0] - groups.top * rare;
}

/// Eq (157) by a central difference in η at the critical point, and η'/η there. Scores enter as
/// ηγ_1Δγ, of size 2η: the next odd order is smaller by a few η².
void compare_linearisation(const TwoGroups& groups, Evidence& evidence) {
  constexpr double h = 1e-4;
  const Population data = persistent_population(groups);
  const std::string where = fmt::format(", π_1 = {}, d = {}", groups.top, groups.tokens);
  RankOneState state = entry_state(data.chain.stationary, std::sqrt(h));
  const double ahead = contrast(groups, measured_velocity(*data.loss, state).along.embedding);
  state.key = -state.key;
  const double behind = contrast(groups, measured_velocity(*data.loss, state).along.embedding);
  const double coefficient = theory::redistribution_coefficient(groups);
  evidence.statement.push_back(equal("d/dη of ((1−π_1)γ_1 − (d−1)π_1γ_2)'" + where + ": Eq (157)",
                                     coefficient, (ahead - behind) / (2.0 * h),
                                     coefficient * 100.0 * h * h + 16.0 * kEpsilon / h));

  const double c = theory::attention_rate(data.chain.stationary, data.chain.transition);
  state.query = state.key = 1e-5;
  const double rate = measured_amplitude_velocity(data, state) / state.amplitude();
  // The first correction is of relative size ηκ₁².
  evidence.statement.push_back(equal("η'/η" + where + ": 2c", 2.0 * c, rate, 1e-8));
  evidence.as_printed.push_back(equal("η'/η" + where + ": c", c, rate, 1e-8));
}

/// The flow of all weights from the entry state, where the contrast is 0. η stays below 1e-5.
void compare_growth(const TwoGroups& groups, Evidence& evidence) {
  const Population data = persistent_population(groups);
  const double c = theory::attention_rate(data.chain.stationary, data.chain.transition);
  const Weights start = manifold_weights(entry_state(data.chain.stationary, 1e-3));
  const auto passed = flowed(*data.loss, start, std::vector{0.5 / c, 1.0 / c});
  double contrasts[2];
  for (std::size_t k = 0; k < 2; ++k) {
    contrasts[k] = contrast(groups, manifold_parts(passed[k]).along.embedding);
  }
  const std::string quantity = fmt::format(
      "contrast at t = 1/c over that at t = 1/(2c), π_1 = {}, d = {}", groups.top, groups.tokens);
  const double measured = contrasts[1] / contrasts[0], e = std::numbers::e;
  evidence.statement.push_back(equal(quantity + ": (e² − 1)/(e − 1)", e + 1.0, measured, 1e-3));
  evidence.as_printed.push_back(equal(quantity + ": e", e, measured, 1e-3));
}

/// With many rare tokens all of γ shrinks. η = 1e-6 and scores ηκ₁² of 1e-5.
void compare_direction(const TwoGroups& groups, Evidence& evidence) {
  const Population data = persistent_population(groups);
  const auto response = theory::rank_one_response(data.chain.stationary, data.chain.transition);
  const RankOneState state =
      theory::unstable_start(data.chain.stationary, data.chain.transition, 1e-3);
  const RankOneState velocity = measured_velocity(*data.loss, state).along;
  const double pace = response.rate * state.amplitude();
  const std::string where =
      fmt::format(", π_1 = {}, d = {}, λ = {}", groups.top, groups.tokens, groups.persistence);
  for (const std::size_t i : {0, 1}) {
    const double predicted = response.embedding_change[i];
    evidence.statement.push_back(
        equal(fmt::format("dγ_{}/dη along the unstable direction", i + 1) + where, predicted,
              velocity.embedding[i] / pace, 1e-3 * std::abs(predicted)));
  }
  evidence.as_printed.push_back(
      at_most("γ_1'γ_2'/|γ_1'γ_2'|" + where, 0.0,
              std::copysign(1.0, velocity.embedding[0] * velocity.embedding[1]), 0.0));
}

Evidence mass_redistribution(const Setting&) {
  Evidence evidence;
  evidence.parameters = "λ = 0.8 for Eq (157) and its rate; d = 50, λ = 0.1 for directions";
  for (const TwoGroups& groups : {TwoGroups{0.6, 3, 0.8}, TwoGroups{0.75, 4, 0.8}}) {
    compare_linearisation(groups, evidence);
  }
  compare_growth({0.75, 4, 0.8}, evidence);
  compare_direction({0.3, 50, 0.1}, evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> fd_rank_one_claims() {
  return {
      {"fd.proposition-4.6", "FD, Proposition 4.6",
       "The flow does not leave the rank-one manifold, for any law and chain, and keeps rare "
       "tokens "
       "that are alike alike.",
       invariant_manifold},
      {"fd.eq-20", "FD, Eq (20)",
       "The attention amplitude grows as η' = (λ_Q² + λ_K²)D; η alone closes the system only for "
       "λ_Q = λ_K.",
       amplitude_equation},
      {"fd.theorem-4.7", "FD, Theorem 4.7",
       "Near the second critical point the contrast of γ grows as e^{2ct} − 1; frequent and rare "
       "tokens may move in the same direction.",
       mass_redistribution},
  };
}

}  // namespace dewpoint::claims
