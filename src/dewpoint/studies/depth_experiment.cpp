#include "dewpoint/studies/depth_experiment.hpp"

#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/depth_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/studies/depth_theory.hpp"
#include "dewpoint/studies/layer_theory.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"

namespace dewpoint::studies {
namespace {

using experiments::DepthQuestion;
using experiments::kDepthObservables;
using experiments::phase_depth_of;

// 0, 1, ..., layers.
Dimension layer_dimension(const DepthQuestion& q) {
  Dimension layer{"layer", std::vector<double>(q.layers + 1)};
  std::iota(layer.coordinates.begin(), layer.coordinates.end(), 0.0);
  return layer;
}

std::vector<double> numbers_of(const experiments::PhaseDepth& p,
                               const experiments::DepthSample& sample) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < kDepthObservables.size(); ++k) {
    if (!experiments::is_asked_for(p, k)) continue;
    for (const auto& layer : sample.layers) numbers.push_back(layer[k]);
  }
  for (const auto& values : sample.singular_values) {
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

bool asks_for_norm(const DepthQuestion& q) { return q.layer.norm.eta != experiments::Eta::none; }

bool predicts_end_to_end(const DepthQuestion& q) {
  const bool has_theory = !q.rescale && gamma_of(q.layer) > 0.0;
  return q.probes && has_theory && has_random_heads(phase_depth_of(q, 0));
}

class DepthExperiment final : public ExperimentOf<DepthQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "depth"; }
  [[nodiscard]] std::string summary() const override {
    return "many self-attention layers: when tokens collapse, and what is left of a gradient";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::vector<Unit> units() const override { return layer_units(); }
  [[nodiscard]] std::string order_parameter() const override { return "mean_cosine"; }

 protected:
  [[nodiscard]] DepthQuestion completed(DepthQuestion q) const override {
    q.layer = with_gamma(std::move(q.layer));
    return experiments::resolved(std::move(q));
  }

  [[nodiscard]] std::vector<Observable> observed(const DepthQuestion& q) const override {
    const experiments::PhaseDepth p = phase_depth_of(q, 0);
    const Dimension layer = layer_dimension(q);
    std::vector<Observable> observables;
    for (std::size_t k = 0; k < kDepthObservables.size(); ++k) {
      if (experiments::is_asked_for(p, k)) observables.push_back({kDepthObservables[k], {layer}});
    }
    if (const std::size_t ranks = q.singular_values; ranks > 0) {
      observables.push_back({"singular_value", {layer, counted_dimension("rank", ranks)}});
    }
    return observables;
  }

  [[nodiscard]] std::vector<Observable> predicted(const DepthQuestion& q) const override {
    const Dimension layer = layer_dimension(q);
    std::vector<Observable> predictions = {{"log10_gap_theory", {layer}},
                                           {"mean_cosine_theory", {layer}},
                                           {"contraction_theory", {layer}}};
    if (asks_for_norm(q)) predictions.push_back({"jacobian_norm_theory", {layer}});
    if (predicts_end_to_end(q)) predictions.push_back({"end_to_end_norm_theory", {layer}});
    predictions.push_back({"critical_gamma"});
    return predictions;
  }

  [[nodiscard]] std::vector<double> forecast(const DepthQuestion& q) const override {
    // Clusters have a recursion, too, but not of all that is predicted here.
    const bool clusters = q.layer.cloud.cluster_size.has_value();
    const auto theory = clusters ? std::nullopt : depth_theory(phase_depth_of(q, 0));
    std::vector<std::string> names = {"log10_gap", "mean_cosine", "contraction"};
    if (asks_for_norm(q)) names.emplace_back("jacobian_norm");
    if (predicts_end_to_end(q)) names.emplace_back("end_to_end_norm");
    std::vector<double> numbers;
    for (const std::string& name : names) {
      for (std::size_t l = 0; l <= q.layers; ++l) {
        numbers.push_back(theory ? theory->variable(name).cells[l].mean : kUnknown);
      }
    }
    numbers.push_back(critical_gamma_of(q.layer));
    return numbers;
  }

  [[nodiscard]] bool is_deterministic(const DepthQuestion& q) const override {
    return !is_random(q.layer.cloud, q.layer.form);
  }

  /// A layer is a cell of a phase diagram. The end-to-end Jacobian of every depth is multiplied
  /// with each probe and, forth and back, with the 20 or more vectors of a Lanczos basis.
  [[nodiscard]] double cost(const DepthQuestion& q) const override {
    const auto layers = static_cast<double>(q.layers);
    const std::size_t n = q.layer.cloud.n, d = q.layer.cloud.d;
    const double cell = experiments::phase_cell_work(n, d, false);
    const double layer = experiments::phase_cell_work(n, d, asks_for_norm(q));
    if (!q.probes) return layers * layer;
    const auto products = static_cast<double>(*q.probes + 2 * (20 + q.singular_values));
    return layers * layer + 0.5 * layers * (layers + 1.0) * products * 2.0 * cell;
  }

  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const DepthQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override {
    std::vector<std::vector<double>> numbers;
    for (const DepthQuestion& q : tile) {
      const experiments::PhaseDepth p = phase_depth_of(q, seed);
      numbers.push_back(numbers_of(p, experiments::sample_depth(p, p.gamma[0], replica, context)));
    }
    return numbers;
  }
};

}  // namespace

const Experiment& depth_experiment() {
  static const DepthExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
