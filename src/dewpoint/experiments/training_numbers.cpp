#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/experiments/training_run.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

double number(const std::optional<double>& time) { return time.value_or(kNotSeen); }

double deepest(const std::vector<training::Retraction>& retractions) {
  double depth = kNotSeen;
  for (const training::Retraction& one : retractions) depth = std::fmax(depth, one.depth());
  return depth;
}

Estimate single_value(double value) { return {value, 0.0, 1}; }
Estimate seen(double value) { return std::isnan(value) ? Estimate{} : single_value(value); }

std::vector<double> counted(std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t k = 0; k < count; ++k) numbers[k] = static_cast<double>(k);
  return numbers;
}

Frame data_frame(const training::Chain& chain) {
  Frame frame("data");
  const std::vector<double> tokens = counted(chain.vocabulary());
  frame.add_dimension("token", tokens);
  frame.add_dimension("next", tokens);
  Variable& stationary = frame.add_variable("stationary", {"token"});
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    stationary.cells[k] = single_value(chain.stationary[k]);
  }
  Variable& transition = frame.add_variable("transition", {"token", "next"});
  for (std::size_t i = 0; i < chain.transition.size(); ++i) {
    transition.cells[i] = single_value(chain.transition.data()[i]);
  }
  return frame;
}

}  // namespace

TrainingNumbers training_numbers(std::span<const training::Record> records,
                                 const training::Stages& stages) {
  TrainingNumbers numbers;
  const auto add = [&](const char* name, double value) {
    numbers.names.emplace_back(name);
    numbers.scalars.push_back(value);
  };
  const training::Cycle& first = stages.cycles.front();
  add("final_loss", records.empty() ? kNotSeen : records.back().loss);
  add("condensation", number(stages.condensation));
  add("focus", number(first.start));
  add("peak", number(first.peak));
  add("peak_value", first.peak_value);
  add("half_dilution", number(first.half));
  add("new_direction", number(stages.new_direction));
  add("cycles", static_cast<double>(stages.completed_cycles()));
  for (const training::Cycle& cycle : stages.cycles) {
    numbers.start.push_back(number(cycle.start));
    numbers.peak.push_back(number(cycle.peak));
    numbers.peak_value.push_back(cycle.peak_value);
    numbers.half.push_back(number(cycle.half));
  }
  for (const auto& retractions : stages.retractions) {
    numbers.retraction.push_back(deepest(retractions));
  }
  return numbers;
}

std::vector<TrainingNumbers> train_replicas(const TrainingQuestion& question,
                                            const training::StageThresholds& thresholds,
                                            std::size_t replicas, const RunContext& context) {
  std::vector<TrainingNumbers> numbers(replicas);
  parallel_for(replicas, context, [&](std::size_t replica) {
    const RunContext alone{1, context.stop, {}};
    TrainingRun run(question, replica, alone);
    run.advance(alone);
    if (run.diverged()) throw divergence(question, run);
    numbers[replica] =
        training_numbers(run.records(), training::find_stages(run.records(), thresholds));
  });
  return numbers;
}

Frame runs_frame(std::span<const TrainingNumbers> runs) {
  DEWPOINT_EXPECTS(!runs.empty());
  const TrainingNumbers& first = runs.front();
  Frame frame("runs");
  frame.add_dimension("run", counted(runs.size()));
  frame.add_dimension("cycle", counted(first.peak.size()));
  frame.add_dimension("token", counted(first.retraction.size()));
  for (std::size_t k = 0; k < first.names.size(); ++k) {
    Variable& variable = frame.add_variable(first.names[k], {"run"});
    for (std::size_t r = 0; r < runs.size(); ++r) variable.cells[r] = seen(runs[r].scalars[k]);
  }
  const auto add = [&](const char* name, const char* over,
                       std::vector<double> TrainingNumbers::*values) {
    Variable& variable = frame.add_variable(name, {"run", over});
    auto cell = variable.cells.begin();
    for (const TrainingNumbers& run : runs) {
      for (const double value : run.*values) *cell++ = seen(value);
    }
  };
  add("cycle_start", "cycle", &TrainingNumbers::start);
  add("cycle_peak", "cycle", &TrainingNumbers::peak);
  add("cycle_peak_value", "cycle", &TrainingNumbers::peak_value);
  add("cycle_half", "cycle", &TrainingNumbers::half);
  add("retraction", "token", &TrainingNumbers::retraction);
  return frame;
}

Error divergence(const TrainingQuestion& question, const TrainingRun& run) {
  if (run.records().empty()) {
    return {
        Code::bad_value,
        fmt::format("init: {:g} starts with a loss of more than {:g} times that of guessing; try "
                    "smaller weights",
                    question.deviation, kDiverged)};
  }
  const bool flow = question.optimiser == Optimiser::flow;
  const double at = run.diverged().value_or(run.time());
  const double last = run.records().back().time;
  if (flow) {
    return {Code::bad_value,
            fmt::format(
                "rtol: {:g} lets the flow run away at t = {:g}; the last good record is that of "
                "t = {:g}; try a smaller one",
                question.flow.relative_tolerance, at, last)};
  }
  return {Code::bad_value,
          fmt::format("rate: {:g} diverges, at step {:g} the loss is more than {:g} times that of "
                      "guessing; the last good record is that of step {:g}; try a smaller rate",
                      question.adam.rate, at, kDiverged, last)};
}

std::vector<double> stage_moments(std::span<const training::Record> records,
                                  const training::Stages& stages) {
  std::vector<double> times = {0.0};
  const auto add = [&](const std::optional<double>& time) {
    if (time) times.push_back(*time);
  };
  add(stages.condensation);
  add(stages.cycles.front().start);
  for (const training::Cycle& cycle : stages.cycles) add(cycle.peak);
  add(stages.new_direction);
  if (!records.empty()) times.push_back(records.back().time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

std::vector<Frame> training_frames(const TrainingQuestion& question, const TrainingRun& run,
                                   const training::Stages& stages) {
  std::vector<Frame> frames = {training::trajectory_frame(run.records())};
  if (!run.moments().empty()) frames.push_back(training::condensation_frame(run.moments()));
  for (Frame& frame : training::stage_frames(stages)) frames.push_back(std::move(frame));
  frames.push_back(data_frame(question.chain));
  return frames;
}

}  // namespace dewpoint::experiments
