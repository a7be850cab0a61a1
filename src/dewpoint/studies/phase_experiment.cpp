#include "dewpoint/studies/phase_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/phase_parameters.hpp"
#include "dewpoint/studies/phase_theory.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kJacobianNorm;
using experiments::kPhaseObservables;

std::vector<Field> all_parameters() {
  std::vector<Field> parameters = layer_parameters(512);
  parameters.push_back({"rows", Kind::whole, 0.0,
                        "queries sampled per cloud, for large n, at least 3; 0: all", false});
  for (Field& parameter : norm_parameters()) parameters.push_back(std::move(parameter));
  return parameters;
}

experiments::PhasePoint point_of(const Point& point, std::uint64_t seed) {
  experiments::PhasePoint p;
  p.cloud = cloud_of(point);
  p.inverse_temperature = inverse_temperature_of(point);
  p.residual = number_of(point, "alpha");
  p.rows = count_of(point, "rows");
  p.form = form_of(point);
  p.norm = norm_of(point);
  p.seed = seed;
  return p;
}

// Whether a map could hold the point.
bool is_cell(const Point& point) {
  return has(point, "rho") && form_of(point) == attention::LayerForm{} &&
         count_of(point, "rows") == 0;
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
std::vector<double> numbers_of(const Point& point, const experiments::PhaseValues& values,
                               double row_sampling_error) {
  const bool norm = word_of(point, "eta") != "none";
  std::vector<double> numbers(values.begin(), values.begin() + kJacobianNorm);
  if (norm) numbers.push_back(values[kJacobianNorm]);
  if (count_of(point, "rows") > 0) numbers.push_back(row_sampling_error);
  return numbers;
}

// Rows of one ρ are measured beside each other.
std::vector<std::vector<double>> measure_cells(std::span<const Point> tile, std::uint64_t seed,
                                               std::uint64_t replica, const RunContext& context) {
  struct Row {
    double rho;
    std::vector<std::size_t> places;
    std::vector<double> gammas;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const double rho = number_of(tile[i], "rho");
    auto row = std::ranges::find(rows, rho, &Row::rho);
    if (row == rows.end()) row = rows.insert(rows.end(), Row{rho, {}, {}});
    row->places.push_back(i);
    row->gammas.push_back(number_of(tile[i], "gamma"));
  }
  const experiments::MapReplica cloud(point_of(tile[0], seed), replica);
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

class PhaseExperiment final : public Experiment {
 public:
  PhaseExperiment() : parameters_(all_parameters()) {}

  [[nodiscard]] std::string name() const override { return "phase"; }
  [[nodiscard]] std::string summary() const override {
    return "one self-attention layer: contraction, weights and Jacobian norm over n, d, rho, gamma";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override { return parameters_; }
  [[nodiscard]] std::vector<Unit> units() const override { return layer_units(); }
  [[nodiscard]] std::string order_parameter() const override { return "contraction"; }

  [[nodiscard]] Point resolved(const Point& given) const override {
    Point point = with_defaults(given, parameters_);
    (void)whole_between(point, "rows", 0.0, 0x1p32);
    point = completed(std::move(point), false);
    const experiments::PhasePoint p = experiments::resolved(point_of(point, 0));
    refuse_streamed_norm(p);
    return point;
  }

  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override {
    std::vector<Observable> observables;
    for (std::size_t k = 0; k < kPhaseObservables.size(); ++k) {
      if (k == kJacobianNorm && word_of(point, "eta") == "none") continue;
      observables.push_back({kPhaseObservables[k]});
    }
    if (count_of(point, "rows") > 0) observables.push_back({"row_sampling_error"});
    return observables;
  }

  [[nodiscard]] std::vector<Observable> predictions(const Point& point) const override {
    std::vector<std::string> names = {"contraction_theory", "critical_gamma",
                                      "critical_gamma_at_finite_d"};
    if (word_of(point, "eta") != "none") names.insert(names.begin() + 1, "jacobian_norm_theory");
    return scalars(names);
  }

  [[nodiscard]] std::vector<double> predict(const Point& point) const override {
    const bool norm = word_of(point, "eta") != "none";
    const bool simplex = is_simplex(point);
    std::vector<double> known;
    const double log_n = std::log(number_of(point, "n"));
    const double beta = inverse_temperature_of(point);
    const double rho = simplex ? number_of(point, "rho") : 0.0;
    const double alpha = number_of(point, "alpha");
    const double square = squared_norm_of(point);
    known.push_back(
        simplex ? std::exp(theory::simplex_output(log_n, beta, rho, alpha * std::sqrt(square))
                               .log_contraction)
                : kUnknown);
    if (norm) {
      known.push_back(simplex ? theory::simplex_gradient(log_n, beta, rho,
                                                         {number_of(point, "d"), square, alpha})
                              : kUnknown);
    }
    known.push_back(critical_gamma_of(point));
    const bool finite = simplex && word_of(point, "tokens") == "equicorrelated";
    known.push_back(finite ? finite_dimension_gamma(count_of(point, "n"), count_of(point, "d"), rho)
                           : kUnknown);
    return known;
  }

  [[nodiscard]] bool deterministic(const Point& point) const override {
    const double rows = number_of(point, "rows");
    return is_deterministic_cloud(point) && !form_of(point).is_random() &&
           !(rows > 0.0 && rows < number_of(point, "n"));
  }

  [[nodiscard]] double work(const Point& point) const override {
    return experiments::phase_point_work(point_of(point, 0));
  }

  [[nodiscard]] std::vector<std::string> ladder() const override { return {"gamma", "rho"}; }

  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override {
    if (is_cell(tile[0])) return measure_cells(tile, seed, replica, context);
    std::vector<std::vector<double>> numbers;
    for (const Point& point : tile) {
      const auto sample = experiments::sample_point(point_of(point, seed), replica, context);
      numbers.push_back(numbers_of(point, sample.values, sample.row_sampling_error));
    }
    return numbers;
  }

  [[nodiscard]] std::size_t parts(const Point& point) const override {
    const experiments::PhasePoint p = point_of(point, 0);
    return experiments::streams_rows(p) ? experiments::streamed_parts(p) : 1;
  }

  [[nodiscard]] std::vector<double> measure_part(const Point& point, std::uint64_t seed,
                                                 std::uint64_t replica, std::size_t part,
                                                 const RunContext& context) const override {
    return experiments::streamed_part(point_of(point, seed), replica, part, context);
  }

  [[nodiscard]] std::vector<double> join(
      const Point& point, std::uint64_t seed, std::uint64_t replica,
      const std::vector<std::vector<double>>& parts) const override {
    const auto sample = experiments::join_streamed(point_of(point, seed), replica, parts);
    return numbers_of(point, sample.values, sample.row_sampling_error);
  }

 private:
  std::vector<Field> parameters_;
};

}  // namespace

const Experiment& phase_experiment() {
  static const PhaseExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
