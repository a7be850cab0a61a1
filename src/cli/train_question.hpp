// What `dewpoint train` is asked, from its options or from a study that is to be gone on with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// --pi, --lambda, --chain.
struct ChainOptions {
  std::vector<double> stationary = {0.75, 0.19, 0.05, 0.01};
  double persistence = 0.8;
  std::string name = "lambda";

  void add_to(CLI::App& verb);
};
/// Throws Error{bad_value} naming the option, or the file and what is wrong in it.
[[nodiscard]] training::Chain chain_of(const ChainOptions& options);

/// Everything that decides the result. What is not given has the optimiser's own standard.
struct TrainOptions {
  ChainOptions chain;
  std::optional<std::string> data;
  std::optional<double> context, sequences, batch, width, deviation;
  bool residual = false;
  std::string optimiser = "adam";
  std::optional<double> rate, first_decay, second_decay, epsilon;
  std::optional<double> steps, time, every, relative_tolerance, absolute_tolerance;
  std::optional<std::string> method;
  bool double_precision = false;
  std::optional<double> rise;

  void add_to(CLI::App& verb);
};

/// A question and how its stages are looked for.
struct TrainQuestion {
  experiments::TrainingQuestion run;
  double persistence = 0.0;  // λ, where the chain is that of it
  training::StageThresholds thresholds;
};

/// Checked. Throws Error{bad_value} naming the option.
[[nodiscard]] TrainQuestion question_of(const TrainOptions& options, std::uint64_t seed);

using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// As a study keeps them: those that apply, every number with the digits that give it back.
[[nodiscard]] TextPairs parameters_of(const TrainQuestion& question);

/// The question of a study that `train` made, its chain from the frame "data". Throws
/// Error{malformed_file} naming the file and what it lacks.
[[nodiscard]] TrainQuestion question_from(const store::StudyRecord& study, const std::string& file);

}  // namespace dewpoint::cli
