#include "dewpoint/studies/recorded_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/store/new_study.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::studies {
namespace {

store::SweepHead head_of(const StudyText& study, const std::string& command) {
  store::SweepHead head;
  head.experiment = study.experiment;
  head.title = study.title;
  for (const auto& [name, value] : study.fixed) {
    head.parameters.emplace_back(name, value_text(value));
  }
  head.seed = study.seed;
  head.version = full_version();
  head.command = command;
  head.text = effective_text(study);
  return head;
}

store::SweepSession session_of(const Workers& workers, const std::string& command) {
  return {store::utc_now(), full_version(),    processor_name(), simd_target(),
          workers.ranks(),  workers.threads(), command};
}

std::string outcome_name(const RunOutcome& outcome) {
  return outcome.stopped ? "stopped" : "finished";
}

}  // namespace

// Leaves in the file how it ended, whatever happens.
RunOutcome run_recorded(const StudyText& study, Workers& workers, const std::string& command,
                        const RunOptions& options) {
  const Experiment& experiment = experiment_named(study.experiment);
  Plan plan = grid_plan(study, experiment, options.stop);
  store::SweepFile file({study.study, options.force}, head_of(study, command),
                        {stored_form(plan, experiment), options.replace, options.repair});
  file.begin_session(session_of(workers, command));
  try {
    const RunOutcome outcome =
        run_study(study, experiment, std::move(plan), file, workers, options);
    file.end_session(store::utc_now(), outcome_name(outcome));
    file.close();
    return outcome;
  } catch (const Error& error) {
    file.end_session(store::utc_now(), fmt::format("failed: {}", error.what()));
    throw;
  }
}

}  // namespace dewpoint::studies
