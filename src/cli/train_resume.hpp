// A run of `dewpoint train` that is to be gone on with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// What a study that `train` made was asked; what it does not say has its default. Throws
/// Error{malformed_file} naming the file and what is wrong with it.
[[nodiscard]] experiments::TrainQuestion question_from(const store::StudyRecord& study,
                                                       const std::string& file);

/// Its chain, from the frame "data".
[[nodiscard]] training::Chain chain_from(const store::StudyRecord& study, const std::string& name);

}  // namespace dewpoint::cli
