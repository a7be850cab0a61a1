#include "cli/study_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/local_workers.hpp"

namespace dewpoint::cli {
namespace {

store::SweepHead head_of(const studies::StudyText& study, const std::string& command) {
  store::SweepHead head;
  head.experiment = study.experiment;
  head.title = study.title;
  for (const auto& [name, value] : study.fixed) {
    head.parameters.emplace_back(name, studies::value_text(value));
  }
  head.seed = study.seed;
  head.version = full_version();
  head.command = command;
  head.text = studies::effective_text(study);
  return head;
}

store::SweepSession session_of(const studies::Workers& workers, const std::string& command) {
  return {utc_now(),       full_version(),    processor_name(), simd_target(),
          workers.ranks(), workers.threads(), command};
}

std::string outcome_name(const studies::RunOutcome& outcome) {
  return outcome.stopped ? "stopped" : "finished";
}

}  // namespace

// Leaves in the file how it ended, whatever happens.
studies::RunOutcome run_recorded(const studies::StudyText& study, studies::Workers& workers,
                                 const std::string& command) {
  const studies::Experiment& experiment = studies::experiment_named(study.experiment);
  studies::Plan plan = grid_plan(study, experiment);
  store::SweepFile file(study.study, head_of(study, command));
  file.begin_session(session_of(workers, command));
  ProgressLine line(study.experiment);
  const Progress show = line.callback();
  studies::RunOptions options;
  options.stop = stop_on_signals();
  options.progress = [&show](const studies::RunProgress& now) {
    show(now.work_done, now.work_done + now.work_left);
  };
  try {
    const studies::RunOutcome outcome =
        run_study(study, experiment, std::move(plan), file, workers, options);
    file.end_session(utc_now(), outcome_name(outcome));
    file.close();
    return outcome;
  } catch (const Error& error) {
    file.end_session(utc_now(), fmt::format("failed: {}", error.what()));
    throw;
  }
}

studies::RunOutcome run_on_threads(const studies::StudyText& study, int threads,
                                   const std::string& command) {
  const studies::Experiment& experiment = studies::experiment_named(study.experiment);
  const auto workers = studies::local_workers(experiment, study.seed, threads);
  return run_recorded(study, *workers, command);
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
