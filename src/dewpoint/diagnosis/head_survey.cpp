#include "dewpoint/diagnosis/head_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/head_study.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::diagnosis {

std::vector<std::string> schedule_words() {
  std::vector<std::string> words;
  for (const scaling::NamedSchedule& one : scaling::named_schedules()) words.push_back(one.name);
  return words;
}

checkpoint::DumpOptions options_of(const DumpQuestion& question) {
  checkpoint::DumpOptions options = question.options;
  if (question.no_causal) options.causal = false;
  return options;
}

std::vector<experiments::NamedMultiplier> multipliers_of(const std::vector<double>& betas,
                                                         const std::vector<std::string>& schedules,
                                                         std::size_t train_length) {
  std::vector<experiments::NamedMultiplier> multipliers;
  std::set<std::string> names = {"1"};  // measured anyway
  for (const double beta : betas) {
    std::string name = fmt::format("{:g}", beta);
    if (!names.insert(name).second) continue;
    multipliers.push_back({std::move(name), [beta](std::size_t) { return beta; }});
  }
  for (const std::string& name : schedules) {
    const scaling::Schedule schedule =
        scaling::named_schedule(name, static_cast<double>(train_length));
    if (!names.insert(name).second) continue;
    multipliers.push_back({name, [schedule](std::size_t keys) {
                             return scaling::multiplier(schedule, static_cast<double>(keys));
                           }});
  }
  return multipliers;
}

HeadSurvey head_survey(const SurveyQuestion& question, std::size_t longest, std::size_t own_length,
                       const std::string& input) {
  HeadSurvey survey;
  survey.plan.multipliers = multipliers_of(question.betas.values(), question.schedules,
                                           question.train_length.value_or(own_length));
  survey.plan.rows_per_bin = question.rows;
  if (!question.whole_rows) survey.plan.score_rows_per_bin = survey.plan.score_rows_last_bin = 0;
  survey.options.bins = octave_bins(longest);
  if (survey.options.bins.ends.empty()) {
    throw Error(Code::bad_value, fmt::format("{}: no query sees more than {} keys; at least 16 are "
                                             "needed",
                                             input, longest));
  }
  survey.plan.bin_ends = survey.options.bins.ends;
  survey.options.multipliers = {"1"};
  for (const experiments::NamedMultiplier& one : survey.plan.multipliers) {
    survey.options.multipliers.push_back(one.name);
  }
  survey.options.bootstrap = {question.replicates, question.seed};
  return survey;
}

std::vector<HeadDiagnosis> survey_dump(const checkpoint::HeadDump& dump, const HeadSurvey& survey,
                                       const RunContext& context) {
  std::vector<HeadDiagnosis> heads;
  const RunContext quiet{context.threads, context.stop, {}};
  experiments::measure_dump(
      dump, survey.plan,
      [&](std::size_t layer, std::size_t head, experiments::MeasuredHead&& measured) {
        context.throw_if_stopped();
        heads.push_back(
            diagnose_head({layer, head, std::move(measured.rows), std::move(measured.scores)},
                          survey.options, quiet));
      },
      context);
  return heads;
}

HeadDiagnosis survey_head(const checkpoint::HeadDump& dump, std::size_t layer, std::size_t head,
                          const HeadSurvey& survey, const RunContext& context) {
  const auto& layers = dump.layers();
  const auto place = std::find(layers.begin(), layers.end(), layer);
  if (place == layers.end()) {
    throw Error(Code::bad_value, fmt::format("layer: {} is not one of the {} layers of the dump",
                                             layer, layers.size()));
  }
  const std::size_t count = dump.shapes()[static_cast<std::size_t>(place - layers.begin())].heads;
  if (head >= count) {
    throw Error(Code::bad_value,
                fmt::format("head: {} is not below the {} heads of layer {}", head, count, layer));
  }
  const checkpoint::DumpedLayer read = dump.layer(layer);
  experiments::MeasuredHead measured = experiments::measure_head(
      experiments::head_of(read, dump.facts(), head), survey.plan, context);
  return diagnose_head({layer, head, std::move(measured.rows), std::move(measured.scores)},
                       survey.options, {context.threads, context.stop, {}});
}

std::vector<std::pair<std::string, std::string>> dump_parameters(const checkpoint::HeadDump& dump) {
  const checkpoint::DumpFacts& facts = dump.facts();
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"layout", facts.layout},
      {"rope", facts.rope},
      {"scale", fmt::format("{}", facts.scale)},
      {"m_applied", fmt::format("{}", facts.m_applied)},
      {"causal", facts.causal ? "true" : "false"}};
  if (!dump.shapes().empty())
    parameters.emplace_back("head_dim", std::to_string(dump.shapes().front().dimension));
  if (facts.window > 0) parameters.emplace_back("window", std::to_string(facts.window));
  if (facts.softcap > 0.0) parameters.emplace_back("softcap", fmt::format("{}", facts.softcap));
  if (!facts.model.empty()) parameters.emplace_back("model", facts.model);
  if (!facts.text_sha256.empty()) parameters.emplace_back("text_sha256", facts.text_sha256);
  return parameters;
}

std::vector<std::string> dump_notes(const checkpoint::HeadDump& dump) {
  std::vector<std::string> notes = dump.facts().warnings;
  if (dump.facts().scale_assumed) {
    notes.push_back(fmt::format("scale-assumed: the file gives no scale; 1/sqrt(d) = {:.6g}",
                                dump.facts().scale));
  }
  return notes;
}

}  // namespace dewpoint::diagnosis
