#include "dewpoint/studies/phase_experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"
#include "dewpoint/studies/layer_theory.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kJacobianNorm;
using experiments::kPhaseObservables;
using experiments::phase_point_of;
using experiments::PhaseQuestion;

bool asks_for_norm(const PhaseQuestion& q) { return q.layer.norm.eta != experiments::Eta::none; }

// Whether a map could hold the point.
bool is_cell(const PhaseQuestion& q) {
  return q.layer.cloud.rho && form_of(q.layer.form) == attention::LayerForm{} && q.rows == 0;
}

void refuse_streamed_norm(experiments::PhasePoint p) {
  if (!p.norm) return;
  p.norm.reset();
  if (!experiments::streams_rows(p)) return;
  throw Error(Code::bad_value,
              fmt::format("eta: the Jacobian norm needs the whole cloud, which sampled rows of n = "
                          "{} >= {} tokens do without; use eta none, or rows 0",
                          p.cloud.n, experiments::kStreamedTokens));
}

// The numbers of a replica in the order of the observables.
std::vector<double> numbers_of(const PhaseQuestion& q, const experiments::PhaseValues& values,
                               double row_sampling_error) {
  std::vector<double> numbers(values.begin(), values.begin() + kJacobianNorm);
  if (asks_for_norm(q)) numbers.push_back(values[kJacobianNorm]);
  if (q.rows > 0) numbers.push_back(row_sampling_error);
  return numbers;
}

std::vector<std::vector<double>> measure_cells(std::span<const PhaseQuestion> tile,
                                               std::uint64_t seed, std::uint64_t replica,
                                               const RunContext& context) {
  const experiments::LayerQuestion& layer = tile[0].layer;
  experiments::PhaseMap map;
  map.cloud = cloud_of(layer.cloud);
  map.residual = layer.alpha;
  map.norm = norm_of(layer.norm);
  map.seed = seed;
  for (const PhaseQuestion& q : tile) map.gamma.push_back(gamma_of(q.layer));
  const auto values = experiments::MapReplica(map, map.cloud, replica).row(map.cloud.rho, context);
  std::vector<std::vector<double>> numbers;
  for (std::size_t g = 0; g < tile.size(); ++g) {
    numbers.push_back(numbers_of(tile[g], values[g], 0.0));
  }
  return numbers;
}

class PhaseExperiment final : public ExperimentOf<PhaseQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "phase"; }
  [[nodiscard]] std::string summary() const override {
    return "one self-attention layer: contraction, weights and Jacobian norm over n, d, rho, gamma";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::vector<Unit> units() const override { return layer_units(); }
  [[nodiscard]] std::string order_parameter() const override { return "contraction"; }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"gamma"}; }

  [[nodiscard]] std::size_t parts(const Point& point) const override {
    const experiments::PhasePoint p = phase_point_of(asked(point), 0);
    return experiments::streams_rows(p) ? experiments::streamed_parts(p) : 1;
  }
  [[nodiscard]] std::vector<double> measure_part(const Point& point, std::uint64_t seed,
                                                 std::uint64_t replica, std::size_t part,
                                                 const RunContext& context) const override {
    return experiments::streamed_part(phase_point_of(asked(point), seed), replica, part, context);
  }
  [[nodiscard]] std::vector<double> join(
      const Point& point, std::uint64_t seed, std::uint64_t replica,
      const std::vector<std::vector<double>>& parts) const override {
    const PhaseQuestion q = asked(point);
    const auto sample = experiments::join_streamed(phase_point_of(q, seed), replica, parts);
    return numbers_of(q, sample.values, sample.row_sampling_error);
  }

 protected:
  [[nodiscard]] PhaseQuestion completed(PhaseQuestion q) const override {
    q.layer = with_gamma(std::move(q.layer));
    q = experiments::resolved(std::move(q));
    refuse_streamed_norm(phase_point_of(q, 0));
    return q;
  }

  [[nodiscard]] std::vector<Observable> observed(const PhaseQuestion& q) const override {
    std::vector<Observable> observables;
    for (std::size_t k = 0; k < kPhaseObservables.size(); ++k) {
      if (k == kJacobianNorm && !asks_for_norm(q)) continue;
      observables.push_back({kPhaseObservables[k]});
    }
    if (q.rows > 0) observables.push_back({"row_sampling_error"});
    return observables;
  }

  [[nodiscard]] std::vector<Observable> predicted(const PhaseQuestion& q) const override {
    if (!asks_for_norm(q)) return scalars({"contraction_theory", "critical_gamma"});
    return scalars({"contraction_theory", "jacobian_norm_theory", "critical_gamma"});
  }

  [[nodiscard]] std::vector<double> forecast(const PhaseQuestion& q) const override {
    const experiments::LayerQuestion& layer = q.layer;
    const double critical = critical_gamma_of(layer);
    if (!is_simplex(layer)) {
      return asks_for_norm(q) ? std::vector<double>{kUnknown, kUnknown, critical}
                              : std::vector<double>{kUnknown, critical};
    }
    const double log_n = std::log(static_cast<double>(layer.cloud.n));
    const double beta = inverse_temperature_of(layer), rho = layer.cloud.rho.value();
    const double square = squared_norm_of(layer.cloud);
    const auto output = theory::simplex_output(log_n, beta, rho, layer.alpha * std::sqrt(square));
    const double contraction = std::exp(output.log_contraction);
    if (!asks_for_norm(q)) return {contraction, critical};
    const auto d = static_cast<double>(layer.cloud.d);
    return {contraction, theory::simplex_gradient(log_n, beta, rho, {d, square, layer.alpha}),
            critical};
  }

  [[nodiscard]] bool is_deterministic(const PhaseQuestion& q) const override {
    return !is_random(q.layer.cloud, q.layer.form) && !(q.rows > 0 && q.rows < q.layer.cloud.n);
  }

  [[nodiscard]] double cost(const PhaseQuestion& q) const override {
    return experiments::phase_point_work(phase_point_of(q, 0));
  }

  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const PhaseQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override {
    if (is_cell(tile[0])) return measure_cells(tile, seed, replica, context);
    std::vector<std::vector<double>> numbers;
    for (const PhaseQuestion& q : tile) {
      const auto sample = experiments::sample_point(phase_point_of(q, seed), replica, context);
      numbers.push_back(numbers_of(q, sample.values, sample.row_sampling_error));
    }
    return numbers;
  }
};

}  // namespace

const Experiment& phase_experiment() {
  static const PhaseExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
