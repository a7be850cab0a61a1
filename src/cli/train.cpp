// dewpoint train: a one-layer transformer learns a Markov chain, through focus and dilution; a
// larger one a text (train_corpus.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "cli/train_corpus.hpp"
#include "cli/train_resume.hpp"
#include "cli/train_text.hpp"
#include "cli/train_watch.hpp"
#include "cli/verbs.hpp"
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

struct ChainVerb {
  TrainQuestion question;
  std::size_t seeds = 1;
  question::Grid moments = {"stages"};
  RunFiles files;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, ChainVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.question);
  visit("seeds", q.seeds, in(1.0, 1e5), "runs that differ in data and weights, as a table");
  visit("moments", q.moments, suggest({"stages", "none"}),
        "times at which weights and cosines are kept: stages, none, or a list");
  describe(visit, q.files);
  describe(visit, q.common);
}

/// The verb, and what is given of its question.
struct ChainCommand : ChainVerb {
  question::Point asked;
  std::vector<std::string> given;  // names of that, and seed where it is given
};

// ---- options ------------------------------------------------------------------------------------

// Makes the field of a chain that of both: the wider range, and the default of a text where it is
// another.
void join(Field& field, const Field& of_text) {
  field.range.least = std::min(field.range.least, of_text.range.least);
  field.range.most = std::max(field.range.most, of_text.range.most);
  const auto* standard = of_text.standard ? std::get_if<double>(&*of_text.standard) : nullptr;
  if (standard == nullptr || field.standard == of_text.standard) return;
  if (question::number_in(field.otherwise.substr(0, field.otherwise.find(';'))) == *standard)
    return;
  field.otherwise += fmt::format("; {} for a text", question::short_text(*standard));
}

/// What a chain can be asked and what a text can be asked: what both have is one option, which each
/// reads with its own range and default. Options of a text have their own part of the help.
const std::vector<Field>& train_fields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all = question::fields_of<ChainVerb>();
    for (const Field& field : question::fields_of<CorpusVerb>()) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Field& one) { return one.name == field.name; });
      if (same == all.end()) {
        all.push_back(field);
        all.back().group = "With --corpus";
      } else {
        join(*same, field);
      }
    }
    return all;
  }();
  return fields;
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
Training asked_of(const ChainCommand& o) {
  experiments::refuse_idle(o.question);
  return training_of(o.question, o.common.seed);
}

Job begin(const ChainCommand& o) {
  Job job{asked_of(o), nullptr, o.files.output, false};
  const bool kept = !o.files.output.empty() || !o.files.figures.empty();
  job.stages = kept && o.moments.text == "stages";
  if (!job.stages && o.moments.text != "none" && o.moments.text != "stages") {
    job.question.run.moments = parse_grid("moments", o.moments.text);
    experiments::check(job.question.run);
  }
  job.run = std::make_unique<TrainingRun>(job.question.run, 0,
                                          RunContext{o.common.threads, stop_token(), {}});
  return job;
}

/// As the study says, with the new end.
Training resumed(const ChainCommand& o, const store::StudyRecord& study) {
  const TrainQuestion asked = chain_question_from(study, o.files.resume, o.asked);
  training::Chain chain = chain_from(study, asked.chain.chain);
  const TrainQuestion complete = resolved(asked, chain);
  return training_of(complete, std::move(chain), study.seed);
}

Job begin_again(const ChainCommand& o) {
  require_free(o.given, {"steps", "time"}, o.files.resume, "--steps or --time");
  if (o.moments.text != "stages" && o.moments.text != "none") {
    throw Error(Code::bad_value,
                fmt::format("moments: '{}' is not for a resumed run; allowed: stages, none",
                            o.moments.text));
  }
  const store::StudyRecord study = store::read_study(o.files.resume);
  if (study.experiment != kTrain) {
    throw Error(Code::bad_value, fmt::format("resume: '{}' holds {}, not a training run",
                                             o.files.resume, study.experiment));
  }
  if (!has_attachment(study, "state")) {
    throw Error(Code::bad_value,
                fmt::format("resume: '{}' holds no state to go on from, but a run that diverged or "
                            "several runs",
                            o.files.resume));
  }
  Job job{resumed(o, study), nullptr, o.files.output.empty() ? o.files.resume : o.files.output,
          false};
  const experiments::TrainingQuestion& asked = job.question.run;
  const bool flow = asked.optimiser == experiments::Optimiser::flow;
  job.stages = o.moments.text == "stages";
  job.run = std::make_unique<TrainingRun>(asked, 0, RunContext{o.common.threads, stop_token(), {}});
  job.run->restore(study);
  if (asked.until < job.run->time()) {
    throw Error(Code::bad_value,
                fmt::format("{}: {:g} is not beyond the {:g} that '{}' has reached",
                            flow ? "time" : "steps", asked.until, job.run->time(), o.files.resume));
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

Answer finish(const ChainCommand& o, const Job& job, const std::string& command) {
  const training::Stages stages =
      training::find_stages(job.run->records(), job.question.thresholds);
  Answer answer = train_answer(job.question, *job.run, stages);
  const store::StudyRecord study = train_study(job.question, *job.run, stages, command);
  answer.frames = study.frames;
  if (!job.file.empty()) {
    store::write_study({job.file, o.files.force}, study);
    answer.json["study"] = job.file;
    answer.text += fmt::format("study   {}\n", job.file);
  }
  if (!o.files.figures.empty()) {
    answer.json["figures"] =
        draw_figures(report::training_figures(), study, {o.files.figures, o.files.force});
    for (const Json& file : answer.json["figures"]) {
      answer.text += fmt::format("figure  {}\n", file.get<std::string>());
    }
  }
  return answer;
}

Answer run_one(const ChainCommand& o, const std::string& command) {
  Job job = o.files.resume.empty() ? begin(o) : begin_again(o);
  if (!job.file.empty()) require_study_place({job.file, o.files.force}, kTrain);
  if (!o.files.figures.empty())
    make_own_folder({o.files.figures, o.files.force}, report::figure_folder_kind());
  Keeper keeper([&] { keep_run(job, o.files.force, command); });
  LiveView view(o.files.live);
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

Answer run_seeds(const ChainCommand& o, const std::string& command) {
  if (!o.files.resume.empty() || !o.files.figures.empty() || o.files.live) {
    throw Error(Code::bad_value,
                "seeds: more than one run can be neither resumed, drawn nor watched; leave out "
                "--resume, --figures and --live");
  }
  if (!o.files.output.empty()) require_study_place({o.files.output, o.files.force}, kTrain);
  const Training question = asked_of(o);
  std::vector<experiments::TrainingNumbers> numbers;
  {
    ProgressLine progress("train");
    numbers = experiments::train_replicas(question.run, question.thresholds, o.seeds,
                                          {o.common.threads, stop_token(), progress.callback()});
  }
  const Frame runs = experiments::runs_frame(numbers);
  Answer answer = seeds_answer(question, runs);
  answer.frames = {runs};
  if (!o.files.output.empty()) {
    store::StudyRecord study = begin_study(kTrain, question.run.seed, command);
    study.parameters = experiments::stored_parameters(question.asked);
    study.frames = {runs};
    store::write_study({o.files.output, o.files.force}, study);
    answer.json["study"] = o.files.output;
    answer.text += fmt::format("study   {}\n", o.files.output);
  }
  return answer;
}

// ---- a chain or a text --------------------------------------------------------------------------

/// What is given of a question of a verb.
template <class Question, class Command>
void read_given(const QuestionOptions& options, Command& command) {
  const auto& fields = question::fields_of<Question>();
  command.asked = options.asked(fields).first_point();
  for (const std::string& name : options.given()) {
    const bool is_its_own = name == "seed" || find_field(fields, name) != nullptr;
    if (is_its_own) command.given.push_back(name);
  }
}

Answer run_text(const QuestionOptions& options, const Program& program) {
  const auto& fields = question::fields_of<CorpusVerb>();
  options.refuse_others(fields, "is for a chain, not for a text; leave it out");
  CorpusCommand command{options.asked(fields).first<CorpusVerb>(), {}, {}};
  read_given<TrainTextQuestion>(options, command);
  return train_on_text(command, program.command_line);
}

Answer run_chain(const QuestionOptions& options, const Program& program) {
  const auto& fields = question::fields_of<ChainVerb>();
  options.refuse_others(fields, "is for a text; name one with --corpus");
  ChainCommand o{options.asked(fields).first<ChainVerb>(), {}, {}};
  read_given<TrainQuestion>(options, o);
  return o.seeds == 1 ? run_one(o, program.command_line) : run_seeds(o, program.command_line);
}

Answer run_either(const QuestionOptions& options, const Program& program) {
  const std::vector<std::string> given = options.given();
  const auto is_given = [&](const char* name) { return std::ranges::count(given, name) > 0; };
  const auto file = options.asked(question::fields_of<RunFiles>()).first<RunFiles>().resume;
  const bool is_about_text = is_given("corpus") || (!file.empty() && is_run_on_text(file));
  return is_about_text ? run_text(options, program) : run_chain(options, program);
}

}  // namespace

Verb train_verb() {
  return verb_of("train",
                 "Training of attention on a chain or on a text: stages, focus and dilution",
                 "dewpoint train -o run.study --figures figures\n"
                 "  dewpoint train --optimiser flow --time 100\n"
                 "  dewpoint train --chain cycle --steps 1500 --seeds 4\n"
                 "  dewpoint train --corpus text.txt --vocabulary 1000 --residual -o text.study",
                 train_fields(), run_either);
}

}  // namespace dewpoint::cli
