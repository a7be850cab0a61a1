// A training run as a study: what was asked, recorded and found, and the state to go on from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/train_question.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

[[nodiscard]] store::StudyRecord train_study(const TrainQuestion& question,
                                             const experiments::TrainingRun& run,
                                             const training::Stages& stages,
                                             const std::string& command);

}  // namespace dewpoint::cli
