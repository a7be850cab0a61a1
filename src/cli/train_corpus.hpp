// dewpoint train --corpus: a small transformer learns from a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "dewpoint/question/value.hpp"

namespace dewpoint::cli {

struct CorpusCommand {
  const CommonOptions& common;
  question::Point asked;           // what is given of a TrainTextQuestion
  std::vector<std::string> given;  // its names, and seed where that is given
  std::string checkpoint;
  std::string model;
  std::string output;
  std::string figures;
  std::string resume;
  bool live = false;
  bool force = false;  // what is written may take the place of anything
};

/// Whether this file holds a run on a text that can be gone on with.
[[nodiscard]] bool is_run_on_text(const std::string& file);

/// Throws Error{bad_value} for a question that cannot be asked, a state of another configuration
/// and a rate that diverges.
[[nodiscard]] Answer train_on_text(const CorpusCommand& command, const std::string& command_line);

}  // namespace dewpoint::cli
