// Training of small transformers with several layers and heads as an experiment of studies: a
// replica is one run, with its own data, weights and batches.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables: final_loss; retraction, the mean over tokens after the first of how far their
/// embeddings fall (0: no token falls by 10 %); focus_peak, the largest attention of the rarest
/// query to token 0 (mean over heads) that any layer reaches, and focus_end, the largest that any
/// layer has at the end; retractions over token. Prediction: final_loss_theory, the loss of the
/// best predictor. Points that differ in their number of tokens cannot share a study.
///
/// value and norm are words, so that they can be axes: a grid over them, branch and start is the
/// ablation of a model.
[[nodiscard]] const Experiment& train_layers_experiment();

}  // namespace dewpoint::studies
