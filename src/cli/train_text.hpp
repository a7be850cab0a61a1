// A training run for people and for programs: what was asked, the stages that were found, the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "dewpoint/experiments/train_question.hpp"

namespace dewpoint::cli {

/// One run.
[[nodiscard]] Answer train_answer(const experiments::Training& question,
                                  const experiments::TrainingRun& run,
                                  const training::Stages& stages);

/// Several: one line each, then mean and standard error of those that have the number.
[[nodiscard]] Answer seeds_answer(const experiments::Training& question, const Frame& runs);

}  // namespace dewpoint::cli
