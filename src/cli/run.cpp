// dewpoint run: a study from a file, on the threads of this machine or on the ranks of an MPI job;
// what is there already is not computed again.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "cli/console.hpp"
#include "cli/study_outputs.hpp"
#include "cli/study_record.hpp"
#include "cli/study_run.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/mpi_workers.hpp"
#include "dewpoint/studies/runner.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "dewpoint/studies/template_text.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunVerb {
  std::string file;
  std::vector<std::string> overrides;  // key=value
  std::string output;                  // empty: what the study says
  std::optional<std::uint64_t> seed;   // none: what the study says
  int threads = 0;
  bool replace = false;
  bool repair = false;
  bool dry_run = false;
  bool force = false;
  std::string template_of;  // experiment whose study file is to be printed
  bool json = false;
};

std::vector<std::string> experiment_words() {
  std::vector<std::string> words;
  for (const studies::Experiment* one : studies::experiments()) words.push_back(one->name());
  return words;
}

template <class Visitor>
void describe(Visitor& visit, RunVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("study", q.file, positional, file("toml"), "study file (TOML)");
  visit("template", q.template_of, one_of(experiment_words()),
        "print a study file of this experiment, with every parameter, to begin with");
  visit("set", q.overrides, letter('S'),
        "key=value over the file: replicas=4, grid.n=[64,128]; several if wanted");
  visit("output", q.output, letter('o'), file("study"),
        "file of the results, instead of outputs.study; continued");
  visit("seed", q.seed, as_seed, "seed, instead of the file's; random: a fresh one");
  visit("threads", q.threads, in(0.0, 4096.0),
        "threads (of every rank), 0 for all (under MPI: one); never changes a result");
  visit("replace", q.replace,
        "delete finished cells of the file that hold other observables than this study");
  visit("repair", q.repair, "compute cells again that are damaged in the file");
  visit("dry-run", q.dry_run,
        "only say what would be computed and, from a few points, how long it would take");
  describe_force(visit, q.force);
  describe_json(visit, q.json);
}

studies::StudyText study_of(const RunVerb& o) {
  studies::StudyText study = studies::read_study_text(o.file, o.overrides);
  if (!o.output.empty()) study.study = o.output;
  if (o.seed) study.seed = *o.seed;
  require_study_place({study.study, o.force});
  require_output_places(study, o.force);
  return study;
}

// ------------------------------------------------------------------------------------- dry run

std::string cost_text(const studies::CostEstimate& cost, int threads) {
  const std::string more = cost.at_least ? "at least " : "about ";
  return fmt::format(
      "{} cells, {} of them to compute, {} replica(s)\n"
      "{}{} of work on one thread ({} to {} by the {} point(s) that were timed), {} on {}\n",
      cost.cells, cost.missing, cost.replicas, more, duration_text(cost.seconds),
      duration_text(cost.low), duration_text(cost.high), cost.measured,
      duration_text(cost.seconds / threads), threads);
}

int estimate(const RunVerb& o) {
  const studies::StudyText study = study_of(o);
  const studies::Experiment& experiment = studies::experiment_named(study.experiment);
  const studies::CostEstimate cost = studies::estimate_cost(
      study, experiment, store::read_cells_if_present(study.study), 2.0, stop_token());
  if (!o.replace) store::expect_form_if_present(study.study, cost.form);
  const int threads =
      o.threads > 0 ? o.threads : static_cast<int>(std::thread::hardware_concurrency());
  if (!o.json) {
    fmt::print("{}\n{}Nothing was kept. The same command without --dry-run runs it.\n",
               studies::effective_text(study), cost_text(cost, threads));
    return 0;
  }
  const Json out = {{"study", study.study},
                    {"experiment", study.experiment},
                    {"cells", cost.cells},
                    {"missing", cost.missing},
                    {"replicas", cost.replicas},
                    {"timed_points", cost.measured},
                    {"work_seconds", cost.seconds},
                    {"work_seconds_low", cost.low},
                    {"work_seconds_high", cost.high},
                    {"at_least", cost.at_least},
                    {"threads", threads},
                    {"effective", studies::effective_text(study)}};
  fmt::print("{}\n", out.dump());
  return 0;
}

// ----------------------------------------------------------------------------------------- run

void print_outcome(const studies::StudyText& study, const studies::RunOutcome& outcome,
                   const Files& files) {
  fmt::print("{} cells: {} finished, {} computed now, {} found ({} replica(s), {} of work)\n",
             outcome.planned, outcome.finished, outcome.computed, outcome.reused, outcome.replicas,
             duration_text(outcome.seconds));
  if (outcome.outdated > 0) {
    fmt::print(
        "{} of them were there from an earlier version, whose random numbers or formulas "
        "differ: computed again, the old ones stay in the file\n",
        outcome.outdated);
  }
  fmt::print("study   {}\n", study.study);
  for (const std::string& file : files.exports) fmt::print("export  {}\n", file);
  for (const std::string& file : files.figures) fmt::print("figure  {}\n", file);
}

Json outcome_json(const studies::StudyText& study, const studies::RunOutcome& outcome,
                  const Files& files) {
  return {{"study", study.study},
          {"experiment", study.experiment},
          {"version", version()},
          {"seed", study.seed},
          {"planned", outcome.planned},
          {"finished", outcome.finished},
          {"computed", outcome.computed},
          {"reused", outcome.reused},
          {"outdated", outcome.outdated},
          {"replicas", outcome.replicas},
          {"work_seconds", outcome.seconds},
          {"stopped", outcome.stopped},
          {"exports", files.exports},
          {"figures", files.figures}};
}

int finish(const RunVerb& o, const studies::StudyText& study, const studies::RunOutcome& outcome,
           const std::string& command) {
  const Files files = outcome.stopped ? Files{} : write_outputs(study, o.force);
  if (o.json) {
    fmt::print("{}\n", outcome_json(study, outcome, files).dump());
  } else if (!outcome.stopped) {
    print_outcome(study, outcome, files);
  }
  return outcome.stopped ? say_interrupted(study, outcome, command) : 0;
}

studies::RunOptions run_options(const RunVerb& o) {
  studies::RunOptions options;
  options.replace = o.replace;
  options.repair = o.repair;
  options.force = o.force;
  return options;
}

int run_here(const RunVerb& o, const std::string& command) {
  const studies::StudyText study = study_of(o);
  return finish(o, study, run_on_threads(study, o.threads, command, run_options(o)), command);
}

// ----------------------------------------------------------------------------------------- MPI

// Ranks other than 0 know the study by what rank 0 tells them: an empty text means that there is
// none, because the file was refused.
int serve(studies::MpiJob& job, const RunVerb& o) {
  const std::string text = job.share({});
  if (text.empty()) return 0;
  const studies::StudyText study = studies::parse_study_text(text, o.file);
  job.serve(studies::experiment_named(study.experiment), study.seed, o.threads, stop_token());
  return 0;
}

int lead(studies::MpiJob& job, const RunVerb& o, const std::string& command) {
  studies::StudyText study;
  try {
    study = study_of(o);
  } catch (...) {
    (void)job.share({});
    throw;
  }
  (void)job.share(studies::effective_text(study));
  const auto workers =
      job.workers(studies::experiment_named(study.experiment), study.seed, o.threads);
  return finish(o, study, cli::run_recorded(study, *workers, command, run_options(o)), command);
}

int run_on_ranks(const RunVerb& o, const std::string& command) {
  studies::MpiJob job;
  return job.rank() == 0 ? lead(job, o, command) : serve(job, o);
}

int run_study(const RunVerb& o, const Program& program) {
  if (!o.template_of.empty()) {
    fmt::print("{}", studies::template_text(studies::experiment_named(o.template_of)));
    return 0;
  }
  if (o.file.empty()) {
    throw Error(Code::bad_value,
                "study: no file was named; dewpoint run --template phase writes one");
  }
  if (o.dry_run) return estimate(o);
  const std::string& command = program.command_line;
  return studies::under_mpi() ? run_on_ranks(o, command) : run_here(o, command);
}

}  // namespace

Verb run_verb() {
  return verb_of<RunVerb>(
      "run", "A study from a TOML file; what it has already is kept, so that run again continues",
      "dewpoint run --template phase > phase.toml && dewpoint run phase.toml", run_study);
}

}  // namespace dewpoint::cli
