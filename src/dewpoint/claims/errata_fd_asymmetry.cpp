// Errata 38-43: the degenerate critical point of FD, and unequal rare tokens. The judges are
// gradients and Hessians of the population loss over all weights.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_manifold.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/theory/asymmetry.hpp"
#include "dewpoint/theory/degenerate_point.hpp"

namespace dewpoint::claims {
namespace {

using theory::RankOneState;
using theory::TwoGroups;

const TwoGroups kGroups{0.6, 3, kPersistence};
constexpr const char* kWhere = "π_1 = 0.6, d = 3, λ = 0.8";

/// Gradients and Hessians at scores of size ηγ_1² ≤ 1000.
constexpr double kRounding = 1e4 * kEpsilon;

theory::DegeneratePoint resting_point() {
  const double eta = theory::excursion(kGroups).rest.value().state.amplitude();
  return theory::degenerate_point(kGroups, eta, 2.0 * eta).value();
}

theory::DegeneratePoint sharp_point() {
  auto point = theory::focused_degenerate_point(kGroups, 0.0).value();
  point.state.attention = std::sqrt(200.0);
  return point;
}

// ---- rows 38 and 39 -------------------------------------------------------------------------

Evidence stability(const Setting&) {
  const Population data = persistent_population(kGroups);
  const auto point = resting_point();
  const Vector values = eigenvalues(
      flow_jacobian(*data.loss, manifold_weights(theory::spread_out(kGroups, point.state))));
  Evidence evidence;
  evidence.parameters =
      fmt::format("{}, η = {:.4f}, where the flow rests", kWhere, point.state.amplitude());
  evidence.statement = {equal("largest eigenvalue of −∇²L",
                              theory::degenerate_stability(point).growth, values.back(),
                              kRounding)};
  evidence.as_printed = {
      at_most("largest eigenvalue of −∇²L, neutral", 0.0, values.back(), kRounding)};
  return evidence;
}

double readout_slope(const theory::DegeneratePoint& point, double amplitude) {
  const Population data = persistent_population(kGroups);
  auto state = point.state;
  state.attention = std::sqrt(amplitude);
  return norm(token_slope(*data.loss, manifold_weights(theory::spread_out(kGroups, state))).value);
}

/// The construction of the proof, A_1 = e_1 and A_2 = (0, ½, ½), against the exact point.
Evidence existence(const Setting&) {
  const auto rest = resting_point(), scaled = theory::rescaled(rest, 0.1);
  const double eta = rest.state.amplitude();
  const auto limit = theory::focused_degenerate_point(kGroups, 2.0 * eta).value();
  const auto far = theory::rescaled(limit, 0.1);
  Evidence evidence;
  evidence.parameters = fmt::format("{}, η = {:.4f} and 100 times that", kWhere, eta);
  evidence.statement = {
      at_most("‖∂L/∂M‖ at the exact point, η = 1.4", kRounding, readout_slope(rest, eta), 0.0),
      at_most("‖∂L/∂M‖ at the exact point, η = 141", kRounding,
              readout_slope(scaled, scaled.state.amplitude()), 0.0)};
  evidence.as_printed = {
      at_most("‖∂L/∂M‖ as constructed, η = 1.4", 1e-4, readout_slope(limit, eta), 0.0),
      at_most("‖∂L/∂M‖ as constructed, η = 141, γ ten times smaller", 1e-4,
              readout_slope(far, 100.0 * eta), 0.0)};
  return evidence;
}

// ---- rows 40 and 41 -------------------------------------------------------------------------

double gradient_norm(const theory::AsymmetricPoint& at) {
  const Population data = persistent_population(at.law, at.persistence);
  return norm(flat(gradient(*data.loss, manifold_weights(at.state))));
}

/// The next order is larger by a few δ/π_2, 2.5e-3 each.
Evidence order(const Setting&) {
  constexpr double delta = 5e-4;
  const auto point = sharp_point();
  const double ratio = gradient_norm(theory::leading_order_point(point, 2.0 * delta)) /
                       gradient_norm(theory::leading_order_point(point, delta));
  Evidence evidence;
  evidence.parameters = fmt::format("{}, η = 200, δ = 5e-4 and 1e-3", kWhere);
  evidence.statement = {
      equal("‖∇L‖ at (167), δ doubled: 2²", 4.0, ratio, 0.1),
      at_most("‖∇L‖ at the exact solution of (166), δ = 1e-3", kRounding,
              gradient_norm(theory::range_point(point, 2.0 * delta).value()), 0.0)};
  evidence.as_printed = {equal("‖∇L‖ at (167), δ doubled: 2³", 8.0, ratio, 0.2)};
  return evidence;
}

/// One eigenvalue along the manifold, m − 1 off it, then none above 0.
Evidence scales(const Setting&) {
  constexpr double delta = 1e-3;
  const auto point = resting_point();
  const auto at = theory::asymmetric_point(point, delta).value();
  const Population data = persistent_population(at.law, at.persistence);
  const Vector values = eigenvalues(flow_jacobian(*data.loss, manifold_weights(at.state)));
  const double tangential = values.back(), transverse = values[values.size() - 2];
  Evidence evidence;
  evidence.parameters = fmt::format("{}, δ = 1e-3, at the η where the flow rests", kWhere);
  evidence.statement = {
      equal("growth along the manifold", theory::degenerate_stability(point).growth, tangential,
            100.0 * delta * delta),
      equal("growth off the manifold", theory::transverse_rate(at), transverse, kRounding)};
  evidence.as_printed = {
      at_most("growth along over growth off the manifold", 1.0, tangential / transverse, 0.0),
      at_most("growth along the manifold: 100δ²", 100.0 * delta * delta, tangential, 0.0)};
  return evidence;
}

// ---- rows 42 and 43 -------------------------------------------------------------------------

/// The left side of (230) measured: what ∂L/∂M has of (0, ½, ½)ᵀ(0, 1, −1), over δ.
Evidence constant(const Setting&) {
  constexpr double delta = 1e-3;
  const auto point = sharp_point();
  const auto at = theory::range_point(point, delta).value();
  const Population data = persistent_population(at.law, at.persistence);
  const Matrix<double> slope = token_slope(*data.loss, manifold_weights(at.state)).value;
  double measured = 0.0;
  for (const std::size_t i : {1, 2}) measured += 0.5 * (slope(i, 1) - slope(i, 2)) / delta;
  const double w = theory::focused_slopes(point).mismatch;
  const double fixed = kPersistence + (1.0 - kGroups.top) * (1.0 - kPersistence);
  Evidence evidence;
  evidence.parameters = fmt::format("{}, η = 200, δ = 1e-3", kWhere);
  // Even in δ: the next order is a few (δ/π_2)².
  evidence.statement = {equal("left side of (230), c without δ", w, measured, 2e-4)};
  evidence.as_printed = {
      equal("left side of (230), c with δ", delta * (w + fixed) - fixed, measured, 2e-4)};
  return evidence;
}

/// A_22 of attention ∝ π_j over the rare tokens, by a central difference: linear in δ.
Evidence spread(const Setting&) {
  constexpr double delta = 1e-3;
  const RankOneState state = theory::spread_out(kGroups, sharp_point().state);
  const Matrix<double> scores = training::token_maps(manifold_weights(state)).attention;
  const auto share = [&](double shift) {
    return attention(theory::asymmetric_law(kGroups.top, shift), scores)(1, 1);
  };
  const double measured = (share(delta) - share(-delta)) / (2.0 * delta);
  Evidence evidence;
  evidence.parameters = fmt::format("{}, η = 200, δ = 1e-3", kWhere);
  evidence.statement = {equal("∂A_22/∂δ: 1/(1 − π_1)", 1.0 / (1.0 - kGroups.top), measured, 1e-9)};
  evidence.as_printed = {equal("∂A_22/∂δ: 1 − π_1", 1.0 - kGroups.top, measured, 1e-9)};
  return evidence;
}

}  // namespace

std::vector<Claim> fd_asymmetry_errata() {
  return {
      {"erratum.38", "FD, Proposition 4.8",
       "printed neutrally stable; right is a saddle or stable along the manifold, by the chain",
       stability},
      {"erratum.39", "FD, Proposition 4.8",
       "printed a critical point for η sufficiently large; right is one for every η > 0",
       existence},
      {"erratum.40", "FD, Theorem 4.9, Eq (24)",
       "printed ‖∇L(θ(δ))‖ = O(δ³) at (167); right is O(δ²) there, and 0 at an exact point", order},
      {"erratum.41", "FD, Theorem 4.9, C.3",
       "printed tangential growth O(δ²), slower than Θ(δ); right is a growth that stays at δ = 0",
       scales},
      {"erratum.42", "FD, Lemma C.17",
       "printed c with a factor δ in the proof; right is without it, as in the statement",
       constant},
      {"erratum.43", "FD, Lemma C.9, item 2",
       "printed ∂_δ Var(A_i) with a factor 1 − π_1; right is 1/(1 − π_1)", spread},
  };
}

}  // namespace dewpoint::claims
