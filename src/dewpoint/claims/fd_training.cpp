// Focus and dilution, Section 5.1 and Figure 2: the stages of the training experiment, and when
// they come.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_runs.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/training_run.hpp"

namespace dewpoint::claims {
namespace {

using experiments::Optimiser;
using experiments::TrainingNumbers;
using experiments::TrainingQuestion;

/// After the end of the third cycle, which was at most 1470 in 20 runs.
double all_cycles(const Setting& setting) { return setting.effort == Effort::quick ? 1700 : 3000; }

std::vector<TrainingNumbers> numbers_of(const TrainingQuestion& asked, std::size_t runs,
                                        const Setting& setting) {
  return experiments::train_replicas(asked, experiments::standard_thresholds(asked.optimiser), runs,
                                     setting.context);
}

double scalar(const TrainingNumbers& run, std::string_view name) {
  const auto found = std::find(run.names.begin(), run.names.end(), name);
  return run.scalars.at(static_cast<std::size_t>(found - run.names.begin()));
}

using Number = std::function<double(const TrainingNumbers&)>;
Number scalar_named(const char* name) {
  return [name](const TrainingNumbers& run) { return scalar(run, name); };
}

// ---- four stages, three cycles --------------------------------------------------------------

/// NaN, a stage that was not seen, is in no order.
bool in_order(const TrainingNumbers& run) {
  const double times[] = {scalar(run, "condensation"),
                          run.start[0],
                          run.peak[0],
                          run.half[0],
                          scalar(run, "new_direction"),
                          run.peak[1],
                          run.half[1],
                          run.peak[2],
                          run.half[2]};
  for (std::size_t k = 1; k < std::size(times); ++k) {
    if (!(times[k - 1] < times[k])) return false;
  }
  return true;
}

Evidence stages_in_order(const Setting& setting) {
  const std::size_t count = runs_of(setting, 4);
  const auto runs =
      numbers_of(training_question(Optimiser::adam, all_cycles(setting), setting), count, setting);
  Evidence evidence;
  evidence.parameters =
      fmt::format("{}, {} runs of {} steps", kTrainingSettings, count, all_cycles(setting));
  evidence.statement = {
      equal("share of runs in the order condensation, focus, peak, half-dilution, new direction, "
            "then peak and half-dilution on tokens 1, 2",
            1.0, mean_of(runs, [](const auto& run) { return in_order(run) ? 1.0 : 0.0; }), 0.0),
      equal("completed cycles, the fewest: d − 1", 3.0, least_of(runs, scalar_named("cycles")),
            0.0)};
  // How much of the attention on tokens ≥ k is on token k at its peak, against 1/(4 − k) without
  // preference: half of the way to 1 and more.
  for (std::size_t k = 0; k < 3; ++k) {
    const double base = 1.0 / (4.0 - static_cast<double>(k));
    evidence.statement.push_back(at_least(
        fmt::format("attention of the rarer tokens on token {} at its peak, the least", k),
        0.5 * (1.0 + base),
        least_of(runs, [k](const TrainingNumbers& run) { return run.peak_value[k]; }), 0.0));
  }
  return evidence;
}

// ---- retraction -----------------------------------------------------------------------------

Evidence retraction(const Setting& setting) {
  const std::size_t count = runs_of(setting, 4);
  const auto runs = numbers_of(training_question(Optimiser::adam, 800.0, setting), count, setting);
  Evidence evidence;
  evidence.parameters = fmt::format("{}, {} runs of 800 steps", kTrainingSettings, count);
  evidence.statement = {equal(
      "share of runs in which the embedding of token 0 never falls by a tenth", 1.0,
      mean_of(runs, [](const auto& run) { return std::isnan(run.retraction[0]) ? 1.0 : 0.0; }),
      0.0)};
  for (std::size_t token = 1; token < 4; ++token) {
    evidence.statement.push_back(at_least(
        fmt::format("how far the embedding of token {} falls, the least", token),
        0.15 + 0.1 * static_cast<double>(token),
        least_of(runs, [&](const TrainingNumbers& run) { return run.retraction[token]; }), 0.0));
  }
  return evidence;
}

// ---- when -----------------------------------------------------------------------------------

/// A mean over six runs of another program, with its error, and the deviation of one of our runs
/// (of 20, `dewpoint train --seeds 20`).
struct Reference {
  std::string quantity;
  Number value;
  double mean, error, deviation;
};

/// Our mean against theirs.
Comparison mean_against(const Reference& reference, const std::vector<TrainingNumbers>& runs) {
  const double ours = reference.deviation / std::sqrt(static_cast<double>(runs.size()));
  return {reference.quantity + ", mean", reference.mean, Relation::equals,
          Estimate{mean_of(runs, reference.value), std::hypot(reference.error, ours), runs.size()},
          0.0};
}

/// Every run of ours within kSigmas deviations of their mean: what can be said where a tenth of it
/// is less than the error of both means.
void bound(const Reference& reference, const std::vector<TrainingNumbers>& runs,
           std::vector<Comparison>& into) {
  const double reach = kSigmas * reference.deviation;
  into.push_back(at_least(reference.quantity + ", the least", reference.mean - reach,
                          least_of(runs, reference.value), 0.0));
  into.push_back(at_most(reference.quantity + ", the largest", reference.mean + reach,
                         most_of(runs, reference.value), 0.0));
}

Number cycle_number(std::vector<double> TrainingNumbers::*values, std::size_t cycle) {
  return [=](const TrainingNumbers& run) { return (run.*values)[cycle]; };
}

const Reference kCondensation{"condensation at step", scalar_named("condensation"), 64.17, 0.83,
                              2.6};
const Reference kFocus{"first focus starts at step", scalar_named("focus"), 102.5, 1.12, 4.4};
const Reference kPeak{"first focus peaks at step", scalar_named("peak"), 204.17, 0.83, 5.6};
const Reference kPeakValue{"attention at the first peak", scalar_named("peak_value"), 0.9918, 4e-4,
                           2.1e-3};
const Reference kHalf{"half-dilution at step", scalar_named("half_dilution"), 285.0, 1.83, 10.5};
const Reference kNewDirection{"new direction at step", scalar_named("new_direction"), 316.67, 2.47,
                              14.5};
const Reference kLater[] = {
    {"second peak at step", cycle_number(&TrainingNumbers::peak, 1), 528.3, 2.47, 13.0},
    {"attention at it", cycle_number(&TrainingNumbers::peak_value, 1), 0.8915, 4.3e-3, 0.0101},
    {"second half-dilution at step", cycle_number(&TrainingNumbers::half, 1), 683.3, 1.67, 12.0},
    {"third peak at step", cycle_number(&TrainingNumbers::peak, 2), 1269.2, 13.8, 24.4},
    {"attention at it", cycle_number(&TrainingNumbers::peak_value, 2), 0.958, 2.7e-3, 7.1e-3},
    {"third half-dilution at step", cycle_number(&TrainingNumbers::half, 2), 1415.8, 12.8, 26.4}};

/// Our mean against theirs for all stages, at full effort; the first cycle only at quick effort.
Evidence other_program(const Setting& setting) {
  const bool full = setting.effort == Effort::full;
  const std::size_t count = runs_of(setting, 16);
  const double steps = full ? all_cycles(setting) : 400.0;
  const auto runs = numbers_of(training_question(Optimiser::adam, steps, setting), count, setting);
  Evidence evidence;
  evidence.parameters = fmt::format("{}, {} runs of {} steps; 6 runs of the other program",
                                    kTrainingSettings, count, steps);
  for (const Reference* reference : {&kPeak, &kPeakValue, &kHalf}) {
    evidence.statement.push_back(mean_against(*reference, runs));
  }
  for (const Reference* reference : {&kCondensation, &kFocus, &kNewDirection}) {
    bound(*reference, runs, evidence.statement);
  }
  if (!full) return evidence;
  for (const Reference* reference : {&kFocus, &kNewDirection}) {
    evidence.statement.push_back(mean_against(*reference, runs));
  }
  for (const Reference& reference : kLater) {
    evidence.statement.push_back(mean_against(reference, runs));
  }
  return evidence;
}

/// Whether the batch is all sequences or 64 of them.
Evidence focus_window(const Setting& setting) {
  const std::size_t count = runs_of(setting, 4);
  Evidence evidence;
  evidence.reproduces = false;
  evidence.parameters = fmt::format("Adam, m = 256, {} runs each with full batch and 64", count);
  for (const std::size_t batch : {0, 64}) {
    TrainingQuestion asked = training_question(Optimiser::adam, 320.0, setting);
    asked.batch = batch;
    const auto runs = numbers_of(asked, count, setting);
    const std::string which = batch == 0 ? ", full batch" : ", batch 64";
    evidence.statement.push_back(at_least("first focus starts at step" + which + ", the least",
                                          75.0, least_of(runs, kFocus.value), 0.0));
    evidence.statement.push_back(at_most("first focus peaks at step" + which + ", the largest",
                                         270.0, most_of(runs, kPeak.value), 0.0));
    evidence.as_printed.push_back(
        equal("first focus starts at step" + which, 350.0, mean_of(runs, kFocus.value), 50.0));
    evidence.as_printed.push_back(
        equal("first focus peaks at step" + which, 550.0, mean_of(runs, kPeak.value), 50.0));
  }
  return evidence;
}

}  // namespace

std::vector<Claim> fd_training_claims() {
  return {
      {"fd.figure-2-stages", "FD, Section 5.1, Figure 2",
       "Training passes four stages in order, condensation, focus, dilution, new direction; focus "
       "and dilution repeat for tokens 1 and 2: d − 1 cycles.",
       stages_in_order},
      {"fd.figure-2-retraction", "FD, Section 5.1, Figure 2(B2), (D2)",
       "The embeddings of all tokens but token 0 retract.", retraction},
      {"fd.figure-2-window", "FD, Figure 2(C)",
       "Focus grows between steps 100 and 210 with the settings given, whatever the batch; not "
       "between 350 and 550.",
       focus_window},
      {"fd.figure-2-bands", "next to FD, Figure 2",
       "Another program with the same settings gives the same mean times of all stages.",
       other_program},
  };
}

}  // namespace dewpoint::claims
