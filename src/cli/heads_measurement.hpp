// What `dewpoint heads` measures: the heads of a dump, or of a checkpoint that reads a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/model_text.hpp"
#include "cli/verb.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/diagnosis/head_diagnosis.hpp"
#include "dewpoint/diagnosis/head_survey.hpp"
#include "dewpoint/experiments/heads.hpp"

namespace dewpoint::cli {

struct HeadsQuestion {
  Common common;
  std::string input;
  std::shared_ptr<const checkpoint::DumpPieces> given;  // in the place of the input
  ModelTextQuestion text;
  checkpoint::DumpOptions dump;
  std::optional<std::size_t> length;  // tokens per sequence; none: as the model was trained for
  std::size_t sequences = 1;          // windows of the text
  std::string rope = "own";
  diagnosis::SurveyQuestion survey;
  bool perplexity = false;
  std::string dump_output;  // where queries and keys are written; empty: nowhere
  bool force = false;       // what is written may take the place of anything
};

struct HeadsMeasurement {
  std::vector<diagnosis::HeadDiagnosis> heads;
  diagnosis::HeadOptions options;
  std::vector<std::pair<std::string, std::string>> parameters;  // of the study
  std::vector<std::string> notes;                               // about the input
  std::optional<Frame> loss;                                    // with `perplexity`
};

/// Reads, runs and diagnoses; shows progress. Throws Error for whatever is wrong with the input.
[[nodiscard]] HeadsMeasurement measure_heads(const HeadsQuestion& question);

}  // namespace dewpoint::cli
