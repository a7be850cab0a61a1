#include "dewpoint/studies/train_layers_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/studies/chain_parameters.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/shape_parameters.hpp"

namespace dewpoint::studies {
namespace {

using experiments::LayerQuestion;

LayerQuestion question_of(const Point& point) {
  LayerQuestion question;
  question.chain = chain_at(point);
  question.shape = shape_at(point);
  question.shape.vocabulary = question.chain.vocabulary();
  question.deviation = deviation_at(point);
  question.context = whole_between(point, "s", 1.0, 1e4);
  question.sequences = whole_between(point, "sequences", 1.0, 1e8);
  question.batch = whole_between(point, "batch", 1.0, 1e8);
  question.adam.rate = number_of(point, "rate");
  question.steps = whole_between(point, "steps", 1.0, 1e9);
  question.every = whole_between(point, "record_every", 1.0, 1e9);
  return question;
}

std::vector<double> values_of(const experiments::LayerNumbers& numbers) {
  const auto largest = [](const std::vector<double>& over_layers) {
    return *std::max_element(over_layers.begin(), over_layers.end());
  };
  std::vector<double> values = {numbers.final_loss, numbers.retraction, largest(numbers.focus_peak),
                                largest(numbers.focus_end)};
  values.insert(values.end(), numbers.retractions.begin(), numbers.retractions.end());
  return values;
}

class TrainLayersExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "train-layers"; }
  [[nodiscard]] std::string summary() const override {
    return "focus and retraction in training several layers and heads on a Markov chain";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::string order_parameter() const override { return "retraction"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override {
    std::vector<Observable> all = scalars({"final_loss", "retraction", "focus_peak", "focus_end"});
    all.push_back({"retractions", {token_dimension(chain_at(point))}});
    return all;
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars({"final_loss_theory"});
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override {
    return {training::best_loss(chain_at(point), count_of(point, "s"))};
  }
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

std::vector<Field> layers_parameters() {
  using enum Kind;
  std::vector<Field> all = {
      {"s", whole, Value(19.0), "context length; in [1, 1e4]"},
      {"sequences", whole, Value(1e5), "sequences that are drawn; in [1, 1e8]"},
      {"batch", whole, Value(256.0), "sequences per step; at least 1"}};
  for (Field& one : shape_parameters({.layers = 2, .residual = true})) {
    all.push_back(std::move(one));
  }
  all.push_back({"rate", number, Value(1.5e-4), "learning rate of Adam"});
  all.push_back({"steps", whole, Value(1500.0), "steps of Adam"});
  all.push_back({"record_every", whole, Value(10.0), "steps between two looks at the norms"});
  return chain_parameters(all);
}

const std::vector<Field>& TrainLayersExperiment::parameters() const {
  static const std::vector<Field> all = layers_parameters();
  return all;
}

Point TrainLayersExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  point["branch"] = shape_at(point).branch;
  experiments::check(question_of(point));
  sort_law(point);
  return point;
}

std::vector<std::vector<double>> TrainLayersExperiment::measure(std::span<const Point> tile,
                                                                std::uint64_t seed,
                                                                std::uint64_t replica,
                                                                const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const Point& point : tile) {
    LayerQuestion question = question_of(point);
    question.seed = seed;
    const auto looks =
        experiments::layer_run(question, replica, {context.threads, context.stop, {}});
    if (looks.empty() || looks.back().step < static_cast<double>(question.steps)) {
      throw Error(Code::bad_value,
                  fmt::format("rate: {:g} with start {:g} diverges within {} steps: the loss is "
                              "more than {:g} times that of guessing; try smaller ones",
                              question.adam.rate, number_of(point, "start"), question.steps,
                              experiments::kDiverged));
    }
    all.push_back(
        values_of(experiments::layer_numbers(looks, question.shape.layers, question.shape.heads)));
  }
  return all;
}

// In operations of a step: six products of every row with a matrix of m x m per layer but the
// first, which knows only the tokens; and Adam.
double TrainLayersExperiment::work(const Point& point) const {
  const double m = number_of(point, "width"), layers = number_of(point, "layers");
  const double rows =
      number_of(point, "batch") * (flag_of(point, "causal") ? number_of(point, "s") : 1.5);
  return number_of(point, "steps") * m * m * (12.0 * rows * (layers - 0.9) + 30.0 * layers);
}

}  // namespace

const Experiment& train_layers_experiment() {
  static const TrainLayersExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
