// Runs of the training experiment of FD and what claims ask of many of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "dewpoint/claims/claim.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/experiments/training_run.hpp"

namespace dewpoint::claims {

inline constexpr const char* kTrainingSettings = "Adam, m = 256, full batch";

/// The experiment of [FD, D.1] (Adam, learning rate 1.5e-4, width 256, weights N(0, 1/m²), 100,000
/// sequences of 20 tokens, π = (.75, .19, .05, .01), λ = 0.8) with full batch, of which the paper
/// says nothing; or the gradient flow with the same chain.
[[nodiscard]] inline experiments::TrainingQuestion training_question(
    experiments::Optimiser optimiser, double until, const Setting& setting) {
  experiments::TrainingQuestion question = experiments::standard_question(optimiser);
  question.chain = training::named_chain("lambda", kExperimentLaw, kPersistence);
  question.until = until;
  question.seed = setting.seed;
  return question;
}

[[nodiscard]] inline std::size_t runs_of(const Setting& setting, std::size_t quick) {
  return setting.effort == Effort::quick ? quick : std::max<std::size_t>(20, quick);
}

/// Trains replicas 0, 1, ..., each on a thread of its own, and keeps what `look` sees in each.
template <class Look>
[[nodiscard]] auto each_run(const experiments::TrainingQuestion& question, std::size_t count,
                            const Setting& setting, const Look& look) {
  std::vector<decltype(look(std::declval<const experiments::TrainingRun&>()))> seen(count);
  parallel_for(count, setting.context, [&](std::size_t replica) {
    const RunContext alone{1, setting.context.stop, {}};
    experiments::TrainingRun run(question, replica, alone);
    run.advance(alone);
    seen[replica] = look(run);
  });
  return seen;
}

/// NaN, something that was not seen in a run, makes NaN.
template <class Run, class Value>
[[nodiscard]] double mean_of(const std::vector<Run>& runs, const Value& value) {
  double sum = 0.0;
  for (const Run& run : runs) sum += value(run);
  return sum / static_cast<double>(runs.size());
}

template <class Run, class Value>
[[nodiscard]] double least_of(const std::vector<Run>& runs, const Value& value) {
  double least = value(runs.front());
  for (const Run& run : runs) {
    const double here = value(run);
    if (std::isnan(here)) return here;
    least = std::min(least, here);
  }
  return least;
}

template <class Run, class Value>
[[nodiscard]] double most_of(const std::vector<Run>& runs, const Value& value) {
  return -least_of(runs, [&](const Run& run) { return -value(run); });
}

}  // namespace dewpoint::claims
