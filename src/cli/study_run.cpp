#include "cli/study_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/console.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/recorded_run.hpp"

namespace dewpoint::cli {
namespace {

// Until Ctrl-C, and telling the line.
studies::RunOptions watched(ProgressLine& line, studies::RunOptions options = {}) {
  options.stop = stop_token();
  options.progress = [show = line.callback()](const studies::RunProgress& now) {
    show(now.work_done, now.work_done + now.work_left);
  };
  return options;
}

std::string interrupted_text(const studies::StudyText& study, const studies::RunOutcome& outcome) {
  return fmt::format("interrupted; {} of {} cells are finished and kept in {}", outcome.finished,
                     outcome.planned, study.study);
}

}  // namespace

studies::RunOutcome run_recorded(const studies::StudyText& study, studies::Workers& workers,
                                 const std::string& command, studies::RunOptions options) {
  ProgressLine line(study.experiment);
  options = watched(line, std::move(options));
  return studies::run_recorded(study, workers, command, options);
}

studies::RunOutcome run_on_threads(const studies::StudyText& study, int threads,
                                   const std::string& command, const studies::RunOptions& options) {
  const studies::Experiment& experiment = studies::experiment_named(study.experiment);
  const auto workers = studies::local_workers(experiment, study.seed, threads);
  return cli::run_recorded(study, *workers, command, options);
}

store::StudyRecord run_in_memory(const studies::StudyText& study, int threads,
                                 const std::string& command, const std::string& label) {
  ProgressLine line(label);
  return studies::run_in_memory(study, threads, command, watched(line));
}

int say_interrupted(const studies::StudyText& study, const studies::RunOutcome& outcome,
                    const std::string& command) {
  fmt::print(stderr,
             "dewpoint: {}\n"
             "dewpoint: the same command continues: {}\n",
             interrupted_text(study, outcome), command);
  return 128 + received_signal();
}

void throw_interrupted(const studies::StudyText& study, const studies::RunOutcome& outcome,
                       const std::string& command) {
  throw Error(Code::stopped, fmt::format("{}; the same command continues: {}",
                                         interrupted_text(study, outcome), command));
}

}  // namespace dewpoint::cli
