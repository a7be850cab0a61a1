#include "dewpoint/studies/depth_experiment.hpp"

#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/phase_depth.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/phase_parameters.hpp"
#include "dewpoint/theory/random_heads.hpp"
#include "dewpoint/theory/simplex_depth.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kDepthObservables;

constexpr double kMostLayers = 1e5;

std::vector<Field> all_parameters() {
  using enum Kind;
  const experiments::EndToEnd end_to_end;
  std::vector<Field> parameters = layer_parameters(256);
  parameters.push_back({"layers", whole, 12.0, "layers, at least 1", false});
  parameters.push_back({"rescale", flag, false,
                        "before each layer, raise beta so that beta (1 - mean cosine) stays"});
  parameters.push_back({"singular-values", whole, 0.0,
                        "of the end-to-end Jacobian: its norm and so many of the largest; 0: not "
                        "looked at",
                        false});
  parameters.push_back({"end-to-end", flag, false,
                        "the norm of the end-to-end Jacobian without its singular values", false});
  parameters.push_back({"probes", whole, static_cast<double>(end_to_end.probes),
                        "random probes for the norm of the end-to-end Jacobian, at least 1",
                        false});
  for (Field& parameter : norm_parameters()) parameters.push_back(std::move(parameter));
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

bool has_random_heads(const Point& point) {
  return has_freezing(point) && number_of(point, "alpha") == 0.0 && !flag_of(point, "rescale") &&
         number_of(point, "gamma") > 0.0 && number_of(point, "d") >= 3.0 &&
         number_of(point, "d") <= SphereGap::kMostDimension;
}

// What theory says over the layers, 0 first.
struct DepthTheory {
  std::vector<double> log_gaps, cosines;
  std::vector<double> norms = {kUnknown};
  std::vector<double> end_to_end;
};

DepthTheory simplex_theory(const Point& point) {
  const theory::SimplexStack stack{std::log(number_of(point, "n")), inverse_temperature_of(point),
                                   number_of(point, "alpha")};
  const auto start = theory::simplex_state(squared_norm_of(point), number_of(point, "rho"));
  const auto states =
      theory::simplex_trajectory(start, stack, static_cast<int>(count_of(point, "layers")));
  DepthTheory result;
  for (const auto& state : states) {
    result.log_gaps.push_back(state.log_decorrelation);
    result.cosines.push_back(state.correlation());
    result.norms.push_back(theory::simplex_gradient(state, stack, number_of(point, "d")));
  }
  return result;
}

DepthTheory random_head_theory(const Point& point) {
  const double log_n = std::log(number_of(point, "n")), d = number_of(point, "d");
  const auto heads = static_cast<double>(form_of(point).heads);
  const theory::RandomHeadStack stack{
      log_n, static_cast<int>(d),
      inverse_temperature_of(point) * theory::random_head_deviation(d, heads)};
  const auto start =
      theory::random_head_state(stack, squared_norm_of(point), correlation_or_none(point));
  const auto states =
      theory::random_head_trajectory(start, stack, static_cast<int>(count_of(point, "layers")));
  DepthTheory result;
  for (const auto& state : states) {
    result.log_gaps.push_back(state.log_gap);
    result.cosines.push_back(1.0 - state.gap());
    result.norms.push_back(theory::random_head_gradient(state, stack));
    result.end_to_end.push_back(state.end_to_end());
  }
  return result;
}

// The predictions one after the other; `layers` + 1 numbers each.
std::vector<double> predicted(const DepthTheory& theory, std::size_t layers, bool norm,
                              bool end_to_end) {
  std::vector<double> numbers;
  for (const double log_gap : theory.log_gaps) numbers.push_back(log_gap / std::log(10.0));
  numbers.insert(numbers.end(), theory.cosines.begin(), theory.cosines.end());
  numbers.push_back(kUnknown);
  for (std::size_t l = 1; l <= layers; ++l) {
    numbers.push_back(std::exp(theory.log_gaps[l] - theory.log_gaps[l - 1]));
  }
  const auto last = static_cast<std::ptrdiff_t>(layers + 1);  // norms know one layer more
  if (norm) numbers.insert(numbers.end(), theory.norms.begin(), theory.norms.begin() + last);
  if (end_to_end) {
    numbers.insert(numbers.end(), theory.end_to_end.begin(), theory.end_to_end.end());
  }
  return numbers;
}

bool predicts_end_to_end(const Point& point) {
  return has_random_heads(point) && has(point, "probes");
}

class DepthExperiment final : public Experiment {
 public:
  DepthExperiment() : parameters_(all_parameters()) {}

  [[nodiscard]] std::string name() const override { return "depth"; }
  [[nodiscard]] std::string summary() const override {
    return "many self-attention layers: when tokens collapse, and what is left of a gradient";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override { return parameters_; }
  [[nodiscard]] std::vector<Unit> units() const override { return layer_units(); }
  [[nodiscard]] std::string order_parameter() const override { return "mean_cosine"; }

  [[nodiscard]] Point resolved(const Point& given) const override {
    Point point = with_defaults(given, parameters_);
    (void)whole_between(point, "layers", 1.0, kMostLayers);
    const bool ranked = whole_between(point, "singular-values", 0.0, 1e6) > 0;
    const bool end_to_end = ranked || flag_of(point, "end-to-end");
    (void)whole_between(point, "probes", 1.0, 1e6);
    if (ranked || !end_to_end) point.erase("end-to-end");
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
    if (predicts_end_to_end(point)) predictions.push_back({"end_to_end_norm_theory", {layer}});
    predictions.push_back({"critical_gamma"});
    return predictions;
  }

  [[nodiscard]] std::vector<double> predict(const Point& point) const override {
    const bool norm = word_of(point, "eta") != "none";
    const bool end_to_end = predicts_end_to_end(point);
    const std::size_t layers = count_of(point, "layers");
    std::vector<double> numbers(((norm ? 4 : 3) + (end_to_end ? 1 : 0)) * (layers + 1), kUnknown);
    if (has_recursion(point)) {
      numbers = predicted(simplex_theory(point), layers, norm, end_to_end);
    } else if (has_random_heads(point)) {
      numbers = predicted(random_head_theory(point), layers, norm, end_to_end);
    }
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
  std::vector<Field> parameters_;
};

}  // namespace

const Experiment& depth_experiment() {
  static const DepthExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
