#include "dewpoint/experiments/layer_dynamics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/chain_batches.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/transformer/adam.hpp"
#include "dewpoint/transformer/network.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::experiments {
namespace {

// ---- what may be asked --------------------------------------------------------------------------

constexpr double kMostLooks = 1e5;
constexpr std::size_t kMostContext = 10'000;
constexpr std::size_t kMostSequences = 100'000'000;
constexpr std::uint64_t kMostSteps = 1'000'000'000;

void require_count(const char* option, std::uint64_t value, std::uint64_t most) {
  require_option(value >= 1 && value <= most, option, static_cast<double>(value),
                 fmt::format("in [1, {}]", most));
}

// ---- looking ------------------------------------------------------------------------------------

// One context with every token once, asked at each of them, so that all have queries in all layers.
transformer::Batch every_token_once(std::size_t vocabulary) {
  transformer::Batch batch;
  batch.tokens.resize(vocabulary);
  std::iota(batch.tokens.begin(), batch.tokens.end(), 0);
  batch.begins = {0, static_cast<std::uint32_t>(vocabulary)};
  batch.asked.resize(vocabulary);
  std::iota(batch.asked.begin(), batch.asked.end(), 0U);
  for (const std::uint32_t row : batch.asked) {
    batch.questions.push_back({row, 0, 1.0 / static_cast<double>(vocabulary)});
  }
  return batch;
}

std::vector<double> row_norms(const Matrix<float>& rows) {
  std::vector<double> norms;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double squares = 0.0;
    for (const float x : rows.row(i)) squares += double{x} * double{x};
    norms.push_back(std::sqrt(squares));
  }
  return norms;
}

// ---- the run ------------------------------------------------------------------------------------

double deviation_of(const LayerQuestion& question) {
  if (question.deviation > 0.0) return question.deviation;
  return 1.0 / static_cast<double>(question.shape.width);
}

class LayerTraining {
 public:
  LayerTraining(const LayerQuestion& question, std::uint64_t replica, const RunContext& context)
      : question_(question),
        context_{context.threads, context.stop, {}},
        batches_(chain_batches(question, replica, context_)),
        network_(question.shape, batches_->capacity()),
        state_(question.shape, transformer::initial_weights<float>(
                                   question.shape, deviation_of(question), question.seed, replica)),
        gradient_(question.shape),
        view_(every_token_once(question.shape.vocabulary)) {}

  [[nodiscard]] std::uint64_t done() const { return state_.done; }

  /// False where the loss of the batch is not finite: the weights stay as they are.
  bool step() {
    context_.throw_if_stopped();
    const transformer::Batch& batch = batches_->of_step(state_.done);
    if (!std::isfinite(network_.gradient(state_.weights, batch, gradient_, context_))) return false;
    transformer::adam_step(question_.adam, gradient_, state_, context_);
    return true;
  }

  [[nodiscard]] LayerLook look() {
    LayerLook look{static_cast<double>(state_.done), 0.0, row_norms(state_.weights.embedding), {}};
    for (const WeighedBatch& part : batches_->all()) {
      look.loss += part.share * network_.loss(state_.weights, part.batch, context_);
    }
    for (auto& layer : network_.attention(state_.weights, view_, 0, context_)) {
      for (Matrix<double>& head : layer) look.attention.push_back(std::move(head));
    }
    return look;
  }

 private:
  const LayerQuestion& question_;
  RunContext context_;
  std::unique_ptr<ChainBatches> batches_;
  transformer::Network<float> network_;
  transformer::AdamState<float> state_;
  transformer::Weights<float> gradient_;
  transformer::Batch view_;
};

}  // namespace

void check(const LayerQuestion& question) {
  DEWPOINT_EXPECTS(question.shape.vocabulary == question.chain.vocabulary());
  transformer::check(question.shape);
  require_option(std::isfinite(question.deviation) && question.deviation >= 0.0, "init",
                 question.deviation, "0 (for 1/m) or above");
  require_count("s", question.context, kMostContext);
  require_count("sequences", question.sequences, kMostSequences);
  require_count("batch", question.batch, question.sequences);
  check_adam(question.adam);
  require_count("steps", question.steps, kMostSteps);
  require_count("record-every", question.every, kMostSteps);
  require_option(
      static_cast<double>(question.steps) / static_cast<double>(question.every) <= kMostLooks,
      "record-every", static_cast<double>(question.every),
      fmt::format("enough: more than {:g} records", kMostLooks));
}

std::vector<LayerLook> layer_run(const LayerQuestion& question, std::uint64_t replica,
                                 const RunContext& context) {
  check(question);
  LayerTraining training(question, replica, context);
  const double most_loss = kDiverged * std::log(static_cast<double>(question.shape.vocabulary));
  const auto steps = static_cast<double>(question.steps);
  std::vector<LayerLook> looks;
  while (true) {
    if (training.done() % question.every == 0 || training.done() == question.steps) {
      LayerLook look = training.look();
      if (!(look.loss <= most_loss)) break;
      if (context.progress) context.progress(look.step, steps);
      looks.push_back(std::move(look));
    }
    if (training.done() == question.steps || !training.step()) break;
  }
  return looks;
}

std::vector<LayerRuns> layer_runs(const LayerQuestion& question,
                                  const std::vector<transformer::Shape>& shapes,
                                  std::size_t replicas, const RunContext& context) {
  std::vector<LayerRuns> all;
  for (const transformer::Shape& shape : shapes) {
    all.push_back({shape, std::vector<std::vector<LayerLook>>(replicas)});
  }
  parallel_for(shapes.size() * replicas, context, [&](std::size_t job) {
    LayerRuns& model = all[job / replicas];
    LayerQuestion one = question;
    one.shape = model.shape;
    model.runs[job % replicas] = layer_run(one, job % replicas, {1, context.stop, {}});
  });
  return all;
}

}  // namespace dewpoint::experiments
