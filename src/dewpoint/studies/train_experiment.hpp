// Training of one attention layer as an experiment of studies: a replica is one run, with its own
// data and weights; what is averaged are its stages.
//
// A stage that a run does not show has no time: the mean is over the runs that show it, and the
// samples of the cell say how many they were.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: final_loss, condensation, focus, peak, peak_value, half_dilution, new_direction and
/// cycles of a run; cycle_start, cycle_peak, cycle_peak_value and cycle_half over cycle; retraction
/// over token. Prediction: final_loss_theory, the loss of the best predictor. The stationary law is
/// a text, "0.75,0.19,0.05,0.01"; points that differ in their number of tokens cannot share a
/// study.
[[nodiscard]] const Experiment& train_experiment();

}  // namespace dewpoint::studies
