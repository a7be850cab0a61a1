#include "cli/heads_measurement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "cli/console.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/head_capture.hpp"
#include "dewpoint/experiments/head_study.hpp"
#include "dewpoint/experiments/loss_study.hpp"
#include "dewpoint/models/architecture.hpp"

namespace dewpoint::cli {
namespace {

using diagnosis::HeadData;
using diagnosis::HeadDiagnosis;
using diagnosis::HeadSurvey;

/// Whole rows of scores of all heads that are kept until the last sequence is read.
constexpr std::size_t kMostScoreBytes = std::size_t{1} << 29;

HeadSurvey survey_of(const HeadsQuestion& q, std::size_t longest, std::size_t own_length) {
  diagnosis::SurveyQuestion question = q.survey;
  question.seed = q.common.seed;
  return diagnosis::head_survey(question, longest, own_length, q.input);
}

RunContext quiet(const HeadsQuestion& q) { return {q.common.threads, stop_token(), {}}; }

HeadDiagnosis diagnosed(const HeadsQuestion& q, const HeadSurvey& setting, HeadData&& data) {
  quiet(q).throw_if_stopped();
  return diagnosis::diagnose_head(data, setting.options, quiet(q));
}

// ---- a dump ---------------------------------------------------------------------------------

HeadsMeasurement measure_dumped(const HeadsQuestion& q) {
  const checkpoint::HeadDump dump =
      q.given != nullptr ? checkpoint::HeadDump::from_pieces(*q.given, q.input, q.dump)
                         : checkpoint::HeadDump::open(q.input, q.dump);
  const std::size_t longest = experiments::longest_context(dump);
  const HeadSurvey survey = survey_of(q, longest, longest);
  ProgressLine progress("heads");
  HeadsMeasurement found{
      {}, survey.options, diagnosis::dump_parameters(dump), diagnosis::dump_notes(dump), {}};
  found.heads =
      diagnosis::survey_dump(dump, survey, {q.common.threads, stop_token(), progress.callback()});
  return found;
}

// ---- a checkpoint ---------------------------------------------------------------------------

std::vector<std::pair<std::string, std::string>> model_parameters(
    const HeadsQuestion& q, const models::Decoder& decoder, std::size_t length,
    const experiments::TokenWindows& windows) {
  return {{"model_type", decoder.config().model_type},
          {"head_dim", std::to_string(decoder.config().attention.head_dimension)},
          {"text", q.text.text.empty() ? q.text.ids : q.text.text},
          {"length", std::to_string(length)},
          {"sequences", std::to_string(windows.tokens.size())},
          {"windows", windows.begin},
          {"rope", q.rope}};
}

std::size_t length_of(const HeadsQuestion& q, const models::Decoder& decoder,
                      std::size_t available) {
  return q.length.value_or(std::min(decoder.config().attention.max_positions, available));
}

/// One sequence: each head is diagnosed as it passes, and forgotten.
void diagnose_one(const HeadsQuestion& q, const HeadSurvey& setting, const models::Decoder& decoder,
                  std::span<const int> tokens, const models::ForwardOptions& run,
                  std::vector<HeadDiagnosis>& heads) {
  ProgressLine progress("heads");
  experiments::measure_decoder(
      decoder, tokens, run, setting.plan,
      [&](std::size_t layer, std::size_t head, experiments::MeasuredHead&& measured) {
        heads.push_back(diagnosed(
            q, setting, {layer, head, std::move(measured.rows), std::move(measured.scores)}));
      },
      {q.common.threads, stop_token(), progress.callback()});
}

/// Several sequences: rows add up, whole rows of scores as far as memory goes.
void diagnose_many(const HeadsQuestion& q, HeadSurvey setting, const models::Decoder& decoder,
                   const std::vector<std::vector<int>>& windows, const models::ForwardOptions& run,
                   std::vector<HeadDiagnosis>& heads) {
  const scaling::AttentionConfig& config = decoder.config().attention;
  const std::size_t whole_rows =
      kMostScoreBytes / (config.layers * config.heads * windows.front().size() * sizeof(double));
  const std::size_t share = std::max<std::size_t>(1, whole_rows / windows.size() / 2);
  setting.plan.score_rows_last_bin = std::min(setting.plan.score_rows_last_bin, share);
  setting.plan.score_rows_per_bin = std::min(setting.plan.score_rows_per_bin, share);
  setting.plan.rows_per_bin = std::max<std::size_t>(16, setting.plan.rows_per_bin / windows.size());

  std::map<std::pair<std::size_t, std::size_t>, HeadData> data;
  ProgressLine progress("heads");
  const Progress report = progress.callback();
  for (std::size_t k = 0; k < windows.size(); ++k) {
    experiments::measure_decoder(
        decoder, windows[k], run, setting.plan,
        [&](std::size_t layer, std::size_t head, experiments::MeasuredHead&& measured) {
          HeadData& one = data[{layer, head}];
          one.layer = layer;
          one.head = head;
          std::move(measured.rows.begin(), measured.rows.end(), std::back_inserter(one.rows));
          std::move(measured.scores.begin(), measured.scores.end(), std::back_inserter(one.scores));
        },
        quiet(q));
    report(static_cast<double>(k + 1), static_cast<double>(windows.size()));
  }
  for (auto& [place, one] : data) heads.push_back(diagnosed(q, setting, std::move(one)));
}

/// Losses by position, of the model as it is and run with every multiplier.
Frame loss_of(const HeadsQuestion& q, const HeadSurvey& setting, const models::Decoder& decoder,
              const ModelText& text, std::size_t length, std::size_t sequences) {
  experiments::LossQuestion question;
  question.lengths = {length};
  question.ropes = {
      {q.rope, [&](std::size_t n) { return rotation_of(q.rope, decoder.config(), n); }}};
  for (const experiments::NamedMultiplier& one : setting.plan.multipliers) {
    question.multipliers.push_back({one.name, one.value, {}});
  }
  question.sequences = sequences;
  question.tokens = text.tokens;
  question.beginning_token = text.beginning;
  ProgressLine progress("perplexity");
  return experiments::study_loss(decoder, question,
                                 {q.common.threads, stop_token(), progress.callback()});
}

HeadsMeasurement measure_model(const HeadsQuestion& q) {
  const models::Decoder decoder = models::Decoder::open(q.input);
  if (q.perplexity) models::require_causal(decoder.config());  // before long work
  const ModelText text = read_tokens(q.text, decoder, q.input);
  const std::size_t length = length_of(q, decoder, text.tokens.size());
  const experiments::TokenWindows cut =
      experiments::token_windows(text.tokens, length, q.sequences, text.beginning);
  const std::vector<std::vector<int>>& windows = cut.tokens;
  const HeadSurvey setting = survey_of(q, length, decoder.config().attention.max_positions);
  models::ForwardOptions run;
  run.rope = rotation_of(q.rope, decoder.config(), length);

  HeadsMeasurement found{{}, setting.options, model_parameters(q, decoder, length, cut), {}, {}};
  if (!q.dump_output.empty()) {
    experiments::capture_heads(decoder, windows.front(), run, {decoder.config().model_type, {}},
                               checkpoint::ElementType::f32, {q.dump_output, q.force}, quiet(q));
  }
  if (windows.size() == 1) {
    diagnose_one(q, setting, decoder, windows.front(), run, found.heads);
  } else {
    diagnose_many(q, setting, decoder, windows, run, found.heads);
  }
  if (q.perplexity) found.loss = loss_of(q, setting, decoder, text, length, windows.size());
  return found;
}

void refuse_options_without_effect(const HeadsQuestion& q, bool checkpoint) {
  const auto refuse = [&](bool given, const char* option) {
    if (!given) return;
    throw Error(Code::bad_value, fmt::format("{}: has no effect on a {}", option,
                                             checkpoint ? "checkpoint" : "dump"));
  };
  if (checkpoint) {
    refuse(q.dump.layout.has_value(), "layout");
    refuse(q.dump.scale.has_value(), "scale");
    refuse(q.dump.causal.has_value(), "no-causal");
    refuse(q.dump.window.has_value(), "window");
    refuse(q.dump.softcap.has_value(), "softcap");
    return;
  }
  refuse(!q.text.text.empty(), "text");
  refuse(!q.text.ids.empty(), "ids");
  refuse(!q.text.tokenizer.empty(), "tokenizer");
  refuse(q.length.has_value(), "length");
  refuse(q.sequences != 1, "sequences");
  refuse(q.rope != "own", "rope");
  refuse(q.perplexity, "perplexity");
  refuse(!q.dump_output.empty(), "dump");
}

}  // namespace

HeadsMeasurement measure_heads(const HeadsQuestion& question) {
  const bool checkpoint = question.given == nullptr && is_checkpoint(question.input);
  refuse_options_without_effect(question, checkpoint);
  return checkpoint ? measure_model(question) : measure_dumped(question);
}

}  // namespace dewpoint::cli
