// Every head of a model, measured and diagnosed: what is asked of all of them, and the way through
// a dump. A checkpoint goes the same way with experiments::measure_decoder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/head_diagnosis.hpp"
#include "dewpoint/experiments/heads.hpp"

namespace dewpoint::diagnosis {

struct SurveyQuestion {
  std::string betas;                   // multipliers beside 1: a list, or empty
  std::vector<std::string> schedules;  // by name
  std::size_t rows = 512;              // per octave of n
  std::size_t replicates = 400;        // of the bootstrap
  bool whole_rows = true;  // also what needs whole rows of scores: companions, tail, growth
  std::uint64_t seed = 1;
};

struct HeadSurvey {
  experiments::HeadPlan plan;
  HeadOptions options;
};

/// For contexts up to `longest` keys; schedules start from `train_length`. Throws Error{bad_value}
/// naming `input` where no query sees enough keys.
[[nodiscard]] HeadSurvey head_survey(const SurveyQuestion& question, std::size_t longest,
                                     std::size_t train_length, const std::string& input);

/// Multipliers beside 1: numbers of `betas`, then schedules, each once.
[[nodiscard]] std::vector<experiments::NamedMultiplier> multipliers_of(
    const std::string& betas, const std::vector<std::string>& schedules, std::size_t train_length);

/// All heads of a dump, in its order.
[[nodiscard]] std::vector<HeadDiagnosis> survey_dump(const checkpoint::HeadDump& dump,
                                                     const HeadSurvey& survey,
                                                     const RunContext& context);

/// One of them; the same numbers. Throws Error{bad_value} where there is no such head.
[[nodiscard]] HeadDiagnosis survey_head(const checkpoint::HeadDump& dump, std::size_t layer,
                                        std::size_t head, const HeadSurvey& survey,
                                        const RunContext& context);

/// What a dump says about itself, as studies keep it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> dump_parameters(
    const checkpoint::HeadDump& dump);
/// What a reader must know of it: one sentence each.
[[nodiscard]] std::vector<std::string> dump_notes(const checkpoint::HeadDump& dump);

}  // namespace dewpoint::diagnosis
