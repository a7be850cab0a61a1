// dewpoint train --corpus: a small transformer learns from a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/train_corpus_question.hpp"

namespace dewpoint::cli {

struct CorpusCommand {
  const CommonOptions& common;
  const CorpusOptions& text;
  SharedOptions shared;
  std::string output;
  std::string figures;
  std::string resume;
  bool live = false;
  bool force = false;                     // what is written may take the place of anything
  std::vector<const CLI::Option*> given;  // options of the question that stood on the command line
};

/// Whether the command is about a text: it names one, or goes on with a run on one.
[[nodiscard]] bool is_about_text(const CorpusOptions& options, const std::string& resume);

/// Returns the exit status. Throws Error{bad_value} for a question that cannot be asked, a state of
/// another configuration and a rate that diverges.
[[nodiscard]] Answer train_on_text(const CorpusCommand& command, const std::string& command_line);

}  // namespace dewpoint::cli
