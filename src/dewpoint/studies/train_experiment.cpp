#include "dewpoint/studies/train_experiment.hpp"

#include <algorithm>

#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"

namespace dewpoint::studies {
namespace {

using experiments::Training;
using experiments::training_of;
using experiments::TrainQuestion;

/// What a run measures, in the order of the observables.
std::vector<double> numbers_of(const Training& training, std::uint64_t replica,
                               const RunContext& context) {
  experiments::TrainingRun run(training.run, replica, context);
  run.advance({context.threads, context.stop, {}});
  if (run.diverged()) throw experiments::divergence(training.run, run);
  const auto numbers = experiments::training_numbers(
      run.records(), training::find_stages(run.records(), training.thresholds));
  std::vector<double> values = numbers.scalars;
  for (const auto* more :
       {&numbers.start, &numbers.peak, &numbers.peak_value, &numbers.half, &numbers.retraction}) {
    values.insert(values.end(), more->begin(), more->end());
  }
  return values;
}

class TrainExperiment final : public ExperimentOf<TrainQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "train"; }
  [[nodiscard]] std::string summary() const override {
    return "stages of training one attention layer on a Markov chain";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "peak"; }

 protected:
  [[nodiscard]] TrainQuestion completed(TrainQuestion question) const override {
    require_named(question.chain);
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(const TrainQuestion& question) const override;
  [[nodiscard]] std::vector<Observable> predicted(const TrainQuestion&) const override {
    return scalars({"final_loss_theory"});
  }
  [[nodiscard]] std::vector<double> forecast(const TrainQuestion& question) const override {
    return {experiments::best_loss(training_of(question, 0).run)};
  }
  [[nodiscard]] double cost(const TrainQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const TrainQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override {
    std::vector<std::vector<double>> all;
    for (const TrainQuestion& question : tile) {
      all.push_back(numbers_of(training_of(question, seed), replica, context));
    }
    return all;
  }
};

std::vector<Observable> TrainExperiment::observed(const TrainQuestion& question) const {
  const Dimension token = numbered_dimension("token", chain_of(question.chain).vocabulary());
  Dimension cycle{"cycle", {}, {}};
  cycle.coordinates.assign(token.coordinates.begin(), token.coordinates.end() - 1);
  std::vector<Observable> all = scalars({"final_loss", "condensation", "focus", "peak",
                                         "peak_value", "half_dilution", "new_direction", "cycles"});
  for (const char* name : {"cycle_start", "cycle_peak", "cycle_peak_value", "cycle_half"}) {
    all.push_back({name, {cycle}});
  }
  all.push_back({"retraction", {token}});
  return all;
}

// In weights that are read and written, about a nanosecond each.
double TrainExperiment::cost(const TrainQuestion& question) const {
  const auto m = static_cast<double>(*question.m);
  const double steps = question.time ? 50.0 * *question.time : static_cast<double>(*question.steps);
  return steps * (m * m + 1e4) + 1e7;
}

}  // namespace

const Experiment& train_experiment() {
  static const TrainExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
