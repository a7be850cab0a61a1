// "depth": many self-attention layers one after the other, the experiment of `dewpoint phase
// depth`.
//
// A point has one gamma; all its layers are one cell, along the inner dimension "layer" = 0, 1,
// ..., `layers`. A replica is one cloud sent through all of them. With `singular-values` the
// product of the Jacobians of all layers so far is looked at too: its norm, and along "rank" that
// many of its largest singular values; with `end-to-end` its norm alone, which costs far less.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: those of experiments/phase_depth.hpp over `layer`, singular_value over (layer,
/// rank). What belongs to the layer that made the tokens is unknown (NaN) at layer 0. Where
/// rounding hides the gaps of some replicas, the mean is that of the others, whose gaps are wider.
///
/// Predictions, by theory's recursion on the regular simplex (theory/simplex_depth.hpp):
/// log10_gap_theory, mean_cosine_theory, contraction_theory and, with eta, jacobian_norm_theory,
/// over `layer`; exact for simplex tokens, the limit d → ∞ for equicorrelated ones; unknown for
/// others, under a mask, at gamma 0 and where the temperature is re-scaled. Layers with random
/// heads, and no other difference from the plain one, have those of theory/random_heads.hpp for
/// sphere and equicorrelated tokens without residual in 3 to 512 dimensions, a law for large n and
/// d; with them, and probes, end_to_end_norm_theory. critical_gamma is that of the first layer.
///
///   Properties  (1) equals experiments::phase_depth with as many replicas, bit for bit.
[[nodiscard]] const Experiment& depth_experiment();

}  // namespace dewpoint::studies
