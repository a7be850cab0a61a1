// What theory says beside a measured phase diagram of one layer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/phase.hpp"

namespace dewpoint::studies {

/// The annealed critical γ of equicorrelated tokens in dimension d (theory/critical_line.hpp); NaN
/// where it is not defined. What was asked for lately is remembered: a millisecond each.
[[nodiscard]] double finite_dimension_gamma(std::size_t n, std::size_t d, double rho);

/// The exact simplex at the place of a point.
struct SimplexPoint {
  double gamma;                  // β/log n
  double critical_gamma;         // 1/(1 − ρ)
  double reduced_scale;          // c = γ(1 − ρ)
  double simplex_contraction;    // λ
  double simplex_jacobian_norm;  // η
};

/// Nothing for tokens that are no simplex, and for a layer that is not plain softmax over all keys.
/// `point` is resolved.
[[nodiscard]] std::optional<SimplexPoint> simplex_point(const experiments::PhasePoint& point);

/// The same as an object of its fields; null for nothing.
[[nodiscard]] nlohmann::ordered_json simplex_json(const experiments::PhasePoint& point);

}  // namespace dewpoint::studies
