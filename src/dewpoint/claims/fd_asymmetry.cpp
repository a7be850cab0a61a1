// Focus and dilution, Section 4.4 and Appendix C: the degenerate critical point, and what unequal
// rare tokens do to it. Points and rates are those of theory; gradients and Hessians are those of
// the population loss over all weights.
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
#include "dewpoint/theory/asymmetry.hpp"
#include "dewpoint/theory/degenerate_point.hpp"
#include "dewpoint/theory/two_group_flow.hpp"

namespace dewpoint::claims {
namespace {

using theory::RankOneState;
using theory::TwoGroups;

std::string named(const TwoGroups& groups) {
  return fmt::format(", π_1 = {}, d = {}, λ = {}", groups.top, groups.tokens, groups.persistence);
}

/// Rounding of a Hessian or a gradient at a point: scores carry theirs into it.
double rounding_at(const RankOneState& state) {
  const double embedding = norm(state.embedding), output = norm(state.output);
  return 2.0 * kEpsilon * (4.0 + std::abs(state.amplitude()) * embedding * embedding) *
         (1.0 + embedding * embedding + output * output);
}

// ---- Proposition 4.8 ------------------------------------------------------------------------

/// The point where the flow from small weights comes to rest.
theory::DegeneratePoint resting_point(const TwoGroups& groups) {
  const double amplitude = theory::excursion(groups).rest.value().state.amplitude();
  return theory::degenerate_point(groups, amplitude, 2.0 * amplitude).value();
}

void compare_slopes(const TwoGroups& groups, const RankOneState& state, const std::string& where,
                    Evidence& evidence) {
  const Population data = persistent_population(groups);
  const training::TokenMaps slope = token_slope(*data.loss, manifold_weights(state));
  evidence.statement.push_back(
      at_most("‖∂L/∂M‖" + where, rounding_at(state), norm(slope.value), 0.0));
  evidence.statement.push_back(
      at_most("‖∂L/∂Φ‖" + where, rounding_at(state), norm(slope.attention), 0.0));
}

/// Larger eigenvalue of −∇²L in the plane of x(e_2 − e_3)/√2 in γ and y(e_2 − e_3)/√2 in β.
double growth_of_difference(const Matrix<double>& jacobian) {
  const std::size_t d = jacobian.rows() / 2;
  const auto entry = [&](std::size_t row, std::size_t column) {
    return 0.5 * (jacobian(row + 1, column + 1) - jacobian(row + 1, column + 2) -
                  jacobian(row + 2, column + 1) + jacobian(row + 2, column + 2));
  };
  const double mean = 0.5 * (entry(0, 0) + entry(d, d)), half = 0.5 * (entry(0, 0) - entry(d, d));
  return mean + std::hypot(half, entry(0, d));
}

void compare_stability(const TwoGroups& groups, Evidence& evidence) {
  const Population data = persistent_population(groups);
  const theory::DegeneratePoint point = resting_point(groups);
  const RankOneState state = theory::spread_out(groups, point.state);
  const double growth = theory::degenerate_stability(point).growth;
  const double measured = growth_of_difference(manifold_jacobian(*data.loss, state));
  evidence.statement.push_back(equal("growth of a difference between rare tokens" + named(groups),
                                     growth, measured, rounding_at(state)));
  if (growth <= 0.0) return;
  evidence.as_printed.push_back(
      at_most("growth of a difference between rare tokens" + named(groups), 0.0, measured,
              rounding_at(state)));
}

/// All eigenvalues of −∇²L, and its action on every direction off the manifold.
void compare_spectrum(const TwoGroups& groups, Evidence& evidence) {
  const Population data = persistent_population(groups);
  const theory::DegeneratePoint point = resting_point(groups);
  const RankOneState state = theory::spread_out(groups, point.state);
  const Weights weights = manifold_weights(state);
  const Matrix<double> jacobian = flow_jacobian(*data.loss, weights);
  const double rounding = rounding_at(state) * static_cast<double>(jacobian.rows());
  double across = 0.0;
  Vector unit(jacobian.rows(), 0.0);
  for (std::size_t k = 0; k < unit.size(); ++k) {
    unit[k] = 1.0;
    const Weights direction = unflat(unit, groups.tokens, kManifoldWidth);
    Vector rest = unit;
    add(rest, -1.0, flat(manifold_weights(manifold_parts(direction).along)));
    across = std::max(across, norm(times(jacobian, rest)));
    unit[k] = 0.0;
  }
  const Vector values = eigenvalues(jacobian);
  const auto growing =
      std::count_if(values.begin(), values.end(), [&](double value) { return value > rounding; });
  evidence.statement.push_back(
      at_most("largest ‖∇²L x‖, x off the manifold" + named(groups), rounding, across, 0.0));
  evidence.statement.push_back(equal("growing directions" + named(groups) + ": d − 2",
                                     static_cast<double>(groups.tokens) - 2.0,
                                     static_cast<double>(growing), 0.0));
  evidence.statement.push_back(equal("fastest of all" + named(groups),
                                     theory::degenerate_stability(point).growth, values.back(),
                                     rounding));
}

Evidence degenerate_critical_point(const Setting&) {
  Evidence evidence;
  evidence.parameters = "at the η where the flow rests (1 to 1.7), and at 2, 4, 8 times that";
  const TwoGroups groups{0.6, 3, 0.8};
  const theory::DegeneratePoint rest = resting_point(groups);
  for (const double factor : {1.0, 2.0, 4.0, 8.0}) {
    const double amplitude = factor * rest.state.amplitude();
    const auto point = theory::degenerate_point(groups, amplitude, 2.0 * amplitude).value();
    compare_slopes(groups, theory::spread_out(groups, point.state),
                   fmt::format(", η = {:.4g}", amplitude), evidence);
  }
  // (tγ, β/t, η/t²) has the same M and Φ: however small η.
  const auto small = theory::rescaled(rest, 10.0);
  compare_slopes(groups, theory::spread_out(groups, small.state),
                 fmt::format(", η = {:.4g}", small.state.amplitude()), evidence);
  for (const TwoGroups& other :
       {groups, TwoGroups{0.75, 4, 0.8}, TwoGroups{0.5, 10, 0.5}, TwoGroups{0.9, 4, 0.8}}) {
    compare_stability(other, evidence);
  }
  compare_spectrum(groups, evidence);
  compare_spectrum({0.75, 4, 0.8}, evidence);
  return evidence;
}

// ---- Theorem 4.9: the focused limit ---------------------------------------------------------

/// The focused point with an η at which attention is (1, 0, 0) and (0, ½, ½) to rounding, also
/// after δ has moved γ; ‖γ‖ = ‖β‖ as in Proposition C.1.
theory::DegeneratePoint sharp_point(const TwoGroups& groups) {
  auto point = theory::focused_degenerate_point(groups, 0.0).value();
  point.state.attention = std::sqrt(200.0);
  return point;
}

struct Gradient {
  double whole, kernel;  // ‖∇L‖ and ‖Q_Kᵀ∇L‖
};
Gradient gradient_at(const theory::DegeneratePoint& point, const theory::AsymmetricPoint& at) {
  const Population data = persistent_population(at.law, at.persistence);
  const Weights uphill = gradient(*data.loss, manifold_weights(at.state));
  const RankOneState along = manifold_parts(uphill).along;
  Vector coordinates = along.embedding;
  coordinates.insert(coordinates.end(), along.output.begin(), along.output.end());
  double squares = 0.0;
  for (const auto& k : theory::lyapunov_schmidt_basis(point).kernel) {
    squares += std::pow(inner(coordinates, k), 2);
  }
  return {norm(flat(uphill)), std::sqrt(squares)};
}

/// At (167), orders by doubling δ. A term of the next order is larger by a few δ/π_2.
void compare_orders(const TwoGroups& groups, Evidence& evidence) {
  constexpr double delta = 5e-4;
  const theory::DegeneratePoint point = sharp_point(groups);
  const Gradient one = gradient_at(point, theory::leading_order_point(point, delta)),
                 two = gradient_at(point, theory::leading_order_point(point, 2.0 * delta));
  const double next = 10.0 * delta / (0.5 * (1.0 - groups.top));
  const std::string whole = "‖∇L‖ at (167), δ = 1e-3 over δ = 5e-4" + named(groups);
  evidence.statement.push_back(equal(whole + ": 2²", 4.0, two.whole / one.whole, 4.0 * next));
  evidence.statement.push_back(equal("‖Q_Kᵀ∇L‖ likewise" + named(groups) + ": 2³", 8.0,
                                     two.kernel / one.kernel, 8.0 * next));
  evidence.as_printed.push_back(equal(whole + ": 2³", 8.0, two.whole / one.whole, 8.0 * next));
}

/// At the exact solution of the range equation: a critical point, no growth along the manifold, and
/// μ off it.
void compare_range_point(const TwoGroups& groups, double delta, Evidence& evidence) {
  const theory::DegeneratePoint point = sharp_point(groups);
  const theory::AsymmetricPoint at = theory::range_point(point, delta).value();
  const Population data = persistent_population(at.law, at.persistence);
  const Weights weights = manifold_weights(at.state);
  const std::string where = fmt::format(", δ = {}", delta) + named(groups);
  const double rounding = rounding_at(at.state);
  evidence.statement.push_back(at_most("‖∇L‖ where Q_Rᵀ∇L = 0" + where, rounding,
                                       norm(flat(gradient(*data.loss, weights))), 0.0));
  evidence.statement.push_back(at_most("largest eigenvalue of −∇²L in γ, β" + where, rounding,
                                       eigenvalues(manifold_jacobian(*data.loss, at.state)).back(),
                                       0.0));
  const Vector values = eigenvalues(flow_jacobian(*data.loss, weights));
  const double rate = theory::transverse_rate(at);
  const auto fast =
      std::count_if(values.begin(), values.end(), [&](double value) { return value > 0.5 * rate; });
  evidence.statement.push_back(
      equal("eigenvalue of −∇²L off the manifold" + where, rate, values.back(), 10.0 * rounding));
  evidence.statement.push_back(
      equal("how often" + where + ": m − 1", kManifoldWidth - 1.0, static_cast<double>(fast), 0.0));
  // μ is odd in δ: it leaves its first order by a relative (δ/π_2)², ten times that at most.
  const double slope = theory::focused_slopes(point).transverse;
  const double next = 10.0 * std::pow(2.0 * delta / (1.0 - groups.top), 2);
  evidence.statement.push_back(equal("that over δ" + where, slope, values.back() / delta,
                                     slope * next + 10.0 * rounding / delta));
}

Evidence asymmetry_lifts(const Setting&) {
  Evidence evidence;
  evidence.parameters = "d = 3, η = 200: attention (1, 0, 0) and (0, ½, ½) to rounding; width 3";
  for (const TwoGroups& groups :
       {TwoGroups{0.6, 3, 0.8}, TwoGroups{0.75, 3, 0.8}, TwoGroups{0.5, 3, 0.5}}) {
    compare_orders(groups, evidence);
    compare_range_point(groups, 1e-3, evidence);
  }
  return evidence;
}

// ---- Theorem C.3: at the η that the flow reaches --------------------------------------------

struct Rates {
  double tangential, transverse;
};
/// The fastest growth along the manifold, and off it.
Rates measured_rates(const theory::AsymmetricPoint& at) {
  const Population data = persistent_population(at.law, at.persistence);
  const Vector along = eigenvalues(manifold_jacobian(*data.loss, at.state));
  Vector all = eigenvalues(flow_jacobian(*data.loss, manifold_weights(at.state)));
  // η moves as well: among all eigenvalues the one nearest to that of (γ, β) is left out.
  const auto nearest = std::min_element(all.begin(), all.end(), [&](double a, double b) {
    return std::abs(a - along.back()) < std::abs(b - along.back());
  });
  const double tangential = *nearest;
  all.erase(nearest);
  return {tangential, all.back()};
}

/// Δ < 0: the tangential growth does not vanish with δ. Its even correction is 100 δ² at most.
void compare_scales(const TwoGroups& groups, Evidence& evidence) {
  const theory::DegeneratePoint point = resting_point(groups);
  const double growth = theory::degenerate_stability(point).growth;
  for (const double delta : {1e-3, 1e-2}) {
    const theory::AsymmetricPoint at = theory::asymmetric_point(point, delta).value();
    const Rates rates = measured_rates(at);
    const double rounding = 10.0 * rounding_at(at.state);
    const std::string where = fmt::format(", δ = {}", delta) + named(groups);
    evidence.statement.push_back(equal("growth off the manifold" + where,
                                       theory::transverse_rate(at), rates.transverse, rounding));
    if (delta > 2e-3) continue;
    evidence.statement.push_back(equal("growth off the manifold over δ" + where,
                                       theory::asymmetry_slopes(point).transverse,
                                       rates.transverse / delta, 1e-2));
    evidence.statement.push_back(equal("growth along the manifold" + where, growth,
                                       rates.tangential, 100.0 * delta * delta));
    evidence.statement.push_back(at_least("growth along over growth off" + where, 10.0,
                                          rates.tangential / rates.transverse, 0.0));
    evidence.as_printed.push_back(at_most("growth along over growth off" + where, 1.0,
                                          rates.tangential / rates.transverse, 0.0));
  }
}

Evidence two_scales(const Setting&) {
  Evidence evidence;
  evidence.parameters = "d = 3, λ = 0.8, at the η where the flow rests; width 3";
  for (const TwoGroups& groups : {TwoGroups{0.6, 3, 0.8}, TwoGroups{0.75, 3, 0.8}}) {
    compare_scales(groups, evidence);
  }
  return evidence;
}

// ---- Lemma C.17 -----------------------------------------------------------------------------

/// c by the linear response of β_2 − β_3: −q_2ᵀ∂_δ∇L/(q_2ᵀ∇²L q_2) = √2 c. The push −q_2ᵀ∇L is odd
/// in δ, so that one δ gives its derivative.
double measured_response(const theory::DegeneratePoint& point) {
  constexpr double h = 1e-4;
  const TwoGroups& groups = point.groups;
  const RankOneState state = theory::spread_out(groups, point.state);
  const auto push = [&](double delta) {
    const double rare = 0.5 * (1.0 - groups.top);
    const Population data =
        persistent_population({groups.top, rare + delta, rare - delta}, groups.persistence);
    const RankOneState velocity = measured_velocity(*data.loss, state).along;
    return (velocity.output[1] - velocity.output[2]) / std::numbers::sqrt2;
  };
  const Matrix<double> jacobian = manifold_jacobian(*persistent_population(groups).loss, state);
  const double stiffness =
      -0.5 * (jacobian(4, 4) - jacobian(4, 5) - jacobian(5, 4) + jacobian(5, 5));
  return push(h) / (h * stiffness * std::numbers::sqrt2);
}

void compare_lemma(const TwoGroups& groups, Evidence& evidence) {
  constexpr double delta = 1e-4;
  const theory::DegeneratePoint point = sharp_point(groups);
  const theory::FocusedSlopes slopes = theory::focused_slopes(point);
  // Away from δ = 0 the push is corrected by (δ/π_2)², which is below 1e-6.
  evidence.statement.push_back(
      equal("c by linear response" + named(groups), slopes.output, measured_response(point), 1e-5));
  const theory::AsymmetricPoint at = theory::range_point(point, delta).value();
  const Population data = persistent_population(at.law, at.persistence);
  const training::TokenMaps slope = token_slope(*data.loss, manifold_weights(at.state));
  // Tokens 2 and 3 share ½ and ½ up to δ, with opposite signs: their sum is even in δ.
  double w = 0.0;
  for (const std::size_t i : {1, 2}) w += 0.5 * (slope.value(i, 1) - slope.value(i, 2));
  evidence.statement.push_back(
      equal("w of (230): ½Σ_i((∂L/∂M)_i2 − (∂L/∂M)_i3)/δ, i = 2, 3" + named(groups),
            slopes.mismatch, w / delta, 1e-5));
  evidence.statement.push_back(
      equal("‖∂L/∂M‖/δ" + named(groups), slopes.transverse, norm(slope.value) / delta, 1e-5));
  evidence.statement.push_back(at_most("‖∂L/∂Φ‖ at δ = 1e-4" + named(groups), rounding_at(at.state),
                                       norm(slope.attention), 0.0));
}

Evidence transverse_eigenvalue(const Setting&) {
  Evidence evidence;
  evidence.parameters = "d = 3, η = 200, δ = 1e-4";
  for (const TwoGroups& groups :
       {TwoGroups{0.6, 3, 0.8}, TwoGroups{0.75, 3, 0.8}, TwoGroups{0.5, 3, 0.5}}) {
    compare_lemma(groups, evidence);
  }
  return evidence;
}

}  // namespace

std::vector<Claim> fd_asymmetry_claims() {
  return {
      {"fd.proposition-4.8", "FD, Proposition 4.8",
       "A point with ∂L/∂M = ∂L/∂Φ = 0 exists for every η > 0; all directions off the manifold are "
       "flat, but along it the point is a saddle or stable, not neutral.",
       degenerate_critical_point},
      {"fd.theorem-4.9", "FD, Theorem 4.9",
       "In the focused limit an exact critical point stays near, with growth Θ(δ) off the manifold "
       "and none along it; at the first-order point the gradient is O(δ²).",
       asymmetry_lifts},
      {"fd.theorem-c.3", "FD, Theorem C.3",
       "At the η that the flow reaches the growth along the manifold does not vanish with δ, and "
       "for small δ it is the faster one.",
       two_scales},
      {"fd.lemma-c.17", "FD, Lemma C.17",
       "Off the manifold ∂L/∂M = Θ(δ) with the c and the condition (230) as given, ∂L/∂Φ = 0.",
       transverse_eigenvalue},
  };
}

}  // namespace dewpoint::claims
