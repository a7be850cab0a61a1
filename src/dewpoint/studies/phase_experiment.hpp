// "phase": one self-attention layer on tokens, the experiment that `dewpoint phase map` runs and
// `phase point` is a cell of.
//
// A replica is one cloud, a function of (point, seed, replica). Points that differ in gamma alone
// share a cloud and its exponentials (attention/sweep.hpp), those that differ in rho its noise, and
// none of them notices (experiments::MapReplica).
//
// What cannot share goes the way of `dewpoint phase point`, one point at a time: masks, sampled
// rows, tokens without a correlation. Sampled rows of many tokens are streamed and come in parts
// (experiments/streamed_rows.hpp); the Jacobian norm is not measured there.
//
// Cells of tokens from a file are known by the name of the file: a changed file needs a new name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: those of experiments/phase_cell.hpp, `jacobian_norm` where `eta` asks for it (the
/// standard is none), and with `rows` also `row_sampling_error`, the part of the error of one cloud
/// that is due to the sampling of rows.
///
/// Predictions: contraction_theory and jacobian_norm_theory are those of the regular simplex:
/// exact for simplex tokens, the limit d → ∞ for equicorrelated ones, unknown for others and under
/// a mask. critical_gamma = 1/(1 − ρ), unknown for tokens without a correlation.
///
/// critical_gamma_at_finite_d = the annealed line of equicorrelated tokens
/// (theory/critical_line.hpp).
///
///   Properties  (1) equals MapReplica, and elsewhere phase_point, bit for bit.
///               (2) a point's values do not depend on the tile.
[[nodiscard]] const Experiment& phase_experiment();

}  // namespace dewpoint::studies
