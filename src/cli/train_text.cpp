#include "cli/train_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/question_options.hpp"
#include "cli/study_record.hpp"

namespace dewpoint::cli {
namespace {

using experiments::Optimiser;
using experiments::Training;
using experiments::TrainingData;
using experiments::TrainingQuestion;
using experiments::TrainQuestion;

std::string unit_of(const TrainingQuestion& run) {
  return run.optimiser == Optimiser::flow ? "time" : "step";
}

std::string data_text(const TrainingQuestion& run, std::size_t rows) {
  if (run.data == TrainingData::population) return "population limit of long contexts";
  if (run.data == TrainingData::exact) {
    return fmt::format("exact expectation over contexts of {} tokens, {} rows", run.context, rows);
  }
  const std::string batch = run.batch == 0 ? "full batch" : fmt::format("batches of {}", run.batch);
  const std::string shown = rows > 0 ? fmt::format(" in {} rows", rows) : "";
  return fmt::format("{} sequences of {} tokens{}, {}", run.sequences, run.context, shown, batch);
}

std::string optimiser_text(const TrainingQuestion& run) {
  if (run.optimiser == Optimiser::flow) {
    return fmt::format("gradient flow to t = {:g}, rtol {:g}", run.until,
                       run.flow.relative_tolerance);
  }
  return fmt::format("{}, rate {:g}, {:g} steps",
                     run.optimiser == Optimiser::adam ? "Adam" : "gradient descent", run.adam.rate,
                     run.until);
}

std::string heading_text(const Training& question, std::size_t rows) {
  const TrainingQuestion& run = question.run;
  const std::size_t d = run.chain.vocabulary();
  const double deviation =
      run.deviation > 0.0 ? run.deviation : 1.0 / static_cast<double>(run.width);
  return fmt::format(
      "chain {}{}, pi = ({:.4g}), {}\none layer{}, m = {}, {} weights from N(0, {:.3g}²); {}; seed "
      "{}\n",
      run.chain.name,
      question.asked.chain.lambda ? fmt::format(" = {:g}", *question.asked.chain.lambda) : "",
      fmt::join(run.chain.stationary, ", "), data_text(run, rows),
      run.residual ? " with residual" : "", run.width, 2 * run.width * (d + run.width), deviation,
      optimiser_text(run), run.seed);
}

// A time, or that it was not seen.
Json time_cell(const std::optional<double>& time) {
  return time ? Json(fmt::format("{:g}", *time)) : Json("not seen");
}

std::string stages_text(const TrainingQuestion& run, const training::Stages& stages) {
  const training::StageThresholds& at = stages.thresholds;
  const training::Cycle& first = stages.cycles.front();
  Json rows = Json::array();
  const auto add = [&](const char* stage, const std::optional<double>& time,
                       const std::string& meaning) {
    rows.push_back({{"stage", stage}, {"time", time_cell(time)}, {"meaning", meaning}});
  };
  add("condensation", stages.condensation,
      fmt::format("rank-one fraction of W0 reaches {:g}", at.rank_one));
  add("focus", first.start,
      fmt::format("rarer queries begin to prefer token 0: s_0 leaves {:.3g}",
                  first.base + at.start * (1.0 - first.base)));
  add("peak", first.peak, fmt::format("s_0 = {:.4g} is largest", first.peak_value));
  add("half-dilution", first.half, fmt::format("s_0 has fallen to {:g} of its peak", at.fall));
  std::vector<std::size_t> tokens = stages.new_tokens;
  add("new direction", stages.new_direction,
      tokens.empty() ? std::string("a rarer token leaves the line of token 0")
                     : fmt::format("token {} leaves the line of token 0", fmt::join(tokens, ", ")));
  return to_text(
      rows,
      {{"stage", "stage", true}, {"time", unit_of(run)}, {"meaning", "what was looked for", true}});
}

std::string cycles_text(const training::Stages& stages) {
  Json rows = Json::array();
  for (const training::Cycle& cycle : stages.cycles) {
    rows.push_back({{"token", cycle.token},
                    {"base", fmt::format("{:.3f}", cycle.base)},
                    {"start", time_cell(cycle.start)},
                    {"peak", time_cell(cycle.peak)},
                    {"value", fmt::format("{:.4f}", cycle.peak_value)},
                    {"half", time_cell(cycle.half)}});
  }
  return fmt::format("{} of {} cycles of focus and dilution, counted with a rise of {:g}\n\n{}",
                     stages.completed_cycles(), stages.cycles.size(), stages.thresholds.rise,
                     to_text(rows, {{"token", "token"},
                                    {"base", "base"},
                                    {"start", "focus"},
                                    {"peak", "peak"},
                                    {"value", "largest s"},
                                    {"half", "half-dilution"}}));
}

std::string retraction_text(const training::Stages& stages) {
  std::vector<std::string> tokens;
  for (std::size_t k = 0; k < stages.retractions.size(); ++k) {
    for (const training::Retraction& one : stages.retractions[k]) {
      tokens.push_back(fmt::format("token {} from {:g} to {:g} (-{:.0f} %)", k, one.from, one.until,
                                   100.0 * one.depth()));
    }
  }
  return tokens.empty() ? "no embedding retracts\n"
                        : fmt::format("embeddings retract: {}\n", fmt::join(tokens, ", "));
}

std::string flow_text(const training::GradientFlow& flow) {
  const training::FlowWork work = flow.work();
  return fmt::format(
      "flow: {} steps, {} gradients, {} Hessian products; conserved matrices have "
      "drifted by {:.1e}\n",
      work.steps, work.evaluations, work.hessian_products, flow.conserved_drift());
}

std::string end_text(const TrainingQuestion& run, const training::Record& last) {
  return fmt::format(
      "loss {:.5f} at {} {:g}; the best predictor has {:.5f}, the law of the tokens alone {:.5f}\n",
      last.loss, unit_of(run), last.time, experiments::best_loss(run),
      training::stationary_entropy(run.chain));
}

Json stages_json(const training::Stages& stages) {
  const training::Cycle& first = stages.cycles.front();
  return {{"condensation", known(stages.condensation)},
          {"focus", known(first.start)},
          {"peak", known(first.peak)},
          {"peak_value", first.peak_value},
          {"half_dilution", known(first.half)},
          {"new_direction", known(stages.new_direction)},
          {"new_tokens", stages.new_tokens}};
}

Json cycles_json(const training::Stages& stages) {
  Json cycles = Json::array();
  for (const training::Cycle& cycle : stages.cycles) {
    cycles.push_back({{"token", cycle.token},
                      {"base", cycle.base},
                      {"focus", known(cycle.start)},
                      {"peak", known(cycle.peak)},
                      {"peak_value", cycle.peak_value},
                      {"half_dilution", known(cycle.half)}});
  }
  return cycles;
}

Json retractions_json(const training::Stages& stages) {
  Json all = Json::array();
  for (std::size_t k = 0; k < stages.retractions.size(); ++k) {
    for (const training::Retraction& one : stages.retractions[k]) {
      all.push_back(
          {{"token", k}, {"from", one.from}, {"until", one.until}, {"depth", one.depth()}});
    }
  }
  return all;
}

Json thresholds_json(const training::StageThresholds& at) {
  return {{"rank_one", at.rank_one},     {"rise", at.rise},
          {"start", at.start},           {"fall", at.fall},
          {"across", at.across},         {"growth", at.growth},
          {"least_mass", at.least_mass}, {"retraction", at.retraction}};
}

Json flow_json(const training::GradientFlow& flow) {
  const training::FlowEvents& events = flow.events();
  const training::FlowWork work = flow.work();
  Json turned = Json::array();
  for (const auto& time : events.turned) turned.push_back(known(time));
  return {{"condensed", known(events.condensed)},
          {"focus_peak", known(events.focus_peak)},
          {"focus_peak_value", known(events.focus_peak_value)},
          {"half_dilution", known(events.half_dilution)},
          {"turned", turned},
          {"second_direction", known(events.second_direction)},
          {"conserved_drift", flow.conserved_drift()},
          {"steps", work.steps},
          {"gradients", work.evaluations},
          {"hessian_products", work.hessian_products},
          {"bdf_from", known(work.exchanged)}};
}

Json opening(const Training& question) {
  return {{"experiment", "train"},
          {"version", full_version()},
          {"seed", question.run.seed},
          {"parameters", parameters_json(question::fields_of<TrainQuestion>(), {},
                                         question::point_of(question.asked))},
          {"thresholds", thresholds_json(question.thresholds)}};
}

}  // namespace

Answer train_answer(const Training& question, const experiments::TrainingRun& run,
                    const training::Stages& stages) {
  const training::Record& last = run.records().back();
  Json json = opening(question);
  json["rows"] = run.rows();
  json["stages"] = stages_json(stages);
  json["cycles"] = cycles_json(stages);
  json["completed_cycles"] = stages.completed_cycles();
  json["retractions"] = retractions_json(stages);
  if (run.flow() != nullptr) json["flow"] = flow_json(*run.flow());
  json["end"] = {{"time", last.time}, {"loss", last.loss}, {"group_loss", last.group_loss}};
  std::string text = heading_text(question, run.rows()) + "\n" + stages_text(question.run, stages) +
                     "\n" + cycles_text(stages) + "\n" + retraction_text(stages) +
                     end_text(question.run, last);
  if (run.flow() != nullptr) text += flow_text(*run.flow());
  return {json, text};
}

Answer seeds_answer(const Training& question, const Frame& runs) {
  const std::vector<Column> columns = {{"run", "run", true},
                                       {"condensation", "condensation"},
                                       {"focus", "focus"},
                                       {"peak", "peak"},
                                       {"peak_value", "s_0"},
                                       {"half_dilution", "half"},
                                       {"new_direction", "new dir."},
                                       {"cycles", "cycles"},
                                       {"final_loss", "loss"}};
  const std::size_t count = runs.dimension("run").coordinates.size();
  Json records = Json::array(), shown = Json::array(), means = Json::object();
  for (std::size_t r = 0; r < count; ++r) {
    Json record = {{"run", r}}, row = {{"run", fmt::format("{}", r)}};
    for (std::size_t c = 1; c < columns.size(); ++c) {
      const double value = runs.variable(columns[c].key).cells[r].mean;
      record[columns[c].key] = known(value);
      row[columns[c].key] =
          std::isnan(value) ? Json("not seen") : Json(fmt::format("{:.4g}", value));
    }
    records.push_back(record);
    shown.push_back(row);
  }
  Json last = {{"run", "mean"}};
  for (std::size_t c = 1; c < columns.size(); ++c) {
    RunningMoments moments;
    for (const Estimate& cell : runs.variable(columns[c].key).cells) {
      if (cell.samples > 0) moments.add(cell.mean);
    }
    const Estimate mean = moments.estimate();
    means[columns[c].key] = {{"mean", known(mean.mean)},
                             {"standard_error", known(mean.standard_error)},
                             {"runs", mean.samples}};
    last[columns[c].key] = mean.samples == 0 ? Json("-") : Json(to_string(mean));
  }
  shown.push_back(last);
  Json json = opening(question);
  json["runs"] = records;
  json["means"] = means;
  return {json,
          fmt::format("{}\n{}\nTimes are in {}s; a mean is over the runs in which it was seen; a "
                      "cycle is a rise of {:g}.\n",
                      heading_text(question, 0), to_text(shown, columns), unit_of(question.run),
                      question.thresholds.rise)};
}

}  // namespace dewpoint::cli
