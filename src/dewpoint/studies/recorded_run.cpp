#include "dewpoint/studies/recorded_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/store/new_study.hpp"
#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/local_workers.hpp"
#include "dewpoint/studies/schedule.hpp"

namespace dewpoint::studies {
namespace {

std::vector<std::pair<std::string, std::string>> fixed_parameters(const StudyText& study) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const auto& [name, value] : study.fixed) parameters.emplace_back(name, value_text(value));
  return parameters;
}

store::SweepHead head_of(const StudyText& study, const std::string& command) {
  store::SweepHead head;
  head.experiment = study.experiment;
  head.title = study.title;
  head.parameters = fixed_parameters(study);
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

store::Predictor predictor_of(const StudyText& study, const Experiment& experiment,
                              const Plan& plan, const RunOptions& options) {
  const auto predictions = experiment.predictions(plan.cells.at(0).point());
  return predictor_of(experiment, study.seed, positions_of(predictions), options.stop);
}

}  // namespace

// Leaves in the file how it ended, whatever happens.
RunOutcome run_recorded(const StudyText& study, Workers& workers, const std::string& command,
                        const RunOptions& options) {
  const Experiment& experiment = experiment_named(study.experiment);
  Plan plan = grid_plan(study, experiment, options.stop);
  store::SweepFile file({study.study, options.force}, head_of(study, command),
                        {stored_form(plan, experiment), options.replace, options.repair,
                         predictor_of(study, experiment, plan, options)});
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

store::StudyRecord run_in_memory(const StudyText& study, Workers& workers,
                                 const std::string& command, store::CellMemory& cells,
                                 const RunOptions& options) {
  const Experiment& experiment = experiment_named(study.experiment);
  Plan plan = grid_plan(study, experiment, options.stop);
  store::CellForm form = stored_form(plan, experiment);
  if (!options.predictions) form.predicted.clear();
  cells.open(form, predictor_of(study, experiment, plan, options));
  const RunOutcome outcome = run_study(study, experiment, std::move(plan), cells, workers, options);
  if (outcome.stopped) throw Error(Code::stopped, kStoppedOnRequest);
  store::StudyRecord record = store::begin_study(study.experiment, study.seed, command);
  record.parameters = fixed_parameters(study);
  record.frames.push_back(cells.frame(study.experiment));
  return record;
}

store::StudyRecord run_in_memory(const StudyText& study, int threads, const std::string& command,
                                 const RunOptions& options) {
  const auto workers = local_workers(experiment_named(study.experiment), study.seed, threads);
  store::CellMemory cells;
  return run_in_memory(study, *workers, command, cells, options);
}

}  // namespace dewpoint::studies
