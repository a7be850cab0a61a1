// dewpoint heads sweep: what a multiplier of the logits does to the loss of a real model, at
// several lengths and rotations, beside the multiplier that keeps its heads in the phase of
// training.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/dew_scores.hpp"
#include "cli/heads_measurement.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/diagnosis/iso_phase.hpp"
#include "dewpoint/experiments/loss_study.hpp"
#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/head_figures.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::cli {
namespace {

constexpr const char* kHeadsSweep = "heads sweep";

/// Those that people use without training for them.
const std::vector<std::string> kSchedules = {"yarn", "log-n"};

struct SweepVerb {
  Common common;
  std::string checkpoint;
  ModelTextQuestion text;
  question::Counts lengths;
  std::vector<std::string> ropes = {"own", "ntk", "yarn-bare"};
  question::Grid multipliers{"0.8:1.4:7"};
  std::size_t sequences = 16;
  std::size_t head_sequences = 4;
  std::optional<std::size_t> train_length;
  WrittenStudy output;
  std::vector<std::string> figures;
};

template <class Visitor>
void describe(Visitor& visit, SweepVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe_checkpoint(visit, q.checkpoint);
  visit("lengths", q.lengths, at_least(1.0), "context lengths: a list", otherwise("as trained"));
  visit("rope", q.ropes, commas, suggest(rotation_words()),
        "rotations: own, ntk, yarn, yarn-bare (turns only), linear, dynamic: stretched to the "
        "length");
  visit("multipliers", q.multipliers, above(0.0), "a list, or first:last:count; 1 is added");
  visit("sequences", q.sequences, in(2.0, 1e6), "windows of the text per length");
  visit("head-sequences", q.head_sequences, in(1.0, 1e5), "windows for the dew points");
  visit("train-length", q.train_length, at_least(1.0), "length it was trained for",
        otherwise("the model's own"));
  describe(visit, q.output);
  visit("figure", q.figures, file("figure"), "x.svg, x.png or x.pdf; several if wanted");
  describe(visit, q.text);
  describe(visit, q.common);
}

struct Sweep {
  std::vector<std::size_t> lengths;
  std::size_t train_length;
  std::string windows_begin;  // how, at every length where it is not the same at all
  Frame loss;
  Frame iso_phase{"iso_phase"};
  Frame schedules{"schedules"};
};

// ---- dew points -----------------------------------------------------------------------------

/// The heads of the model at one length under one rotation.
Frame heads_at(const SweepVerb& o, std::size_t length, const std::string& rope) {
  HeadsQuestion question;
  question.common = o.common;
  question.input = o.checkpoint;
  question.text = o.text;
  question.length = length;
  question.sequences = o.head_sequences;
  question.rope = rope;
  question.survey.whole_rows = false;
  const HeadsMeasurement found = measure_heads(question);
  return diagnosis::frame_of_heads(found.heads, found.options);
}

/// Geometric mean over heads of the dew points of the longest contexts, sinks left out.
Estimate mean_dew_point(const Frame& heads) {
  const Variable& variable = heads.variable("dew_point_without_sink");
  const std::size_t lengths = heads.dimension("n").coordinates.size();
  RunningMoments logarithms;
  for (std::size_t i = lengths - 1; i < variable.cells.size(); i += lengths) {
    const double dew = variable.cells[i].mean;
    if (std::isfinite(dew) && dew > 0.0) logarithms.add(std::log(dew));
  }
  const Estimate mean = logarithms.estimate();
  return {std::exp(mean.mean), std::exp(mean.mean) * mean.standard_error, mean.samples};
}

Estimate factor_of(const Frame& deployed, const Frame& trained, std::size_t train_length,
                   std::size_t length) {
  const diagnosis::IsoPhaseFit fit = diagnosis::fit_iso_phase(
      deployed, trained, {train_length, {static_cast<double>(length)}, true});
  if (!fit.global.front()) return {};
  const diagnosis::IsoPhaseFactor& factor = *fit.global.front();
  return {factor.value(), factor.value() * factor.log_factor.standard_error,
          factor.log_factor.samples};
}

/// Over (length, rope): the factor that keeps phases, and the dew points behind it.
void measure_phases(const SweepVerb& o, Sweep& sweep) {
  const Frame trained = heads_at(o, sweep.train_length, "own");
  std::vector<double> lengths(sweep.lengths.begin(), sweep.lengths.end());
  sweep.iso_phase.add_dimension("length", lengths);
  sweep.iso_phase.add_labelled_dimension("rope", o.ropes);
  std::vector<Estimate> factors, dews;
  for (const std::size_t length : sweep.lengths) {
    for (const std::string& rope : o.ropes) {
      const Frame deployed = heads_at(o, length, rope);
      factors.push_back(factor_of(deployed, trained, sweep.train_length, length));
      dews.push_back(mean_dew_point(deployed));
    }
  }
  sweep.iso_phase.add_variable("iso_phase", {"length", "rope"}).cells = factors;
  sweep.iso_phase.add_variable("dew_point", {"length", "rope"}).cells = dews;
}

void add_schedules(Sweep& sweep) {
  std::vector<double> lengths(sweep.lengths.begin(), sweep.lengths.end());
  sweep.schedules.add_dimension("length", lengths);
  sweep.schedules.add_labelled_dimension("schedule", kSchedules);
  std::vector<Estimate> factors;
  for (const double length : lengths) {
    for (const std::string& name : kSchedules) {
      const auto schedule = scaling::named_schedule(name, static_cast<double>(sweep.train_length));
      factors.push_back(exact_value(scaling::multiplier(schedule, length)));
    }
  }
  sweep.schedules.add_variable("multiplier", {"length", "schedule"}).cells = factors;
}

// ---- losses ---------------------------------------------------------------------------------

std::vector<double> with_one(std::vector<double> multipliers) {
  const auto near_one = [](double m) { return std::abs(m - 1.0) < 1e-9; };
  std::erase_if(multipliers, near_one);
  multipliers.push_back(1.0);
  std::sort(multipliers.begin(), multipliers.end());
  return multipliers;
}

std::string beginnings_of(const experiments::LossQuestion& question) {
  std::vector<std::string> ways, by_length;
  for (const std::size_t length : question.lengths) {
    ways.push_back(experiments::token_windows(question.tokens, length, question.sequences,
                                              question.beginning_token)
                       .begin);
    by_length.push_back(fmt::format("{}: {}", length, ways.back()));
  }
  const bool one = std::count(ways.begin(), ways.end(), ways.front()) ==
                   static_cast<std::ptrdiff_t>(ways.size());
  return one ? ways.front() : fmt::format("{}", fmt::join(by_length, "; "));
}

Sweep measure(const SweepVerb& o) {
  if (!is_checkpoint(o.checkpoint)) {
    throw Error(Code::bad_value,
                fmt::format("{}: is no checkpoint; a folder with config.json or a llama2.c .bin is "
                            "needed",
                            o.checkpoint));
  }
  const models::Decoder decoder = models::Decoder::open(o.checkpoint);
  const ModelText text = read_tokens(o.text, decoder, o.checkpoint);
  Sweep sweep;
  sweep.train_length = o.train_length.value_or(decoder.config().attention.max_positions);
  sweep.lengths =
      o.lengths.empty() ? std::vector<std::size_t>{sweep.train_length} : o.lengths.values();
  experiments::LossQuestion question;
  question.lengths = sweep.lengths;
  question.multipliers.clear();
  for (const double m : with_one(o.multipliers.values())) {
    question.multipliers.push_back(experiments::constant_multiplier(m));
  }
  question.sequences = o.sequences;
  question.tokens = text.tokens;
  question.beginning_token = text.beginning;
  question.ropes.clear();
  for (const std::string& rope : o.ropes) {
    (void)rotation_of(rope, decoder.config(), sweep.train_length);  // refuses a wrong name early
    question.ropes.push_back({rope, [&decoder, rope](std::size_t length) {
                                return rotation_of(rope, decoder.config(), length);
                              }});
  }
  {
    ProgressLine progress("losses");
    sweep.loss = experiments::study_loss(decoder, question,
                                         {o.common.threads, stop_token(), progress.callback()});
  }
  sweep.windows_begin = beginnings_of(question);
  measure_phases(o, sweep);
  add_schedules(sweep);
  return sweep;
}

// ---- telling --------------------------------------------------------------------------------

/// The lowest of the losses, where it is and what it gains.
struct Best {
  double multiplier;
  Estimate loss, change;
};

Best best_of(const Frame& loss, std::size_t first, std::size_t count) {
  const std::vector<Estimate>& losses = loss.variable("loss").cells;
  std::size_t best = first;
  for (std::size_t i = first; i < first + count; ++i) {
    if (losses[i].mean < losses[best].mean) best = i;
  }
  return {loss.dimension("multiplier").coordinates[best - first], losses[best],
          loss.variable("loss_change").cells[best]};
}

std::string sweep_text(const SweepVerb& o, const Sweep& sweep) {
  const std::vector<double>& multipliers = sweep.loss.dimension("multiplier").coordinates;
  const auto one = static_cast<std::size_t>(std::find(multipliers.begin(), multipliers.end(), 1.0) -
                                            multipliers.begin());
  Json records = Json::array();
  for (std::size_t i = 0; i < sweep.lengths.size(); ++i) {
    for (std::size_t k = 0; k < o.ropes.size(); ++k) {
      const std::size_t place = i * o.ropes.size() + k;
      const std::size_t first = place * multipliers.size();
      const Best best = best_of(sweep.loss, first, multipliers.size());
      records.push_back(
          {{"n", fmt::format("{}", sweep.lengths[i])},
           {"rope", o.ropes[k]},
           {"loss", short_text(sweep.loss.variable("loss").cells[first + one])},
           {"best", fmt::format("{:g}", best.multiplier)},
           {"gain", short_text(best.change)},
           {"iso", short_text(sweep.iso_phase.variable("iso_phase").cells[place])},
           {"dew", short_text(sweep.iso_phase.variable("dew_point").cells[place])},
           {"yarn",
            fmt::format("{:.3f}", sweep.schedules.variable("multiplier").cells[2 * i].mean)},
           {"logn",
            fmt::format("{:.3f}", sweep.schedules.variable("multiplier").cells[2 * i + 1].mean)}});
    }
  }
  return fmt::format("{}: loss of the last half of {} tokens and more, trained at {}\n",
                     o.checkpoint, sweep.lengths.front(), sweep.train_length) +
         to_text(records, {{"n", "n"},
                           {"rope", "rope", true},
                           {"loss", "loss at m = 1"},
                           {"best", "best m"},
                           {"gain", "change there"},
                           {"iso", "m of the same phase"},
                           {"dew", "β_dew of heads"},
                           {"yarn", "yarn m"},
                           {"logn", "log-n m"}}) +
         fmt::format("windows begin {}\n", sweep.windows_begin);
}

store::StudyRecord study_of(const SweepVerb& o, const Sweep& sweep, const std::string& command) {
  store::StudyRecord study = begin_study(kHeadsSweep, o.common.seed, command);
  study.parameters = {{"checkpoint", o.checkpoint},
                      {"text", o.text.text.empty() ? o.text.ids : o.text.text},
                      {"train_length", std::to_string(sweep.train_length)},
                      {"windows", sweep.windows_begin},
                      {"sequences", std::to_string(o.sequences)},
                      {"head_sequences", std::to_string(o.head_sequences)}};
  study.frames = {sweep.loss, sweep.iso_phase, sweep.schedules};
  return study;
}

Answer sweep_answer(const SweepVerb& o, const Program& program) {
  const OutputFile output(o.output.file, o.output.force);
  if (o.output.wanted()) require_study_place(output, kHeadsSweep);
  for (const std::string& figure : o.figures) {
    report::require_figure_places(output.beside(figure));
  }
  const Sweep sweep = measure(o);
  const store::StudyRecord study = study_of(o, sweep, program.command_line);
  if (o.output.wanted()) store::write_study(output, study);
  for (const std::string& figure : o.figures) {
    report::write_figure(report::figure_of_loss_sweep(study), output.beside(figure));
  }
  Answer answer;
  answer.text = sweep_text(o, sweep);
  if (o.output.wanted()) answer.text += fmt::format("study   {}\n", o.output.file);
  for (const std::string& figure : o.figures) answer.text += fmt::format("figure  {}\n", figure);
  answer.json = {{"experiment", kHeadsSweep},
                 {"version", version()},
                 {"seed", o.common.seed},
                 {"checkpoint", o.checkpoint},
                 {"train_length", sweep.train_length},
                 {"windows", sweep.windows_begin},
                 {"study", o.output.wanted() ? Json(o.output.file) : Json()},
                 {"loss", to_json(sweep.loss)},
                 {"iso_phase", to_json(sweep.iso_phase)},
                 {"schedules", to_json(sweep.schedules)}};
  return answer;
}

}  // namespace

Verb heads_sweep_verb() {
  return verb_of<SweepVerb>(
      "heads sweep", "Loss against a multiplier of the logits, beside the one that keeps the phase",
      "dewpoint heads sweep model.bin --text stories.txt --lengths 512,1024 -o sweep.study",
      sweep_answer);
}

}  // namespace dewpoint::cli
