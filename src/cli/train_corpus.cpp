#include "cli/train_corpus.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "cli/text_checkpoint.hpp"
#include "cli/train_corpus_text.hpp"
#include "cli/train_resume.hpp"
#include "cli/train_watch.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/stored_question.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/report/terminal_figure.hpp"
#include "dewpoint/report/text_training_figures.hpp"

namespace dewpoint::cli {
namespace {

namespace fs = std::filesystem;
using experiments::TextRun;
using experiments::TrainTextQuestion;

constexpr const char* kTextExperiment = "train text";

struct TextJob {
  TrainTextQuestion asked;
  std::unique_ptr<TextRun> run;
  std::string study;       // empty: not kept
  std::string checkpoint;  // empty: not kept
};

// ---- files --------------------------------------------------------------------------------------

store::StudyRecord text_study(const TextJob& job, const std::string& command_line) {
  store::StudyRecord study = begin_study(kTextExperiment, job.run->question().seed, command_line);
  study.parameters = experiments::stored_parameters(filled(job.asked));
  study.frames = experiments::text_frames(*job.run);
  study.attachments = job.run->attachments();
  return study;
}

void keep_text(const TextJob& job, bool force, const std::string& command_line) {
  if (job.run->looks().empty()) return;
  if (!job.study.empty()) {
    store::write_study({job.study, force}, text_study(job, command_line));
  }
  if (!job.checkpoint.empty()) write_checkpoint({job.checkpoint, force}, *job.run);
}

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

/// Losses and attention.
std::string text_screen(const TextRun& run) {
  store::StudyRecord study;
  study.frames = experiments::text_frames(run);
  report::LineFigure figure = report::figure_of_text_run(study);
  figure.panels.resize(2);
  figure.caption = fmt::format("step {}{}", run.done(), losses_note(run));
  return report::terminal_text(figure, terminal_style());
}

void train_text(TextRun& run, Keeper& keeper, LiveView& view, int threads) {
  ProgressLine line("train");
  const auto before = static_cast<double>(run.done());
  const Progress tell = line.callback();
  const RunContext context{threads, stop_token(),
                           [&](double done, double total) { tell(done - before, total - before); }};
  run.advance(context, [&](const TextRun& now) {
    line.set_note(losses_note(now));
    if (now.looks().size() >= 2) view.show([&] { return text_screen(now); });
    keeper.keep_sometimes();
  });
}

// ---- one run ------------------------------------------------------------------------------------

TextJob job_of(const TrainTextQuestion& asked, std::uint64_t seed) {
  const TrainTextQuestion complete = resolved(asked);
  const experiments::TextQuestion question = run_of(complete, seed);
  auto corpus = std::make_shared<const text::Corpus>(
      text::read_corpus(question.corpus, experiments::least_tokens(question)));
  return {complete, std::make_unique<TextRun>(question, std::move(corpus), 0), {}, {}};
}

TextJob job_of(const CorpusCommand& command) {
  return job_of(command.verb.question, command.verb.common.seed);
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
  const RunFiles& files = command.verb.files;
  const store::StudyRecord study = store::read_study(files.resume);
  if (study.experiment != kTextExperiment) {
    throw Error(Code::bad_value, fmt::format("resume: '{}' holds {}, not a training run on text",
                                             files.resume, study.experiment));
  }
  if (!has_attachment(study, kStateAttachment)) {
    throw Error(
        Code::bad_value,
        fmt::format("resume: '{}' holds no state to go on from: its run diverged", files.resume));
  }
  require_free(command.given, {"corpus", "steps", "record-every", "validate-every"}, files.resume,
               "--steps, --record-every, --validate-every and the place of --corpus");
  TextJob job = job_of(text_question_from(study, files.resume, command.asked), study.seed);
  job.study = files.output.empty() ? files.resume : files.output;
  job.checkpoint = command.verb.checkpoint;
  restore(*job.run, study, files.resume);
  return job;
}

TextJob begin_from_checkpoint(const CorpusCommand& command) {
  const CorpusVerb& verb = command.verb;
  const RunFiles& files = verb.files;
  if (!command.asked.contains("corpus")) {
    throw Error(Code::bad_value,
                fmt::format("resume: '{}' is no study; to go on from a checkpoint give --corpus "
                            "and the other options of its run again",
                            files.resume));
  }
  const store::StudyRecord study = study_of_checkpoint(files.resume);
  TextJob job = job_of(command);
  job.study = files.output;
  job.checkpoint = verb.checkpoint.empty() ? files.resume : verb.checkpoint;
  restore(*job.run, study, files.resume);
  return job;
}

TextJob begin_text(const CorpusCommand& command) {
  const RunFiles& files = command.verb.files;
  if (!files.resume.empty()) {
    return is_study_file(files.resume) ? begin_from_study(command) : begin_from_checkpoint(command);
  }
  TextJob job = job_of(command);
  job.study = files.output;
  job.checkpoint = command.verb.checkpoint;
  return job;
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
void require_places(const CorpusVerb& verb, const TextJob& job) {
  const bool force = verb.files.force;
  if (!job.study.empty()) require_study_place({job.study, force}, kTextExperiment);
  if (!job.checkpoint.empty()) require_checkpoint_places({job.checkpoint, force});
  if (!verb.files.figures.empty()) {
    make_own_folder({verb.files.figures, force}, report::figure_folder_kind());
  }
  if (verb.model.empty()) return;
  require_no_law(*job.run);
  const fs::path folder = verb.model;
  make_own_folder({folder, force}, checkpoint::model_folder_kind());
  if (const auto other = text::tokenizer_file_in(folder, job.run->corpus().files)) {
    throw Error(Code::bad_value,
                fmt::format("model: '{}' holds {}, a file of another tokenizer; allowed: a folder "
                            "without",
                            folder.string(), *other));
  }
}

// ---- its end ------------------------------------------------------------------------------------

Error interrupted_text(const TextJob& job, Keeper& keeper) {
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

void add_written(Answer& answer, const char* what, const std::string& file) {
  answer.json[what] = file;
  answer.text += fmt::format("{:<10}  {}\n", what, file);
}

Answer finish_text(const CorpusVerb& verb, const TextJob& job, Keeper& keeper,
                   const std::string& command_line) {
  Answer answer = text_run_answer(job.asked, *job.run);
  const store::StudyRecord study = text_study(job, command_line);
  answer.frames = study.frames;
  keeper.keep();
  if (!job.study.empty()) add_written(answer, "study", job.study);
  if (!job.checkpoint.empty()) add_written(answer, "checkpoint", job.checkpoint);
  if (!verb.model.empty()) {
    experiments::save_model_folder(*job.run, {verb.model, verb.files.force});
    add_written(answer, "model", verb.model);
  }
  if (!verb.files.figures.empty()) {
    answer.json["figures"] = draw_figures(report::text_training_figures(study), study,
                                          {verb.files.figures, verb.files.force});
    for (const Json& file : answer.json["figures"]) {
      answer.text += fmt::format("{:<10}  {}\n", "figure", file.get<std::string>());
    }
  }
  return answer;
}

}  // namespace

bool is_run_on_text(const std::string& file) {
  return is_study_file(file) ? store::read_study(file).experiment == kTextExperiment
                             : fs::exists(file);
}

Answer train_on_text(const CorpusCommand& command, const std::string& command_line) {
  const CorpusVerb& verb = command.verb;
  const TextJob job = begin_text(command);
  require_places(verb, job);
  Keeper keeper([&] { keep_text(job, verb.files.force, command_line); });
  LiveView view(verb.files.live);
  try {
    train_text(*job.run, keeper, view, verb.common.threads);
  } catch (const Error& error) {
    if (error.code() != Code::stopped) throw;
    throw interrupted_text(job, keeper);
  }
  if (job.run->diverged()) {
    keeper.keep();
    throw text_divergence(*job.run);
  }
  return finish_text(verb, job, keeper, command_line);
}

}  // namespace dewpoint::cli
