#include "dewpoint/studies/train_layers_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/train_layers_question.hpp"
#include "dewpoint/studies/older_names.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"

namespace dewpoint::studies {
namespace {

using experiments::TrainLayersQuestion;

std::vector<double> values_of(const experiments::LayerNumbers& numbers) {
  const auto largest = [](const std::vector<double>& over_layers) {
    return *std::max_element(over_layers.begin(), over_layers.end());
  };
  std::vector<double> values = {numbers.final_loss, numbers.retraction, largest(numbers.focus_peak),
                                largest(numbers.focus_end)};
  values.insert(values.end(), numbers.retractions.begin(), numbers.retractions.end());
  return values;
}

class TrainLayersExperiment final : public ExperimentOf<TrainLayersQuestion>,
                                    public KeyedByOlderNames {
 public:
  [[nodiscard]] std::string name() const override { return "train-layers"; }
  [[nodiscard]] std::string summary() const override {
    return "focus and retraction in training several layers and heads on a Markov chain";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "retraction"; }

 protected:
  [[nodiscard]] TrainLayersQuestion completed(TrainLayersQuestion question) const override {
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(
      const TrainLayersQuestion& question) const override {
    std::vector<Observable> all = scalars({"final_loss", "retraction", "focus_peak", "focus_end"});
    all.push_back(
        {"retractions", {numbered_dimension("token", chain_of(question.chain).vocabulary())}});
    return all;
  }
  [[nodiscard]] std::vector<Observable> predicted(const TrainLayersQuestion&) const override {
    return scalars({"final_loss_theory"});
  }
  [[nodiscard]] std::vector<double> forecast(const TrainLayersQuestion& question) const override {
    return {training::best_loss(chain_of(question.chain), question.s)};
  }
  [[nodiscard]] double cost(const TrainLayersQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const TrainLayersQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<std::vector<double>> TrainLayersExperiment::sample(
    std::span<const TrainLayersQuestion> tile, std::uint64_t seed, std::uint64_t replica,
    const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const TrainLayersQuestion& question : tile) {
    const experiments::LayerQuestion asked = run_of(question, seed);
    const auto looks = experiments::layer_run(asked, replica, {context.threads, context.stop, {}});
    if (looks.empty() || looks.back().step < static_cast<double>(asked.steps)) {
      throw Error(
          Code::bad_value,
          fmt::format("rate: {:g} with start {:g} diverges within {} steps: the loss is "
                      "more than {:g} times that of guessing; try smaller ones",
                      asked.adam.rate, question.model.start, asked.steps, experiments::kDiverged));
    }
    all.push_back(
        values_of(experiments::layer_numbers(looks, asked.shape.layers, asked.shape.heads)));
  }
  return all;
}

// In operations of a step: six products of every row with a matrix of m x m per layer but the
// first, which knows only the tokens; and Adam.
double TrainLayersExperiment::cost(const TrainLayersQuestion& question) const {
  const auto m = static_cast<double>(question.model.m);
  const auto layers = static_cast<double>(question.model.layers);
  const double rows = static_cast<double>(question.batch) *
                      (question.model.causal ? static_cast<double>(question.s) : 1.5);
  return static_cast<double>(question.learning.steps) * m * m *
         (12.0 * rows * (layers - 0.9) + 30.0 * layers);
}

}  // namespace

const Experiment& train_layers_experiment() {
  static const TrainLayersExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
