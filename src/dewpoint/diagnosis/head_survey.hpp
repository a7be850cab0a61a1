// Every head of a model, measured and diagnosed: what is asked of all of them, and the way through
// a dump. A checkpoint goes the same way with experiments::measure_decoder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/head_diagnosis.hpp"
#include "dewpoint/experiments/heads.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::diagnosis {

struct SurveyQuestion {
  question::Grid betas;                     // multipliers beside 1
  std::vector<std::string> schedules;       // by name
  std::optional<std::size_t> train_length;  // that they start from; none: the input's own
  std::size_t rows = 512;                   // per octave of n
  std::size_t replicates = 400;             // of the bootstrap
  bool whole_rows = true;  // also what needs whole rows of scores: companions, tail, growth
  std::uint64_t seed = 1;
};

/// All that are known by name.
[[nodiscard]] std::vector<std::string> schedule_words();

/// Of what is asked; whole rows and the seed are the caller's.
template <class Visitor>
void describe(Visitor& visit, SurveyQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("beta", q.betas, above(0.0), "also as if the logits were multiplied: a list",
        live(0.01, 100.0));
  visit("schedule", q.schedules, suggest(schedule_words()),
        "also under a schedule: yarn, log-n, llama-4, ssmax, ..; several if wanted");
  visit("train-length", q.train_length, in(1.0, 1e9), "length that schedules start from",
        otherwise("the model's own"));
  visit("rows", q.rows, in(16.0, 1e7), "queries per octave of n: more give smaller errors",
        live(4096.0));
  visit("replicates", q.replicates, in(20.0, 1e5), "redrawn heads for the errors", live(2000.0));
}

/// What a dump does not say itself.
struct DumpQuestion {
  checkpoint::DumpOptions options;
  bool no_causal = false;
};

template <class Visitor>
void describe(Visitor& visit, DumpQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  const Group said = group("What a dump does not say itself");
  visit("layout", q.options.layout, suggest({"HND", "NHD", "BHND", "BNHD"}),
        "HND, NHD, BHND or BNHD: heads, tokens, coordinates", said);
  visit("scale", q.options.scale, above(0.0), "factor of <q,k>", otherwise("1/sqrt(d)"), said);
  visit("no-causal", q.no_causal, "every query sees every key", said);
  visit("window", q.options.window, in(0.0, 1e9), "a query sees its last so many keys; 0: all",
        said);
  visit("softcap", q.options.softcap, at_least(0.0), "scores are c tanh(s/c)", said);
}

[[nodiscard]] checkpoint::DumpOptions options_of(const DumpQuestion& question);

struct HeadSurvey {
  experiments::HeadPlan plan;
  HeadOptions options;
};

/// For contexts up to `longest` keys; schedules start from `own_length` where nothing is said.
/// Throws Error{bad_value} naming `input` where no query sees enough keys.
[[nodiscard]] HeadSurvey head_survey(const SurveyQuestion& question, std::size_t longest,
                                     std::size_t own_length, const std::string& input);

/// Multipliers beside 1: numbers, then schedules, each once.
[[nodiscard]] std::vector<experiments::NamedMultiplier> multipliers_of(
    const std::vector<double>& betas, const std::vector<std::string>& schedules,
    std::size_t train_length);

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
