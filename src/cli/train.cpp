// dewpoint train: a one-layer transformer learns a Markov chain, through focus and dilution; a
// larger one a text (train_corpus.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <variant>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/query_keys.hpp"
#include "cli/question_options.hpp"
#include "cli/study_record.hpp"
#include "cli/train_corpus.hpp"
#include "cli/train_resume.hpp"
#include "cli/train_text.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/training_figures.hpp"
#include "dewpoint/report/training_screen.hpp"

namespace dewpoint::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using experiments::kTrain;
using experiments::Training;
using experiments::TrainingRun;
using experiments::TrainQuestion;

struct TrainCommand {
  CommonOptions common;
  std::optional<QuestionOptions> question;
  CorpusOptions text;
  double seeds = 1.0;
  std::string moments = "stages";
  std::string output;
  std::string figures;
  std::string resume;
  bool live = false;
  bool force = false;
  std::vector<const CLI::Option*> question_options;  // what --resume takes from the file
  std::vector<const CLI::Option*> chain_options, text_options, shared_options;
};

// ---- the study ----------------------------------------------------------------------------------

/// Keeps a run that is under way in its file, so that whatever happens little is lost.
class Keeper {
 public:
  Keeper(const Training& question, const TrainingRun& run, OutputFile file, std::string command)
      : question_(question), run_(run), file_(std::move(file)), command_(std::move(command)) {}

  void keep() {
    if (file_.path.empty() || run_.records().empty()) return;
    const training::Stages stages = training::find_stages(run_.records(), question_.thresholds);
    store::write_study(file_, train_study(question_, run_, stages, command_));
    last_ = Clock::now();
  }
  void keep_sometimes() {
    if (Clock::now() - last_ > kInterval) keep();
  }

 private:
  static constexpr std::chrono::seconds kInterval{30};
  const Training& question_;
  const TrainingRun& run_;
  OutputFile file_;
  std::string command_;
  Clock::time_point last_ = Clock::now();
};

// ---- the live view ------------------------------------------------------------------------------

/// Redraws itself in place, at most ten times a second.
class LiveView {
 public:
  explicit LiveView(bool wanted)
      : on_(wanted && isatty(STDOUT_FILENO) == 1), size_(terminal_size()) {
    if (wanted && !on_) tell("dewpoint: --live needs a terminal; going on without");
  }

  void show(std::span<const training::Record> records) {
    if (!on_ || Clock::now() - last_ < kInterval) return;
    last_ = Clock::now();
    const Frame frame = training::trajectory_frame(thinned(records));
    fmt::print("\033[H\033[2J{}", report::training_screen(frame, size_.columns, size_.rows - 1));
    std::fflush(stdout);
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::size_t kMostRecords = 200;

  /// A view needs no more records than the terminal has columns; the last one is always shown.
  static std::vector<training::Record> thinned(std::span<const training::Record> records) {
    const std::size_t stride = 1 + records.size() / kMostRecords;
    std::vector<training::Record> some;
    for (std::size_t i = 0; i < records.size(); i += stride) some.push_back(records[i]);
    if ((records.size() - 1) % stride != 0) some.push_back(records.back());
    return some;
  }

  bool on_;
  TerminalSize size_;
  Clock::time_point last_ = Clock::now() - kInterval;
};

// ---- one run ------------------------------------------------------------------------------------

void train(TrainingRun& run, Keeper& keeper, LiveView& view, int threads) {
  ProgressLine progress("train");
  const RunContext context{threads, stop_token(), progress.callback()};
  run.advance(context, [&](std::span<const training::Record> records) {
    view.show(records);
    keeper.keep_sometimes();
  });
}

std::vector<std::string> draw_figures(const store::StudyRecord& study, const OutputFile& folder) {
  std::vector<std::string> files;
  for (const report::TrainingFigure& figure : report::training_figures()) {
    const fs::path stem = folder.path / figure.name;
    report::Figure drawn = figure.figure_of(study);
    report::set_title(drawn, figure.title);
    std::visit([&](const auto& any) { draw(any, folder.beside(stem)); }, drawn);
    files.push_back(stem.string() + ".png");
    files.push_back(stem.string() + ".svg");
  }
  return files;
}

/// Checked. Throws Error{bad_value} naming the option.
Training asked_of(const TrainCommand& o) {
  const auto asked = o.question->asked().first<TrainQuestion>();
  experiments::refuse_idle(asked);
  return training_of(asked, o.common.seed);
}

struct Job {
  Training question;
  std::unique_ptr<TrainingRun> run;
  std::string file;     // empty: not kept
  bool stages = false;  // weights are wanted at the stages
};

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
  TrainQuestion asked = question_from(study, o.resume);
  const auto end = o.question->asked().first<TrainQuestion>();
  if (end.steps) asked.steps = end.steps;
  if (end.time) asked.time = end.time;
  training::Chain chain = chain_from(study, asked.chain.chain);
  const TrainQuestion complete = resolved(asked, chain);
  return training_of(complete, std::move(chain), study.seed);
}

Job begin_again(const TrainCommand& o) {
  for (const CLI::Option* option : o.question_options) {
    if (option->count() > 0) {
      throw Error(Code::bad_value,
                  fmt::format("resume: '{}' brings its own {}; only --steps or --time may be new",
                              o.resume, option->get_name()));
    }
  }
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
  const bool resumable =
      std::any_of(study.attachments.begin(), study.attachments.end(),
                  [](const store::Attachment& one) { return one.name == "state"; });
  if (!resumable) {
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
    answer.json["figures"] = draw_figures(study, {o.figures, o.force});
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
  Keeper keeper(job.question, *job.run, {job.file, o.force}, command);
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
    study.parameters = parameters_of(question.asked);
    study.frames = {runs};
    store::write_study({o.output, o.force}, study);
    answer.json["study"] = o.output;
    answer.text += fmt::format("study   {}\n", o.output);
  }
  return answer;
}

// ---- a chain or a text --------------------------------------------------------------------------

std::vector<const CLI::Option*> given_of(const std::vector<const CLI::Option*>& options) {
  std::vector<const CLI::Option*> given;
  std::copy_if(options.begin(), options.end(), std::back_inserter(given),
               [](const CLI::Option* option) { return option->count() > 0; });
  return given;
}

void refuse_any(const std::vector<const CLI::Option*>& options, const char* reason) {
  const auto given = given_of(options);
  if (given.empty()) return;
  throw Error(Code::bad_value, fmt::format("{}: {}", given.front()->get_name().substr(2), reason));
}

Answer run_text(const TrainCommand& o, const std::string& command) {
  refuse_any(o.chain_options, "is for a chain, not for a text; leave it out");
  std::vector<const CLI::Option*> given = given_of(o.text_options);
  for (const CLI::Option* option : given_of(o.shared_options)) given.push_back(option);
  const auto shared =
      o.question->asked(question::fields_of<SharedOptions>()).first<SharedOptions>();
  return train_on_text(
      {o.common, o.text, shared, o.output, o.figures, o.resume, o.live, o.force, given}, command);
}

Answer run_chain(const TrainCommand& o, const std::string& command) {
  refuse_any(o.text_options, "is for a text; name one with --corpus");
  return o.seeds == 1.0 ? run_one(o, command) : run_seeds(o, command);
}

// Every option of the question belongs to chains, to texts or to both.
void sort_options(const CLI::App& verb, TrainCommand& o) {
  const auto& shared = question::fields_of<SharedOptions>();
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    if (name == "--help") continue;
    const bool both = question::find_field(shared, name.substr(2)) != nullptr;
    (both ? o.shared_options : o.chain_options).push_back(option);
    if (name != "--steps" && name != "--time") o.question_options.push_back(option);
  }
}

}  // namespace

void add_train(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "train", "Training of attention on a chain or on a text: stages, focus and dilution");
  const auto o = std::make_shared<TrainCommand>();
  o->question.emplace(program, *verb, question::fields_of<TrainQuestion>());
  sort_options(*verb, *o);
  o->chain_options.push_back(
      verb->add_option("--seeds", o->seeds, "Runs that differ in data and weights, as a table")
          ->capture_default_str());
  o->chain_options.push_back(
      verb->add_option("--moments", o->moments,
                       "Times at which weights and cosines are kept: stages, none, or a list")
          ->capture_default_str());
  const std::size_t before = verb->get_options().size();
  o->text.add_to(*verb);
  const auto options = verb->get_options();
  o->text_options.assign(options.begin() + static_cast<std::ptrdiff_t>(before), options.end());
  verb->add_option("-o,--output", o->output, "Study file with everything that was recorded");
  verb->add_option("--figures", o->figures, "Folder for the figures");
  add_force(*verb, o->force);
  verb->add_option("--resume", o->resume,
                   "Goes on with the run of this study file, or of a checkpoint");
  verb->add_flag("--live", o->live, "Loss and attention in the terminal while it runs");
  add_common(*verb, o->common);
  o->question_options.push_back(verb->get_option("--seed"));
  o->shared_options.push_back(verb->get_option("--seed"));
  add_example(*verb,
              "dewpoint train -o run.study --figures figures\n"
              "  dewpoint train --optimiser flow --time 100\n"
              "  dewpoint train --chain cycle --steps 1500 --seeds 4\n"
              "  dewpoint train --corpus text.txt --vocabulary 1000 --residual -o text.study");
  verb->callback([&program, o] {
    set_answer(program, o->common.json, [&program, o] {
      return is_about_text(o->text, o->resume) ? run_text(*o, program.command_line)
                                               : run_chain(*o, program.command_line);
    });
  });
}

}  // namespace dewpoint::cli
