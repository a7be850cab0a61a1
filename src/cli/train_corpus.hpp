// dewpoint train --corpus: a small transformer learns from a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "dewpoint/experiments/train_text_question.hpp"

namespace dewpoint::cli {

/// What every run of `dewpoint train` may be told.
struct RunFiles {
  std::string output;
  std::string figures;
  std::string resume;
  bool live = false;
  bool force = false;  // what is written may take the place of anything
};

template <class Visitor>
void describe(Visitor& visit, RunFiles& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("output", q.output, letter('o'), file("study"),
        "study file with everything that was recorded");
  visit("figures", q.figures, file("folder"), "folder for the figures");
  describe_force(visit, q.force);
  visit("resume", q.resume, file("study"),
        "goes on with the run of this study file, or of a checkpoint");
  visit("live", q.live, "loss and attention in the terminal while it runs");
}

struct CorpusVerb {
  experiments::TrainTextQuestion question;
  std::string checkpoint;
  std::string model;
  RunFiles files;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, CorpusVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.question);
  visit("checkpoint", q.checkpoint, file("checkpoint"),
        "file (.safetensors) for weights and moments, every 30 s and at the end");
  visit("model", q.model, file("folder"), "folder for the trained model, for dewpoint heads");
  describe(visit, q.files);
  describe(visit, q.common);
}

struct CorpusCommand {
  CorpusVerb verb;
  question::Point asked;           // what is given of its question
  std::vector<std::string> given;  // names of that, and seed where it is given
};

/// Whether this file holds a run on a text that can be gone on with.
[[nodiscard]] bool is_run_on_text(const std::string& file);

/// Throws Error{bad_value} for a question that cannot be asked, a state of another configuration
/// and a rate that diverges.
[[nodiscard]] Answer train_on_text(const CorpusCommand& command, const std::string& command_line);

}  // namespace dewpoint::cli
