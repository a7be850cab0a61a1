// Training on a real text as an experiment of studies: a replica is one run, with its own weights
// and batches of the same text (text_studies.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables, all as in experiments::text_numbers(): final_loss and validation_loss in nats per
/// token; focus_peak, the largest attention of tokens of medium frequency to the most frequent one,
/// and focus_step, where; dilution_step, where it has fallen to half of that (runs in which it does
/// not are left out of the mean); final_focus and final_self_share.
[[nodiscard]] const Experiment& train_text_experiment();

}  // namespace dewpoint::studies
