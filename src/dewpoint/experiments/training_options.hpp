// A training run as it is asked for: options that may be absent, and the study of what came out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::experiments {

/// "auto", "adams", "bdf".
[[nodiscard]] const std::map<std::string, training::FlowMethod>& flow_method_names();

/// The chain that has a λ.
inline constexpr const char* kPersistentChain = "lambda";

/// --pi, --lambda, --chain.
struct ChainOptions {
  std::vector<double> stationary = {0.75, 0.19, 0.05, 0.01};
  double persistence = 0.8;
  std::string name = "lambda";
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
};

/// A question and how its stages are looked for.
struct TrainQuestion {
  TrainingQuestion run;
  double persistence = 0.0;  // λ, where the chain is that of it
  training::StageThresholds thresholds;
};

/// Checked. Throws Error{bad_value} naming the option.
[[nodiscard]] TrainQuestion question_of(const TrainOptions& options, std::uint64_t seed);

using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// As a study keeps them: those that apply, every number with the digits that give it back.
[[nodiscard]] TextPairs parameters_of(const TrainQuestion& question);

inline constexpr const char* kTrain = "train";  // the experiment of a run

/// The run as a study: what was asked, recorded and found, and the state to go on from.
[[nodiscard]] store::StudyRecord train_study(const TrainQuestion& question, const TrainingRun& run,
                                             const training::Stages& stages,
                                             const std::string& command);

}  // namespace dewpoint::experiments
