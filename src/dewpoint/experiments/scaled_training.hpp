// A training run under a law of the logits, from its question to all that is asked of it: how fast
// and how steadily it learns, in which phase its heads are on the way, and what is left of it on
// contexts longer than those it has seen.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/head_phases.hpp"
#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {

struct ScaledQuestion {
  TextQuestion text;  // a causal model; the law of its logits is in the shape
  /// Laws under which the trained model is evaluated beside its own, as in Shape::scaling. A law
  /// may differ from that of training: those of several models are 1 up to the training length.
  std::vector<std::string> evaluations;
};

/// Throws Error{bad_value} naming the option.
void check(const ScaledQuestion& question);

struct ScaledRecord {
  std::vector<transformer::Look> looks;  // they end where the run diverged
  std::vector<HeadPhases> heads;         // at every look, on kPhaseWindows validation windows
  std::vector<double> batch_losses;      // of every step
  std::optional<std::uint64_t> diverged;
  /// loss_given() under the law of training and then under each of the evaluations, over
  /// kLengthFactors; NaN where the run diverged.
  std::vector<std::vector<double>> longer;
};

/// The run of (question, replica), whatever the number of threads. Throws as TextRun and
/// longer_windows() do, and Error{stopped}.
[[nodiscard]] ScaledRecord scaled_run(const ScaledQuestion& question,
                                      std::shared_ptr<const text::Corpus> corpus,
                                      std::uint64_t replica, const RunContext& context = {});

inline constexpr std::size_t kPhaseWindows = 8;

/// The step at which the validation loss first comes down to `target`, on the straight line between
/// two looks; NaN where it does not.
[[nodiscard]] double steps_to(std::span<const transformer::Look> looks, double target);

/// Steps whose batch loss is above the median of the kSpikeWindow before them by more than
/// kSpikeDeviations of their deviation, 1.4826 times the median distance from that median.
///
///   Properties  (1) shifting and stretching all losses changes nothing.
///               (2) of independent normal losses about one in two million is a spike.
[[nodiscard]] std::size_t spikes_in(std::span<const double> losses);

/// The deviation of 100 normal numbers is known to 12 % this way (1.17/√100), their median to 0.13
/// of it (1.25/√100). Six of them, with these errors, are passed with probability 5e-7.
inline constexpr std::size_t kSpikeWindow = 100;
inline constexpr double kSpikeDeviations = 6.0;

}  // namespace dewpoint::experiments
