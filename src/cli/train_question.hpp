// What `dewpoint train` is asked, from its options or from a study that is to be gone on with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "dewpoint/experiments/training_options.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

using experiments::ChainOptions;
using experiments::TextPairs;
using experiments::TrainOptions;
using experiments::TrainQuestion;

/// --pi, --lambda, --chain.
void add_chain_options(CLI::App& verb, ChainOptions& options);
/// Those, and everything else that decides the result.
void add_train_options(CLI::App& verb, TrainOptions& options);

/// The question of a study that `train` made, its chain from the frame "data". Throws
/// Error{malformed_file} naming the file and what it lacks.
[[nodiscard]] TrainQuestion question_from(const store::StudyRecord& study, const std::string& file);

}  // namespace dewpoint::cli
