// dewpoint condense: softmax over up to 1e300 Gaussian scores, measured beside its theory.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/condense_text.hpp"
#include "cli/console.hpp"
#include "cli/predict_options.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/studies/condense_theory.hpp"

namespace dewpoint::cli {
namespace {

struct CondenseOptions {
  CommonOptions common;
  std::string n = "1e2,1e6,1e30";
  std::string loads = "0.2:3:15";
  std::string signals;
  std::string planted;
  double draws = 2000.0;
  double sigma = 1.0;
  double top = 0.0;
  double bound = 1e-3;
  double keys_dimension = 0.0;
  bool unscaled = false;
  std::string output;
  bool force = false;
  const CLI::Option* signal_option = nullptr;
  const CLI::Option* planted_option = nullptr;
  const CLI::Option* top_option = nullptr;
  const CLI::Option* keys_option = nullptr;
};

// A count that may be written as 2e4.
std::size_t whole(const char* field, double value, double least, double most) {
  require(value >= least && value <= most && value == std::floor(value), field, value,
          fmt::format("a whole number in [{}, {}]", least, most));
  return static_cast<std::size_t>(value);
}

experiments::Condense question_of(const CondenseOptions& o) {
  experiments::Condense question;
  question.n = parse_grid("n", o.n);
  question.loads = parse_grid("t", o.loads);
  if (o.signal_option->count() > 0) question.signals = parse_grid("signal", o.signals);
  if (o.planted_option->count() > 0) question.planted = parse_grid("planted", o.planted);
  question.deviation = o.sigma;
  question.draws = whole("draws", o.draws, 2.0, 1e7);
  if (o.top_option->count() > 0) question.top = whole("top", o.top, 1.0, 1e6);
  question.bound = o.bound;
  if (o.keys_option->count() > 0) {
    question.query_keys =
        experiments::QueryKeys{whole("keys-dimension", o.keys_dimension, 1.0, 1e6), !o.unscaled};
  }
  question.seed = o.common.seed;
  experiments::check(question);
  return question;
}

Json parameters_json(const experiments::Condense& q) {
  const auto& keys = q.query_keys;
  return {{"n", q.n},
          {"t", q.loads},
          {"sigma", q.deviation},
          {"signal", q.signals},
          {"planted", q.planted},
          {"draws", q.draws},
          {"top", q.top > 0 ? Json(q.top) : Json()},
          {"bound", q.top > 0 ? Json() : Json(q.bound)},
          {"keys_dimension", keys ? Json(keys->dimension) : Json()},
          {"scaled", keys ? Json(keys->scaled) : Json()}};
}

store::StudyRecord study_of(const experiments::Condense& question, int threads,
                            const std::string& command) {
  store::StudyRecord study = begin_study("condense", question.seed, command);
  const Json parameters = parameters_json(question);
  for (const auto& [name, value] : parameters.items()) {
    study.parameters.emplace_back(name, value.dump());
  }
  {
    ProgressLine progress("condense");
    study.frames.push_back(
        experiments::condense(question, {threads, stop_token(), progress.callback()}));
  }
  ProgressLine progress("theory");
  study.frames.push_back(
      studies::condense_theory(question, {threads, stop_token(), progress.callback()}));
  return study;
}

Answer condense_answer(const CondenseOptions& o, const std::string& command) {
  const experiments::Condense question = question_of(o);
  const OutputFile output(o.output, o.force);
  if (!o.output.empty()) require_study_place(output, "condense");
  const store::StudyRecord study = study_of(question, o.common.threads, command);
  if (!o.output.empty()) store::write_study(output, study);
  std::string text = condense_text(question, study.frames[0], study.frames[1]);
  if (!o.output.empty()) text += fmt::format("study   {}\n", o.output);
  return {{{"experiment", "condense"},
           {"version", version()},
           {"seed", question.seed},
           {"parameters", parameters_json(question)},
           {"study", o.output.empty() ? Json() : Json(o.output)},
           {"result", to_json(study.frames[0])},
           {"theory", to_json(study.frames[1])}},
          text,
          {},
          true};
}

void add_options(CLI::App& verb, CondenseOptions& o) {
  verb.add_option("--n", o.n, "Scores per query: a list, up to 1e300")->capture_default_str();
  verb.add_option("--t", o.loads, "Loads beta/beta_c: a list, or first:last:count[:log]")
      ->capture_default_str();
  verb.add_option("--draws", o.draws, "Rows of scores to average over")->capture_default_str();
  verb.add_option("--sigma", o.sigma, "Standard deviation of a score")->capture_default_str();
  CLI::Option* signal = verb.add_option("--signal", o.signals,
                                        "Plant a key of score s sigma sqrt(2 log N): a list of s");
  CLI::Option* planted =
      verb.add_option("--planted", o.planted, "Plant a key of this score: a list");
  CLI::Option* top =
      verb.add_option("--top", o.top, "Largest scores drawn one by one; default: see --bound");
  CLI::Option* bound =
      verb.add_option("--bound", o.bound, "Draw so many that the law of log Z is right to this")
          ->capture_default_str();
  CLI::Option* keys = verb.add_option(
      "--keys-dimension", o.keys_dimension,
      "Scores <q,k>/sqrt(d) of Gaussian keys and a Gaussian query, new per draw, in this d");
  verb.add_flag("--unscaled", o.unscaled, "Without the factor 1/sqrt(d)")->needs(keys);
  verb.add_option("-o,--output", o.output, "Study file");
  add_force(verb, o.force);
  planted->excludes(signal);
  top->excludes(bound);
  o.signal_option = signal;
  o.planted_option = planted;
  o.top_option = top;
  o.keys_option = keys;
}

}  // namespace

void add_condense(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "condense", "Softmax over up to 1e300 Gaussian scores: freezing, and finding a planted key");
  const auto o = std::make_shared<CondenseOptions>();
  add_options(*verb, *o);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint condense --n 1e2,1e6,1e30 --t 0.5,1,1.5,2 --signal 0.9,1.2");
  verb->callback([&program, o] {
    set_answer(program, o->common.json,
               [&program, o] { return condense_answer(*o, program.command_line); });
  });
}

}  // namespace dewpoint::cli
