#include "dewpoint/studies/query_theory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/critical_limit.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/experiments/sample_statistics.hpp"
#include "dewpoint/studies/many_keys.hpp"
#include "dewpoint/theory/condensed_sphere.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/finite_scores.hpp"
#include "dewpoint/theory/sphere_clt.hpp"

namespace dewpoint::studies {
namespace {

struct Place {
  int dimension;
  double n, log_n, beta;
  experiments::QueryScales scales;

  [[nodiscard]] double theta() const { return beta / scales.unit; }
  [[nodiscard]] double exponent() const { return 0.5 * (dimension - 1.0); }
};

struct Field {
  const char* name;
  double QueryPrediction::*value;
};
constexpr Field kFields[] = {
    {"effective_keys", &QueryPrediction::effective_keys},
    {"exact_largest_weight", &QueryPrediction::exact_largest_weight},
    {"exact_remainder", &QueryPrediction::exact_remainder},
    {"exact_participation", &QueryPrediction::exact_participation},
    {"exact_entropy", &QueryPrediction::exact_entropy},
    {"exact_bias", &QueryPrediction::exact_bias},
    {"exact_scatter", &QueryPrediction::exact_scatter},
    {"exact_across_variance", &QueryPrediction::exact_across_variance},
    {"limit_largest_weight", &QueryPrediction::limit_largest_weight},
    {"limit_remainder", &QueryPrediction::limit_remainder},
    {"limit_participation", &QueryPrediction::limit_participation},
    {"limit_entropy", &QueryPrediction::limit_entropy},
    {"limit_bias", &QueryPrediction::limit_bias},
    {"limit_scatter", &QueryPrediction::limit_scatter},
    {"gaussian_participation", &QueryPrediction::gaussian_participation},
    {"gaussian_bias", &QueryPrediction::gaussian_bias},
    {"gaussian_scatter", &QueryPrediction::gaussian_scatter},
    {"gaussian_radial_variance", &QueryPrediction::gaussian_radial_variance},
    {"gaussian_across_variance", &QueryPrediction::gaussian_across_variance},
    {"gaussian_skewness", &QueryPrediction::gaussian_skewness},
    {"condensed_remainder", &QueryPrediction::condensed_remainder},
    {"condensed_bias", &QueryPrediction::condensed_bias},
    {"condensed_scatter", &QueryPrediction::condensed_scatter}};

QueryPrediction nothing() {
  QueryPrediction prediction{};
  for (const Field& field : kFields) prediction.*field.value = kUnknown;
  return prediction;
}

void add_exact(QueryPrediction& p, const Place& place) {
  const SphereGap law(place.dimension);
  if (place.beta * std::abs(law.quantile(-place.log_n)) > theory::kMostScaledDepth) return;
  const theory::FiniteScores question{place.log_n, place.beta};
  const theory::FiniteScoreMeans means = theory::finite_score_means(law, question);
  const theory::FiniteSphereOutput output = theory::finite_sphere_output(means);
  p.exact_largest_weight = theory::finite_largest_weight(law, question);
  p.exact_remainder = 1.0 - p.exact_largest_weight;
  p.exact_participation = means.participation;
  p.exact_entropy = means.entropy;
  p.exact_bias = place.scales.unit * output.bias;
  p.exact_scatter = place.scales.unit * output.scatter;
  p.exact_across_variance = place.n * output.scatter / (place.dimension - 1.0);
}

bool has_limit(const theory::CriticalSphere& law) {
  return law.exponent <= theory::kMostExponent && law.theta >= theory::kLeastTheta * law.exponent &&
         law.theta <= theory::kMostTheta;
}

void add_limit(QueryPrediction& p, const theory::CriticalSphere& law) {
  if (!has_limit(law)) return;
  const theory::CriticalSphereMeans means = theory::critical_sphere_means(law);
  p.limit_largest_weight = theory::critical_sphere_largest_weight(law);
  p.limit_remainder = 1.0 - p.limit_largest_weight;
  p.limit_participation = means.participation;
  p.limit_entropy = means.entropy;
  p.limit_bias = means.bias;
  p.limit_scatter = means.scatter;
}

/// At large β everything depends on θ alone, so a β beyond the domain of the moments is lowered,
/// and n with it, at constant θ: what is lost is O(d²/kMostMomentBeta).
void add_gaussian(QueryPrediction& p, const Place& place) {
  const double shrink = std::min(1.0, kMostMomentBeta / place.beta);
  const theory::SphereQuery query{place.dimension, place.beta * shrink,
                                  place.log_n + place.exponent() * std::log(shrink)};
  if (query.log_n < 0.0) return;  // frozen long ago
  const theory::SphereFluctuations law = theory::sphere_fluctuations(query);
  p.effective_keys = std::exp(law.log_keys);
  const double skewness = law.skewness_coefficient / std::sqrt(p.effective_keys);
  if (!(p.effective_keys >= kLeastGaussianKeys && std::abs(skewness) <= kMostGaussianSkewness)) {
    return;
  }
  const double unit = place.scales.unit * shrink;
  const double along = unit * unit * std::exp(law.log_variance_along - query.log_n);
  const double across = unit * std::exp(law.log_variance_across - query.log_n);
  p.gaussian_participation = 1.0 / p.effective_keys;
  p.gaussian_bias = unit * theory::corrected_gap(query, law);
  p.gaussian_scatter = (place.dimension - 1.0) * across;
  p.gaussian_radial_variance = place.n / place.scales.unit / place.scales.unit * along;
  p.gaussian_across_variance = place.n / place.scales.unit * across;
  p.gaussian_skewness = skewness;
}

void add_condensed(QueryPrediction& p, const Place& place) {
  if (place.beta < kCondensedEdge * place.scales.edge) return;
  p.condensed_remainder = theory::condensed_remainder(place.theta(), place.exponent());
  p.condensed_bias = theory::condensed_gap_mean(place.exponent());
  p.condensed_scatter = 2.0 * p.condensed_bias;
}

/// Everything but the limit, which depends on θ and d alone.
QueryPrediction finite_prediction(const Place& place) {
  QueryPrediction p = nothing();
  add_exact(p, place);
  add_gaussian(p, place);
  add_condensed(p, place);
  return p;
}

// ---- a grid: the limit, which no n changes, once per θ --------------------------------------

Place place_at(const experiments::Query& question, std::size_t cell) {
  const std::size_t width = question.temperatures.size();
  const double n = question.n[cell / width], log_n = std::log(n);
  const auto scales = experiments::query_scales(question.dimension, log_n);
  const double value = question.temperatures[cell % width];
  return {question.dimension, n, log_n,
          experiments::inverse_temperature(question.unit, value, scales), scales};
}

/// θ of every cell, exactly as it was given where it was.
std::vector<double> thetas_of(const experiments::Query& question) {
  const std::size_t width = question.temperatures.size();
  std::vector<double> thetas(question.n.size() * width);
  for (std::size_t c = 0; c < thetas.size(); ++c) {
    thetas[c] = question.unit == experiments::TemperatureUnit::theta
                    ? question.temperatures[c % width]
                    : place_at(question, c).theta();
  }
  return thetas;
}

std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The limit at one θ.
struct Limit {
  QueryPrediction means = nothing();
  std::vector<Estimate> weights;  // by rank; none where the law has no limit
};

std::vector<Estimate> limit_weights(const experiments::Query& question,
                                    const theory::CriticalSphere& law, const RunContext& context) {
  if (!has_limit(law)) return {};
  experiments::CriticalLimit limit;
  limit.theta = law.theta;
  limit.exponent = law.exponent;
  limit.draws = kLimitDraws;
  limit.ranks = question.ranks;
  limit.top = std::max(limit.top, limit.ranks);
  limit.seed = question.seed;
  return experiments::column_means(experiments::critical_limit_weights(limit, context));
}

/// The grid of a question.
struct Grid {
  std::vector<QueryPrediction> cells;  // without their limits
  std::vector<double> thetas;          // of the cells
  std::map<double, Limit> limits;      // by θ

  [[nodiscard]] const Limit& limit(std::size_t cell) const { return limits.at(thetas[cell]); }
};

Grid grid_of(const experiments::Query& question, const RunContext& context) {
  Grid grid;
  grid.thetas = thetas_of(question);
  grid.cells.resize(grid.thetas.size());
  const std::vector<double> thetas = distinct(grid.thetas);
  const double exponent = 0.5 * (question.dimension - 1.0);
  for (const double theta : thetas) grid.limits[theta];
  const std::size_t cells = grid.cells.size();
  parallel_for(cells + thetas.size(), experiments::part_of(context, {0, 1}, 2), [&](std::size_t i) {
    if (i < cells) {
      grid.cells[i] = finite_prediction(place_at(question, i));
    } else {
      const double theta = thetas[i - cells];
      add_limit(grid.limits.at(theta).means, {theta, exponent});
    }
  });
  const RunContext rest = experiments::part_of(context, {1, 2}, 2);
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    grid.limits.at(thetas[k]).weights = limit_weights(
        question, {thetas[k], exponent}, experiments::part_of(rest, {k, k + 1}, thetas.size()));
  }
  return grid;
}

void add_limit_weights(Frame& frame, const experiments::Query& question, const Grid& grid) {
  std::vector<double> ranks(question.ranks);
  std::iota(ranks.begin(), ranks.end(), 1.0);
  frame.add_dimension("rank", std::move(ranks));
  auto& cells =
      frame.add_variable("limit_weight", {"n", experiments::name_of(question.unit), "rank"}).cells;
  for (std::size_t c = 0; c < grid.cells.size(); ++c) {
    const std::vector<Estimate>& weights = grid.limit(c).weights;
    std::copy(weights.begin(), weights.end(),
              cells.begin() + static_cast<std::ptrdiff_t>(c * question.ranks));
  }
}

}  // namespace

QueryPrediction query_prediction(int dimension, double n, double beta) {
  const double log_n = std::log(n);
  const Place place{dimension, n, log_n, beta, experiments::query_scales(dimension, log_n)};
  QueryPrediction p = finite_prediction(place);
  add_limit(p, {place.theta(), place.exponent()});
  return p;
}

const char* query_regime(const QueryPrediction& prediction, double beta, double edge) {
  const bool gaussian = !std::isnan(prediction.gaussian_bias);
  if (gaussian && prediction.effective_keys >= kSubcriticalKeys) return "subcritical";
  return beta >= kCondensedEdge * edge ? "condensed" : "critical";
}

const char* query_regime(const Frame& theory, std::size_t cell, double beta, double edge) {
  QueryPrediction prediction = nothing();
  prediction.gaussian_bias = theory.variable("gaussian_bias").cells[cell].mean;
  prediction.effective_keys = theory.variable("effective_keys").cells[cell].mean;
  return query_regime(prediction, beta, edge);
}

std::vector<std::vector<std::string>> query_regimes(const Frame& measured, const Frame& theory) {
  const auto& betas = measured.variable("inverse_temperature").cells;
  const auto& edges = measured.variable("beta_edge").cells;
  const std::size_t width = betas.size() / edges.size();
  std::vector<std::vector<std::string>> rows(edges.size());
  for (std::size_t c = 0; c < betas.size(); ++c) {
    const double edge = edges[c / width].mean;
    rows[c / width].emplace_back(query_regime(theory, c, betas[c].mean, edge));
  }
  return rows;
}

Frame query_theory(const experiments::Query& question, const RunContext& context) {
  const Grid grid = grid_of(question, context);
  Frame frame("query_theory");
  frame.add_dimension("n", question.n);
  frame.add_dimension(experiments::name_of(question.unit), question.temperatures);
  for (const Field& field : kFields) {
    auto& cells = frame.add_variable(field.name, {"n", experiments::name_of(question.unit)}).cells;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      // A field belongs to one of the two, and is NaN in the other.
      const double finite = grid.cells[c].*field.value;
      cells[c] = {std::isnan(finite) ? grid.limit(c).means.*field.value : finite, 0.0, 0};
    }
  }
  add_limit_weights(frame, question, grid);
  return frame;
}

}  // namespace dewpoint::studies
