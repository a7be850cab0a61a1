// dewpoint dew on the scores of a head: every estimator of the dew point and of its growth, with
// error bars, from one matrix of scores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/verdict_json.hpp"

namespace dewpoint::cli {

/// Where scores come from and how they are taken apart.
struct DewScoresOptions {
  std::string scores;
  std::string queries;
  std::string keys;
  double scale = 1.0;
  std::string keep;  // "", a column, or "self"
  double endpoint = 0.0;
  std::size_t tail = 50;
  std::size_t halvings = 6;
  std::size_t least_keys = 100;
  std::size_t replicates = 400;
  const CLI::Option* endpoint_option = nullptr;

  void add_to(CLI::App& verb);
  /// Whether a file was named or an array handed over.
  [[nodiscard]] bool given(const Given& arrays) const {
    return arrays.scores != nullptr || !scores.empty() || !queries.empty() || !keys.empty();
  }
};

/// Reads, measures and reports.
[[nodiscard]] Answer dew_of_scores(const DewScoresOptions& options, const Given& arrays,
                                   const CommonOptions& common, const RunContext& context);

/// A verdict as a sentence that begins with the name of the scale.
[[nodiscard]] std::string verdict_text(const std::string& scale,
                                       const diagnosis::GrowthVerdict& verdict);

/// "8.21 ± 0.31": four digits of the value, two of its error, nothing for an error that is unknown;
/// "never" for a scale that is infinite, "-" for a number that is not known.
[[nodiscard]] std::string short_text(const Estimate& estimate);

}  // namespace dewpoint::cli
