// What theory knows of the questions about layers of tokens (experiments/layer_question.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// `gamma = {..., unit = "critical"}` is c.
[[nodiscard]] std::vector<Unit> layer_units();

/// gamma for c where random heads freeze, which experiments::resolved cannot know. Throws
/// Error{bad_value} for tokens or a layer that are none.
[[nodiscard]] experiments::LayerQuestion with_gamma(experiments::LayerQuestion question);

// ---- of resolved questions ----------------------------------------------------------------------

/// Whether theory's regular simplex describes the tokens under a plain layer without mask: exactly,
/// or as their limit d → ∞ (equicorrelated).
[[nodiscard]] bool is_simplex(const experiments::LayerQuestion& question);
/// Whether the tokens or the layer are drawn at random.
[[nodiscard]] bool is_random(const experiments::CloudQuestion& cloud,
                             const experiments::FormQuestion& form = {});
/// Mean square norm of the tokens, as theory takes it.
[[nodiscard]] double squared_norm_of(const experiments::CloudQuestion& cloud);
/// Whether random heads freeze as the random energy model does (theory/random_heads.hpp): sphere or
/// equicorrelated tokens, and no difference from the plain layer but the heads.
[[nodiscard]] bool has_freezing(const experiments::LayerQuestion& question);
/// 1/(1 − ρ), or where random heads freeze √(2 H d/((1 − ρ) log n)), β_c/log n; NaN for tokens
/// without one correlation and for random heads of other layers.
[[nodiscard]] double critical_gamma_of(const experiments::LayerQuestion& question);

}  // namespace dewpoint::studies
