#include "dewpoint/studies/phase_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
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
#include "dewpoint/studies/phase_theory.hpp"
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

// Rows of one ρ are measured beside each other.
std::vector<std::vector<double>> measure_cells(std::span<const PhaseQuestion> tile,
                                               std::uint64_t seed, std::uint64_t replica,
                                               const RunContext& context) {
  struct Row {
    double rho;
    std::vector<std::size_t> places;
    std::vector<double> gammas;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const double rho = tile[i].layer.cloud.rho.value();
    auto row = std::ranges::find(rows, rho, &Row::rho);
    if (row == rows.end()) row = rows.insert(rows.end(), Row{rho, {}, {}});
    row->places.push_back(i);
    row->gammas.push_back(gamma_of(tile[i].layer));
  }
  const experiments::MapReplica cloud(phase_point_of(tile[0], seed), replica);
  std::vector<std::vector<double>> numbers(tile.size());
  parallel_for(rows.size(), context, [&](std::size_t r) {
    const auto values = cloud.row(rows[r].rho, rows[r].gammas, context);
    for (std::size_t g = 0; g < values.size(); ++g) {
      const std::size_t place = rows[r].places[g];
      numbers[place] = numbers_of(tile[place], values[g], 0.0);
    }
  });
  return numbers;
}

// Contraction and, where it is asked for, Jacobian norm of the regular simplex.
std::vector<double> of_simplex(const PhaseQuestion& q) {
  const experiments::LayerQuestion& layer = q.layer;
  const bool norm = asks_for_norm(q);
  if (!is_simplex(layer)) return std::vector<double>(norm ? 2 : 1, kUnknown);
  const double log_n = std::log(static_cast<double>(layer.cloud.n));
  const double beta = inverse_temperature_of(layer), rho = layer.cloud.rho.value();
  const double square = squared_norm_of(layer.cloud);
  const auto output = theory::simplex_output(log_n, beta, rho, layer.alpha * std::sqrt(square));
  const double contraction = std::exp(output.log_contraction);
  if (!norm) return {contraction};
  const auto d = static_cast<double>(layer.cloud.d);
  return {contraction, theory::simplex_gradient(log_n, beta, rho, {d, square, layer.alpha})};
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
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"gamma", "rho"}; }

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
    std::vector<std::string> names = {"contraction_theory", "critical_gamma",
                                      "critical_gamma_at_finite_d"};
    if (asks_for_norm(q)) names.insert(names.begin() + 1, "jacobian_norm_theory");
    return scalars(names);
  }

  [[nodiscard]] std::vector<double> forecast(const PhaseQuestion& q) const override {
    const experiments::LayerQuestion& layer = q.layer;
    std::vector<double> known = of_simplex(q);
    known.push_back(critical_gamma_of(layer));
    const bool has_line = is_simplex(layer) && layer.cloud.law == "equicorrelated";
    known.push_back(
        has_line ? finite_dimension_gamma(layer.cloud.n, layer.cloud.d, layer.cloud.rho.value())
                 : kUnknown);
    return known;
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
