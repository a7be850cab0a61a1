// "train-scaling": small causal transformers learn a text under a law of the logits, and are then
// asked about contexts longer than those they have seen.
//
// The logits of a query that sees n tokens are multiplied with m(n), in training and after
// (transformer/shape.hpp). `scaling` is a name of scaling::named_schedule, with n0 = s unless it
// says otherwise, so that every law is 1 at the length of training, and what differs is how
// attention of early tokens is made weaker and, beyond s, that of late ones stronger. Laws that are
// 1 up to n0 (yarn, log-n, llama-4) train the same model as "constant"; they are for `evaluations`.
//
// A replica is one run, with its own weights and windows of the same text (text_studies.hpp),
// the same for all laws. A run that diverges is a result here, not an error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

/// Observables, in nats per token where they are losses, NaN from where a run has diverged:
///
///     validation_loss       at the end, all positions of windows of s tokens
///     steps_to_target       experiments::steps_to() the loss `target`
///     spikes                experiments::spikes_in() the losses of all batches
///     diverged              1 or 0
///     loss, batch_loss, gradient_norm        over step: on validation windows, mean of the batches
///                                            since the look before, of the last batch
///     entropy, largest_weight, phase         over (step, layer, head): experiments::head_phases()
///     mean_entropy, mean_phase               over step: of all heads, the phase as geometric mean
///     longer_loss           over (evaluation, factor): the last s/2 tokens of windows given factor
///                           s tokens (experiments::loss_given()) under the law of training, "own",
///                           and under each of `evaluations`
///     longer_change         longer_loss minus that of the own law at factor 1
[[nodiscard]] const Experiment& train_scaling_experiment();

}  // namespace dewpoint::studies
