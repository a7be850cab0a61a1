// What the experiments on layers of tokens ("phase", "depth") share: the parameters of the cloud,
// of the temperature and of the Jacobian norm, named as on the command line.
//
// The temperature is given by one of
//
//     gamma   β = γ log n
//     c       γ = c critical_gamma: the reduced scale, critical at 1
//     beta    γ = β/log n
//
// and kept as γ. A division rounds: β of a point given by `beta` or `c` is within two units in the
// last place of what was asked for, and two values that differ by less may be one point.
//
// What a law does not know (the correlation of a sphere, clusters where there are none, norms that
// nothing looks at) is no part of a resolved point, so that one cloud is one point.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::studies {

/// tokens, n, d, rho, rho-inner, cluster-size, norm, common, gamma, c, beta, alpha, mask,
/// attention, projections, rope.
[[nodiscard]] std::vector<Field> layer_parameters(std::size_t standard_n);
/// tokens (equicorrelated, simplex or sphere), n, d, rho and common (fixed), and those of
/// layer_parameters that are named: for experiments whose theory is that of these tokens.
[[nodiscard]] std::vector<Field> known_cloud_parameters(std::size_t standard_n,
                                                        const std::vector<std::string>& more);
/// What such a point does not need: the correlation of a sphere, and a common vector but of
/// equicorrelated tokens.
void drop_unknown_to_cloud(Point& point);
/// eta, eta-error, eta-probes: no axes, and none unless asked for.
[[nodiscard]] std::vector<Field> norm_parameters();
/// `gamma = {..., unit = "critical"}` is c.
[[nodiscard]] std::vector<Unit> layer_units();

/// Completes a point that has every default: n and d become those of the cloud, the temperature
/// gamma, the form of the layer its names (those of the plain layer but its mask are dropped); what
/// does not matter is dropped. `norms_matter`: the experiment looks at norms of tokens even without
/// residual and Jacobian norm. Throws Error{bad_value}.
///   Properties  (1) completed(completed(p) with defaults) = completed(p).
[[nodiscard]] Point completed(Point point, bool norms_matter);

/// The form of the layer by its names, as completed() has them. Throws Error{bad_value}.
void resolve_form(Point& point);

/// Parameters of a completed point.
[[nodiscard]] tokens::CloudParameters cloud_of(const Point& point);
/// Whether the law of the tokens has no randomness; asked of every cell of a study.
[[nodiscard]] bool is_deterministic_cloud(const Point& point);
[[nodiscard]] std::optional<attention::NormOptions> norm_of(const Point& point);
/// The layer; plain softmax over all keys where the point says nothing else.
[[nodiscard]] attention::LayerForm form_of(const Point& point);
/// β = γ log n.
[[nodiscard]] double inverse_temperature_of(const Point& point);

/// Whether theory's regular simplex describes the tokens under a plain layer without mask: exactly,
/// or as their limit d → ∞ (equicorrelated).
[[nodiscard]] bool is_simplex(const Point& point);
/// Mean square norm of the tokens, as theory takes it.
[[nodiscard]] double squared_norm_of(const Point& point);
/// Whether random heads freeze as the random energy model does (theory/random_heads.hpp): sphere or
/// equicorrelated tokens, and no difference from the plain layer but the heads.
[[nodiscard]] bool has_freezing(const Point& point);
/// ρ; 0 for tokens of a sphere.
[[nodiscard]] double correlation_or_none(const Point& point);
/// 1/(1 − ρ), or where random heads freeze √(2 H d/((1 − ρ) log n)), β_c/log n; NaN for tokens
/// without one correlation and for random heads of other layers.
[[nodiscard]] double critical_gamma_of(const Point& point);

}  // namespace dewpoint::studies
