#include "dewpoint/studies/depth_experiment.hpp"

#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/phase_depth.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/phase_parameters.hpp"
#include "dewpoint/theory/simplex_depth.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kDepthObservables;

constexpr double kMostLayers = 1e5;

std::vector<Parameter> all_parameters() {
  using enum ParameterKind;
  const experiments::EndToEnd end_to_end;
  std::vector<Parameter> parameters = layer_parameters(256);
  parameters.push_back({"layers", whole, 12.0, "layers, at least 1", false});
  parameters.push_back({"rescale", flag, false,
                        "before each layer, raise beta so that beta (1 - mean cosine) stays"});
  parameters.push_back({"singular-values", whole, 0.0,
                        "of the end-to-end Jacobian: its norm and so many of the largest; 0: not "
                        "looked at",
                        false});
  parameters.push_back({"probes", whole, static_cast<double>(end_to_end.probes),
                        "random probes for the norm of the end-to-end Jacobian, at least 1",
                        false});
  for (Parameter& parameter : norm_parameters()) parameters.push_back(std::move(parameter));
  return parameters;
}

experiments::PhaseDepth depth_of(const Point& point, std::uint64_t seed) {
  experiments::PhaseDepth p;
  p.cloud = cloud_of(point);
  p.gamma = {number_of(point, "gamma")};
  p.rescaled = flag_of(point, "rescale");
  p.residual = number_of(point, "alpha");
  p.form = form_of(point);
  p.layers = count_of(point, "layers");
  p.norm = norm_of(point);
  if (has(point, "probes")) {
    p.end_to_end =
        experiments::EndToEnd{count_of(point, "singular-values"), count_of(point, "probes")};
  }
  p.seed = seed;
  return p;
}

std::size_t singular_values_of(const experiments::PhaseDepth& p) {
  return p.end_to_end ? p.end_to_end->singular_values : 0;
}

// 0, 1, ..., layers.
Dimension layer_dimension(const Point& point) {
  Dimension layer{"layer", std::vector<double>(count_of(point, "layers") + 1)};
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

bool has_recursion(const Point& point) {
  return is_simplex(point) && !flag_of(point, "rescale") && number_of(point, "gamma") > 0.0;
}

// The predictions over the layers, one after the other.
std::vector<double> recursion(const Point& point, bool norm) {
  const theory::SimplexStack stack{std::log(number_of(point, "n")), inverse_temperature_of(point),
                                   number_of(point, "alpha")};
  const auto start = theory::simplex_state(squared_norm_of(point), number_of(point, "rho"));
  const auto states =
      theory::simplex_trajectory(start, stack, static_cast<int>(count_of(point, "layers")));
  std::vector<double> gaps;
  std::vector<double> cosines;
  std::vector<double> contractions = {kUnknown};
  std::vector<double> norms = {kUnknown};
  for (std::size_t l = 0; l < states.size(); ++l) {
    gaps.push_back(states[l].log_decorrelation / std::log(10.0));
    cosines.push_back(states[l].correlation());
    if (l == 0) continue;
    const auto& before = states[l - 1];
    contractions.push_back(std::exp(states[l].log_decorrelation - before.log_decorrelation));
    norms.push_back(theory::simplex_gradient(before, stack, number_of(point, "d")));
  }
  std::vector<double> numbers = std::move(gaps);
  numbers.insert(numbers.end(), cosines.begin(), cosines.end());
  numbers.insert(numbers.end(), contractions.begin(), contractions.end());
  if (norm) numbers.insert(numbers.end(), norms.begin(), norms.end());
  return numbers;
}

class DepthExperiment final : public Experiment {
 public:
  DepthExperiment() : parameters_(all_parameters()) {}

  [[nodiscard]] std::string name() const override { return "depth"; }
  [[nodiscard]] std::string summary() const override {
    return "many self-attention layers: when tokens collapse, and what is left of a gradient";
  }
  [[nodiscard]] int schema() const override { return 1; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const override { return parameters_; }
  [[nodiscard]] std::vector<Unit> units() const override { return layer_units(); }
  [[nodiscard]] std::string order_parameter() const override { return "mean_cosine"; }

  [[nodiscard]] Point resolved(const Point& given) const override {
    Point point = with_defaults(given, parameters_);
    (void)whole_between(point, "layers", 1.0, kMostLayers);
    const bool end_to_end = whole_between(point, "singular-values", 0.0, 1e6) > 0;
    (void)whole_between(point, "probes", 1.0, 1e6);
    if (!end_to_end) point.erase("probes");
    point = completed(std::move(point), end_to_end);
    (void)experiments::resolved(depth_of(point, 0));
    return point;
  }

  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override {
    const experiments::PhaseDepth p = depth_of(point, 0);
    const Dimension layer = layer_dimension(point);
    std::vector<Observable> observables;
    for (std::size_t k = 0; k < kDepthObservables.size(); ++k) {
      if (experiments::is_asked_for(p, k)) observables.push_back({kDepthObservables[k], {layer}});
    }
    if (const std::size_t ranks = singular_values_of(p); ranks > 0) {
      observables.push_back({"singular_value", {layer, counted_dimension("rank", ranks)}});
    }
    return observables;
  }

  [[nodiscard]] std::vector<Observable> predictions(const Point& point) const override {
    const Dimension layer = layer_dimension(point);
    std::vector<Observable> predictions = {{"log10_gap_theory", {layer}},
                                           {"mean_cosine_theory", {layer}},
                                           {"contraction_theory", {layer}}};
    if (word_of(point, "eta") != "none") predictions.push_back({"jacobian_norm_theory", {layer}});
    predictions.push_back({"critical_gamma"});
    return predictions;
  }

  [[nodiscard]] std::vector<double> predict(const Point& point) const override {
    const bool norm = word_of(point, "eta") != "none";
    const std::size_t unknown = (norm ? 4 : 3) * (count_of(point, "layers") + 1);
    std::vector<double> numbers =
        has_recursion(point) ? recursion(point, norm) : std::vector<double>(unknown, kUnknown);
    numbers.push_back(critical_gamma_of(point));
    return numbers;
  }

  [[nodiscard]] bool deterministic(const Point& point) const override {
    return is_deterministic_cloud(point) && !form_of(point).is_random();
  }

  /// A layer is a cell of a phase diagram. The end-to-end Jacobian of every depth is multiplied
  /// with each probe and, forth and back, with the 20 or more vectors of a Lanczos basis.
  [[nodiscard]] double work(const Point& point) const override {
    const experiments::PhaseDepth p = depth_of(point, 0);
    const auto layers = static_cast<double>(p.layers);
    const double cell = experiments::phase_cell_work(p.cloud.n, p.cloud.d, false);
    const double layer = experiments::phase_cell_work(p.cloud.n, p.cloud.d, p.norm.has_value());
    if (!p.end_to_end) return layers * layer;
    const auto products =
        static_cast<double>(p.end_to_end->probes + 2 * (20 + p.end_to_end->singular_values));
    return layers * layer + 0.5 * layers * (layers + 1.0) * products * 2.0 * cell;
  }

  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override {
    std::vector<std::vector<double>> numbers;
    for (const Point& point : tile) {
      const experiments::PhaseDepth p = depth_of(point, seed);
      numbers.push_back(numbers_of(p, experiments::sample_depth(p, p.gamma[0], replica, context)));
    }
    return numbers;
  }

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace

const Experiment& depth_experiment() {
  static const DepthExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
