#include "cli/study_run.hpp"

#include <fmt/format.h>

#include "cli/console.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/recorded_run.hpp"

namespace dewpoint::cli {

studies::RunOutcome run_recorded(const studies::StudyText& study, studies::Workers& workers,
                                 const std::string& command, studies::RunOptions options) {
  ProgressLine line(study.experiment);
  const Progress show = line.callback();
  options.stop = stop_token();
  options.progress = [&show](const studies::RunProgress& now) {
    show(now.work_done, now.work_done + now.work_left);
  };
  return studies::run_recorded(study, workers, command, options);
}

studies::RunOutcome run_on_threads(const studies::StudyText& study, int threads,
                                   const std::string& command, const studies::RunOptions& options) {
  const studies::Experiment& experiment = studies::experiment_named(study.experiment);
  const auto workers = studies::local_workers(experiment, study.seed, threads);
  return cli::run_recorded(study, *workers, command, options);
}

int say_interrupted(const studies::StudyText& study, const studies::RunOutcome& outcome,
                    const std::string& command) {
  fmt::print(stderr,
             "dewpoint: interrupted; {} of {} cells are finished and kept in {}\n"
             "dewpoint: the same command continues: {}\n",
             outcome.finished, outcome.planned, study.study, command);
  return 128 + received_signal();
}

}  // namespace dewpoint::cli
