// dewpoint train: a one-layer transformer learns a Markov chain, through focus and dilution; a
// larger one a text (train_corpus.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/query_keys.hpp"
#include "cli/question_options.hpp"
#include "cli/study_record.hpp"
#include "cli/train_corpus.hpp"
#include "cli/train_resume.hpp"
#include "cli/train_text.hpp"
#include "cli/train_watch.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/experiments/stored_question.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/training_figures.hpp"
#include "dewpoint/report/training_screen.hpp"

namespace dewpoint::cli {
namespace {

using experiments::kTrain;
using experiments::Training;
using experiments::TrainingRun;
using experiments::TrainQuestion;
using experiments::TrainTextQuestion;
using question::Field;

struct TrainCommand {
  CommonOptions common;
  std::optional<QuestionOptions> question;
  double seeds = 1.0;
  std::string moments = "stages";
  std::string checkpoint;
  std::string model;
  std::string output;
  std::string figures;
  std::string resume;
  bool live = false;
  bool force = false;
  const CLI::Option* seed = nullptr;
  std::vector<const CLI::Option*> of_chain, of_text;  // beside those of the questions

  /// Names of what is given of the question.
  [[nodiscard]] std::vector<std::string> given() const {
    std::vector<std::string> names = question->given();
    if (seed->count() > 0) names.emplace_back("seed");
    return names;
  }
};

// ---- options ------------------------------------------------------------------------------------

// Makes the field of a chain that of both: the wider range, and the default of a text where it is
// another.
void join(Field& field, const Field& of_text) {
  field.range.least = std::min(field.range.least, of_text.range.least);
  field.range.most = std::max(field.range.most, of_text.range.most);
  const auto* standard = of_text.standard ? std::get_if<double>(&*of_text.standard) : nullptr;
  if (standard == nullptr) return;
  if (question::number_in(field.otherwise.substr(0, field.otherwise.find(';'))) == *standard)
    return;
  field.otherwise += fmt::format("; {} for a text", question::short_text(*standard));
}

/// What a chain can be asked and what a text can be asked: what both have is one option, which each
/// reads with its own range and default.
const std::vector<Field>& train_fields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all = question::fields_of<TrainQuestion>();
    for (const Field& field : question::fields_of<TrainTextQuestion>()) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Field& one) { return one.name == field.name; });
      if (same == all.end()) {
        all.push_back(field);
      } else {
        join(*same, field);
      }
    }
    return all;
  }();
  return fields;
}

// Options of a text have their own part of the help.
void group_options(CLI::App& verb) {
  constexpr const char* kOfText = "With --corpus";
  for (const Field& field : question::fields_of<TrainTextQuestion>()) {
    if (find_field(question::fields_of<TrainQuestion>(), field.name) == nullptr) {
      verb.get_option("--" + field.name)->group(kOfText);
    }
  }
  for (const char* name : {"--checkpoint", "--model"}) verb.get_option(name)->group(kOfText);
}

// ---- one run ------------------------------------------------------------------------------------

struct Job {
  Training question;
  std::unique_ptr<TrainingRun> run;
  std::string file;     // empty: not kept
  bool stages = false;  // weights are wanted at the stages
};

void keep_run(const Job& job, bool force, const std::string& command) {
  if (job.file.empty() || job.run->records().empty()) return;
  const training::Stages stages =
      training::find_stages(job.run->records(), job.question.thresholds);
  store::write_study({job.file, force}, train_study(job.question, *job.run, stages, command));
}

/// A view needs no more records than the terminal has columns; the last one is always shown.
std::vector<training::Record> thinned(std::span<const training::Record> records) {
  constexpr std::size_t kMostRecords = 200;
  const std::size_t stride = 1 + records.size() / kMostRecords;
  std::vector<training::Record> some;
  for (std::size_t i = 0; i < records.size(); i += stride) some.push_back(records[i]);
  if ((records.size() - 1) % stride != 0) some.push_back(records.back());
  return some;
}

void train(TrainingRun& run, Keeper& keeper, LiveView& view, int threads) {
  ProgressLine progress("train");
  const RunContext context{threads, stop_token(), progress.callback()};
  const TerminalSize size = terminal_size();
  run.advance(context, [&](std::span<const training::Record> records) {
    view.show([&] {
      return report::training_screen(training::trajectory_frame(thinned(records)), size.columns,
                                     size.rows - 1);
    });
    keeper.keep_sometimes();
  });
}

/// Checked. Throws Error{bad_value} naming the option.
Training asked_of(const TrainCommand& o) {
  const auto asked = o.question->asked(question::fields_of<TrainQuestion>()).first<TrainQuestion>();
  experiments::refuse_idle(asked);
  return training_of(asked, o.common.seed);
}

Job begin(const TrainCommand& o) {
  Job job{asked_of(o), nullptr, o.output, false};
  const bool kept = !o.output.empty() || !o.figures.empty();
  job.stages = kept && o.moments == "stages";
  if (!job.stages && o.moments != "none" && o.moments != "stages") {
    job.question.run.moments = parse_grid("moments", o.moments);
    experiments::check(job.question.run);
  }
  job.run = std::make_unique<TrainingRun>(job.question.run, 0,
                                          RunContext{o.common.threads, stop_token(), {}});
  return job;
}

/// As the study says, with the new end.
Training resumed(const TrainCommand& o, const store::StudyRecord& study) {
  const TrainQuestion asked = chain_question_from(
      study, o.resume, o.question->asked(question::fields_of<TrainQuestion>()).first_point());
  training::Chain chain = chain_from(study, asked.chain.chain);
  const TrainQuestion complete = resolved(asked, chain);
  return training_of(complete, std::move(chain), study.seed);
}

Job begin_again(const TrainCommand& o) {
  require_free(o.given(), {"steps", "time"}, o.resume, "--steps or --time");
  if (o.moments != "stages" && o.moments != "none") {
    throw Error(
        Code::bad_value,
        fmt::format("moments: '{}' is not for a resumed run; allowed: stages, none", o.moments));
  }
  const store::StudyRecord study = store::read_study(o.resume);
  if (study.experiment != kTrain) {
    throw Error(Code::bad_value, fmt::format("resume: '{}' holds {}, not a training run", o.resume,
                                             study.experiment));
  }
  if (!has_attachment(study, "state")) {
    throw Error(Code::bad_value,
                fmt::format("resume: '{}' holds no state to go on from, but a run that diverged or "
                            "several runs",
                            o.resume));
  }
  Job job{resumed(o, study), nullptr, o.output.empty() ? o.resume : o.output, false};
  const experiments::TrainingQuestion& asked = job.question.run;
  const bool flow = asked.optimiser == experiments::Optimiser::flow;
  job.stages = o.moments == "stages";
  job.run = std::make_unique<TrainingRun>(asked, 0, RunContext{o.common.threads, stop_token(), {}});
  job.run->restore(study);
  if (asked.until < job.run->time()) {
    throw Error(Code::bad_value,
                fmt::format("{}: {:g} is not beyond the {:g} that '{}' has reached",
                            flow ? "time" : "steps", asked.until, job.run->time(), o.resume));
  }
  return job;
}

Error interrupted(const Job& job, Keeper& keeper) {
  keeper.keep();
  const std::string where = job.file.empty()
                                ? "nothing was written; with -o FILE it could be gone on with"
                                : fmt::format("go on with: dewpoint train --resume {}", job.file);
  return {Code::stopped, fmt::format("interrupted at {:g}; {}", job.run->time(), where)};
}

Answer finish(const TrainCommand& o, const Job& job, const std::string& command) {
  const training::Stages stages =
      training::find_stages(job.run->records(), job.question.thresholds);
  Answer answer = train_answer(job.question, *job.run, stages);
  const store::StudyRecord study = train_study(job.question, *job.run, stages, command);
  answer.frames = study.frames;
  if (!job.file.empty()) {
    store::write_study({job.file, o.force}, study);
    answer.json["study"] = job.file;
    answer.text += fmt::format("study   {}\n", job.file);
  }
  if (!o.figures.empty()) {
    answer.json["figures"] = draw_figures(report::training_figures(), study, {o.figures, o.force});
    for (const Json& file : answer.json["figures"]) {
      answer.text += fmt::format("figure  {}\n", file.get<std::string>());
    }
  }
  return answer;
}

Answer run_one(const TrainCommand& o, const std::string& command) {
  Job job = o.resume.empty() ? begin(o) : begin_again(o);
  if (!job.file.empty()) require_study_place({job.file, o.force}, kTrain);
  if (!o.figures.empty()) make_own_folder({o.figures, o.force}, report::figure_folder_kind());
  Keeper keeper([&] { keep_run(job, o.force, command); });
  LiveView view(o.live);
  try {
    train(*job.run, keeper, view, o.common.threads);
    if (job.stages && !job.run->diverged()) {
      job.run->revisit(training::find_stages(job.run->records(), job.question.thresholds),
                       {o.common.threads, stop_token(), {}});
    }
  } catch (const Error& error) {
    if (error.code() != Code::stopped) throw;
    throw interrupted(job, keeper);
  }
  if (job.run->diverged()) {
    keeper.keep();
    throw experiments::divergence(job.question.run, *job.run);
  }
  return finish(o, job, command);
}

// ---- many runs ----------------------------------------------------------------------------------

Answer run_seeds(const TrainCommand& o, const std::string& command) {
  if (!o.resume.empty() || !o.figures.empty() || o.live) {
    throw Error(Code::bad_value,
                "seeds: more than one run can be neither resumed, drawn nor watched; leave out "
                "--resume, --figures and --live");
  }
  if (!o.output.empty()) require_study_place({o.output, o.force}, kTrain);
  const Training question = asked_of(o);
  const std::size_t count = whole_number("seeds", o.seeds, 1.0, 1e5);
  std::vector<experiments::TrainingNumbers> numbers;
  {
    ProgressLine progress("train");
    numbers = experiments::train_replicas(question.run, question.thresholds, count,
                                          {o.common.threads, stop_token(), progress.callback()});
  }
  const Frame runs = experiments::runs_frame(numbers);
  Answer answer = seeds_answer(question, runs);
  answer.frames = {runs};
  if (!o.output.empty()) {
    store::StudyRecord study = begin_study(kTrain, question.run.seed, command);
    study.parameters = experiments::stored_parameters(question.asked);
    study.frames = {runs};
    store::write_study({o.output, o.force}, study);
    answer.json["study"] = o.output;
    answer.text += fmt::format("study   {}\n", o.output);
  }
  return answer;
}

// ---- a chain or a text --------------------------------------------------------------------------

// Options that a chain has and a text has not, or the other way round.
void refuse_foreign(const TrainCommand& o, const std::vector<Field>& fields,
                    const std::vector<const CLI::Option*>& others, const char* reason) {
  std::vector<std::string> foreign;
  for (const std::string& name : o.question->given()) {
    if (find_field(fields, name) == nullptr) foreign.push_back(name);
  }
  for (const CLI::Option* option : others) {
    if (option->count() > 0) foreign.push_back(option->get_name().substr(2));
  }
  if (foreign.empty()) return;
  throw Error(Code::bad_value, fmt::format("{}: {}", foreign.front(), reason));
}

Answer run_text(const TrainCommand& o, const std::string& command) {
  const auto& fields = question::fields_of<TrainTextQuestion>();
  refuse_foreign(o, fields, o.of_chain, "is for a chain, not for a text; leave it out");
  return train_on_text({o.common, o.question->asked(fields).first_point(), o.given(), o.checkpoint,
                        o.model, o.output, o.figures, o.resume, o.live, o.force},
                       command);
}

Answer run_chain(const TrainCommand& o, const std::string& command) {
  refuse_foreign(o, question::fields_of<TrainQuestion>(), o.of_text,
                 "is for a text; name one with --corpus");
  return o.seeds == 1.0 ? run_one(o, command) : run_seeds(o, command);
}

bool is_about_text(const TrainCommand& o) {
  const std::vector<std::string> given = o.question->given();
  return std::find(given.begin(), given.end(), "corpus") != given.end() ||
         (!o.resume.empty() && is_run_on_text(o.resume));
}

}  // namespace

void add_train(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "train", "Training of attention on a chain or on a text: stages, focus and dilution");
  const auto o = std::make_shared<TrainCommand>();
  o->question.emplace(program, *verb, train_fields());
  o->of_chain = {
      verb->add_option("--seeds", o->seeds, "Runs that differ in data and weights, as a table")
          ->capture_default_str(),
      verb->add_option("--moments", o->moments,
                       "Times at which weights and cosines are kept: stages, none, or a list")
          ->capture_default_str()};
  o->of_text = {
      verb->add_option("--checkpoint", o->checkpoint,
                       "File (.safetensors) for weights and moments, every 30 s and at the end"),
      verb->add_option("--model", o->model, "Folder for the trained model, for dewpoint heads")};
  group_options(*verb);
  verb->add_option("-o,--output", o->output, "Study file with everything that was recorded");
  verb->add_option("--figures", o->figures, "Folder for the figures");
  add_force(*verb, o->force);
  verb->add_option("--resume", o->resume,
                   "Goes on with the run of this study file, or of a checkpoint");
  verb->add_flag("--live", o->live, "Loss and attention in the terminal while it runs");
  add_common(*verb, o->common);
  o->seed = verb->get_option("--seed");
  add_example(*verb,
              "dewpoint train -o run.study --figures figures\n"
              "  dewpoint train --optimiser flow --time 100\n"
              "  dewpoint train --chain cycle --steps 1500 --seeds 4\n"
              "  dewpoint train --corpus text.txt --vocabulary 1000 --residual -o text.study");
  verb->callback([&program, o] {
    set_answer(program, o->common.json, [&program, o] {
      return is_about_text(*o) ? run_text(*o, program.command_line)
                               : run_chain(*o, program.command_line);
    });
  });
}

}  // namespace dewpoint::cli
