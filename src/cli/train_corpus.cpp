#include "cli/train_corpus.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <variant>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "cli/text_checkpoint.hpp"
#include "cli/train_corpus_text.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/terminal_figure.hpp"
#include "dewpoint/report/text_training_figures.hpp"

namespace dewpoint::cli {
namespace {

namespace fs = std::filesystem;
using experiments::TextQuestion;
using experiments::TextRun;
using TextClock = std::chrono::steady_clock;

constexpr const char* kTextExperiment = "train text";

// ---- files --------------------------------------------------------------------------------------

store::StudyRecord text_study(const TextRun& run, const std::string& command_line) {
  store::StudyRecord study = begin_study(kTextExperiment, run.question().seed, command_line);
  study.parameters = text_parameters_of(run.question());
  study.frames = experiments::text_frames(run);
  study.attachments = run.attachments();
  return study;
}

/// Keeps a run that is under way, so that whatever happens little is lost.
class TextKeeper {
 public:
  TextKeeper(const TextRun& run, OutputFile study, OutputFile checkpoint, std::string command)
      : run_(run),
        study_(std::move(study)),
        checkpoint_(std::move(checkpoint)),
        command_(std::move(command)) {}

  void keep() {
    if (run_.looks().empty()) return;
    if (!study_.path.empty()) store::write_study(study_, text_study(run_, command_));
    if (!checkpoint_.path.empty()) write_checkpoint(checkpoint_, run_);
    last_ = TextClock::now();
  }
  void keep_sometimes() {
    if (TextClock::now() - last_ > kInterval) keep();
  }

 private:
  static constexpr std::chrono::seconds kInterval{30};
  const TextRun& run_;
  OutputFile study_;
  OutputFile checkpoint_;
  std::string command_;
  TextClock::time_point last_ = TextClock::now();
};

// ---- while it runs ------------------------------------------------------------------------------

std::string losses_note(const TextRun& run) {
  const experiments::TextNumbers numbers = experiments::text_numbers(run.looks());
  std::string note = fmt::format(", {:.3g} tokens/s", run.tokens_per_second());
  if (!std::isnan(numbers.final_loss)) note += fmt::format(", loss {:.4f}", numbers.final_loss);
  if (!std::isnan(numbers.validation_loss)) {
    note += fmt::format(", validation {:.4f}", numbers.validation_loss);
  }
  return note;
}

/// Losses and attention in the terminal, redrawn in place, at most ten times a second.
class TextView {
 public:
  explicit TextView(bool wanted) : on_(wanted && isatty(STDOUT_FILENO) == 1) {
    if (wanted && !on_) tell("dewpoint: --live needs a terminal; going on without");
  }

  void show(const TextRun& run) {
    if (!on_ || run.looks().size() < 2 || TextClock::now() - last_ < kInterval) return;
    last_ = TextClock::now();
    store::StudyRecord study;
    study.frames = experiments::text_frames(run);
    report::LineFigure figure = report::figure_of_text_run(study);
    figure.panels.resize(2);
    figure.caption = fmt::format("step {}{}", run.done(), losses_note(run));
    fmt::print("\033[H\033[2J{}", report::terminal_text(figure, terminal_style()));
    std::fflush(stdout);
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{100};
  bool on_;
  TextClock::time_point last_ = TextClock::now() - kInterval;
};

void train_text(TextRun& run, TextKeeper& keeper, TextView& view, int threads) {
  ProgressLine line("train");
  const auto before = static_cast<double>(run.done());
  const Progress tell = line.callback();
  const RunContext context{threads, stop_token(),
                           [&](double done, double total) { tell(done - before, total - before); }};
  run.advance(context, [&](const TextRun& now) {
    line.set_note(losses_note(now));
    view.show(now);
    keeper.keep_sometimes();
  });
}

// ---- one run ------------------------------------------------------------------------------------

struct TextJob {
  std::unique_ptr<TextRun> run;
  std::string study;       // empty: not kept
  std::string checkpoint;  // empty: not kept
};

std::unique_ptr<TextRun> run_of(const TextQuestion& question) {
  auto corpus = std::make_shared<const text::Corpus>(
      text::read_corpus(question.corpus, experiments::least_tokens(question)));
  return std::make_unique<TextRun>(question, std::move(corpus), 0);
}

void require_new(const CorpusCommand& command) {
  const std::vector<std::string> free = {"--corpus",         "--steps",      "--record-every",
                                         "--validate-every", "--checkpoint", "--model"};
  for (const CLI::Option* option : command.given) {
    const std::string name = option->get_name();
    if (std::find(free.begin(), free.end(), name) != free.end()) continue;
    throw Error(Code::bad_value,
                fmt::format("resume: '{}' brings its own {}; only --steps, --record-every, "
                            "--validate-every and the place of --corpus may be new",
                            command.resume, name));
  }
}

TextQuestion resumed_question(const CorpusCommand& command, const store::StudyRecord& study) {
  require_new(command);
  TextQuestion question = text_question_from(study, command.resume);
  if (!command.text.corpus.empty()) question.corpus.file = command.text.corpus;
  take_text_steps(question, command.text, command.shared);
  return question;
}

/// A refusal that names the file it is about.
void restore(TextRun& run, const store::StudyRecord& study, const std::string& file) {
  try {
    run.restore(study);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("resume: '{}': {}", file, error.what()));
  }
  if (run.question().steps >= run.done()) return;
  throw Error(Code::bad_value, fmt::format("steps: {} is not beyond the {} that '{}' has reached",
                                           run.question().steps, run.done(), file));
}

TextJob begin_from_study(const CorpusCommand& command) {
  const store::StudyRecord study = store::read_study(command.resume);
  if (study.experiment != kTextExperiment) {
    throw Error(Code::bad_value, fmt::format("resume: '{}' holds {}, not a training run on text",
                                             command.resume, study.experiment));
  }
  const bool has_state =
      std::any_of(study.attachments.begin(), study.attachments.end(),
                  [](const store::Attachment& one) { return one.name == kStateAttachment; });
  if (!has_state) {
    throw Error(
        Code::bad_value,
        fmt::format("resume: '{}' holds no state to go on from: its run diverged", command.resume));
  }
  TextJob job{run_of(resumed_question(command, study)),
              command.output.empty() ? command.resume : command.output, command.text.checkpoint};
  restore(*job.run, study, command.resume);
  return job;
}

TextJob begin_from_checkpoint(const CorpusCommand& command) {
  if (command.text.corpus.empty()) {
    throw Error(Code::bad_value,
                fmt::format("resume: '{}' is no study; to go on from a checkpoint give --corpus "
                            "and the other options of its run again",
                            command.resume));
  }
  const store::StudyRecord study = study_of_checkpoint(command.resume);
  TextJob job{run_of(text_question_of(command.text, command.shared, command.common.seed)),
              command.output,
              command.text.checkpoint.empty() ? command.resume : command.text.checkpoint};
  restore(*job.run, study, command.resume);
  return job;
}

TextJob begin_text(const CorpusCommand& command) {
  if (!command.resume.empty()) {
    return is_study_file(command.resume) ? begin_from_study(command)
                                         : begin_from_checkpoint(command);
  }
  return {run_of(text_question_of(command.text, command.shared, command.common.seed)),
          command.output, command.text.checkpoint};
}

/// Programs that open a model's folder would read on without the law.
void require_no_law(const TextRun& run) {
  if (run.shape().scaling.empty()) return;
  throw Error(Code::bad_value,
              fmt::format("model: a folder has no place for the law of the logits '{}'; allowed "
                          "with --scaling: --checkpoint, -o",
                          run.shape().scaling));
}

/// Whether everything can be written, asked now and not after hours.
void require_places(const CorpusCommand& command, const TextJob& job) {
  const bool force = command.force;
  if (!job.study.empty()) require_study_place({job.study, force}, kTextExperiment);
  if (!job.checkpoint.empty()) require_checkpoint_places({job.checkpoint, force});
  if (!command.figures.empty()) {
    make_own_folder({command.figures, force}, report::figure_folder_kind());
  }
  if (command.text.model.empty()) return;
  require_no_law(*job.run);
  const fs::path folder = command.text.model;
  make_own_folder({folder, force}, checkpoint::model_folder_kind());
  if (const auto other = text::tokenizer_file_in(folder, job.run->corpus().files)) {
    throw Error(Code::bad_value,
                fmt::format("model: '{}' holds {}, a file of another tokenizer; allowed: a folder "
                            "without",
                            folder.string(), *other));
  }
}

// ---- its end ------------------------------------------------------------------------------------

Error interrupted_text(const TextJob& job, TextKeeper& keeper) {
  keeper.keep();
  const std::string where =
      !job.study.empty() ? fmt::format("go on with: dewpoint train --resume {}", job.study)
      : !job.checkpoint.empty()
          ? fmt::format("go on with the same options and --resume {}", job.checkpoint)
          : "nothing was written; with -o FILE it could be gone on with";
  return {Code::stopped, fmt::format("interrupted at step {}; {}", job.run->done(), where)};
}

Error text_divergence(const TextRun& run) {
  return {Code::bad_value,
          fmt::format("rate: {:g} diverges, at step {} (a loss that is not finite, or above {:g} "
                      "times that of guessing); what was seen until step {:g} is good; try a "
                      "smaller rate",
                      run.question().adam.rate, *run.diverged() + 1, experiments::kDiverged,
                      run.looks().back().step)};
}

std::vector<std::string> draw_text_figures(const store::StudyRecord& study,
                                           const OutputFile& folder) {
  std::vector<std::string> files;
  for (const report::TrainingFigure& one : report::text_training_figures(study)) {
    const fs::path stem = folder.path / one.name;
    report::Figure drawn = one.figure_of(study);
    report::set_title(drawn, one.title);
    std::visit([&](const auto& any) { draw(any, folder.beside(stem)); }, drawn);
    files.push_back(stem.string() + ".png");
    files.push_back(stem.string() + ".svg");
  }
  return files;
}

void add_written(Answer& answer, const char* what, const std::string& file) {
  answer.json[what] = file;
  answer.text += fmt::format("{:<10}  {}\n", what, file);
}

Answer finish_text(const CorpusCommand& command, const TextJob& job, TextKeeper& keeper,
                   const std::string& command_line) {
  Answer answer = text_run_answer(*job.run);
  const store::StudyRecord study = text_study(*job.run, command_line);
  answer.frames = study.frames;
  keeper.keep();
  if (!job.study.empty()) add_written(answer, "study", job.study);
  if (!job.checkpoint.empty()) add_written(answer, "checkpoint", job.checkpoint);
  if (!command.text.model.empty()) {
    experiments::save_model_folder(*job.run, {command.text.model, command.force});
    add_written(answer, "model", command.text.model);
  }
  if (!command.figures.empty()) {
    answer.json["figures"] = draw_text_figures(study, {command.figures, command.force});
    for (const Json& file : answer.json["figures"]) {
      answer.text += fmt::format("{:<10}  {}\n", "figure", file.get<std::string>());
    }
  }
  return answer;
}

}  // namespace

bool is_about_text(const CorpusOptions& options, const std::string& resume) {
  if (!options.corpus.empty()) return true;
  if (resume.empty()) return false;
  return is_study_file(resume) ? store::read_study(resume).experiment == kTextExperiment
                               : fs::exists(resume);
}

Answer train_on_text(const CorpusCommand& command, const std::string& command_line) {
  const TextJob job = begin_text(command);
  require_places(command, job);
  TextKeeper keeper(*job.run, {job.study, command.force}, {job.checkpoint, command.force},
                    command_line);
  TextView view(command.live);
  try {
    train_text(*job.run, keeper, view, command.common.threads);
  } catch (const Error& error) {
    if (error.code() != Code::stopped) throw;
    throw interrupted_text(job, keeper);
  }
  if (job.run->diverged()) {
    keeper.keep();
    throw text_divergence(*job.run);
  }
  return finish_text(command, job, keeper, command_line);
}

}  // namespace dewpoint::cli
