#include "dewpoint/experiments/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/experiments/sample_statistics.hpp"
#include "dewpoint/scores/sphere_output.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::size_t kDefaultTop = 64;
constexpr std::size_t kBatch = 16'384;  // draws held in memory at a time

// What is averaged over draws, in storage order. Lengths are in units of 1/β*.
enum Value : std::size_t {
  participation,
  entropy,
  scaled_bias,
  scaled_scatter,
  scaled_expected_scatter,
  scaled_across,
  virial_residual,
  rest_weight,
  log_partition_bound,
  largest_weight_bound,
  exchange,
  remainder,
  value_count
};

// One draw at one temperature.
struct Measured {
  std::array<double, value_count> values;
  std::vector<double> weights;
};

Measured measure(const scores::SphereOutput& sphere, const scores::OutputSample& sample,
                 double beta, const QueryScales& scales, std::size_t ranks) {
  const double others = sphere.dimension() - 1.0;
  Measured measured{};
  auto& v = measured.values;
  v[participation] = sample.softmax.participation;
  v[entropy] = sample.entropy;
  v[scaled_bias] = scales.unit * sample.radial_gap;
  v[scaled_scatter] = scales.unit * sample.across_square;
  v[scaled_expected_scatter] = scales.unit * sample.expected_across;
  v[scaled_across] = std::sqrt(scales.unit) * sample.across.front();
  v[virial_residual] =
      others * (1.0 - sample.radial_gap) - beta * (sample.sine_square - sample.expected_across);
  v[rest_weight] = sample.softmax.rest_weight;
  v[log_partition_bound] = sample.softmax.log_partition_bound;
  v[largest_weight_bound] = sample.softmax.largest_weight_bound;
  v[exchange] = sample.exchange;
  v[remainder] = -std::expm1(-sample.softmax.log_relative_partition);
  measured.weights.assign(sample.weights.begin(),
                          sample.weights.begin() + std::min(ranks, sample.weights.size()));
  return measured;
}

// All draws at one n and one temperature.
struct Column {
  std::array<RunningMoments, value_count> values;
  std::vector<RunningMoments> weights;
  std::vector<double> radial;                                 // every scaled_bias
  std::vector<double> largest_weight, second_weight, across;  // kept on request

  void add(const Measured& measured, bool keep) {
    for (std::size_t k = 0; k < value_count; ++k) values[k].add(measured.values[k]);
    weights.resize(measured.weights.size());
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k].add(measured.weights[k]);
    radial.push_back(measured.values[scaled_bias]);
    if (!keep) return;
    largest_weight.push_back(measured.weights[0]);
    second_weight.push_back(measured.weights.size() > 1 ? measured.weights[1] : 0.0);
    across.push_back(measured.values[scaled_across]);
  }
};

// Everything at one n.
struct Row {
  double n;
  QueryScales scales;
  std::vector<double> betas;
  std::size_t top;
  std::vector<Column> columns;
};

std::vector<double> betas_of(const Query& p, const QueryScales& scales) {
  std::vector<double> betas;
  for (const double value : p.temperatures) {
    betas.push_back(inverse_temperature(p.unit, value, scales));
  }
  return betas;
}

std::size_t no_more_than(double n, std::size_t count) {
  return n < static_cast<double>(count) ? static_cast<std::size_t>(n) : count;
}

std::size_t bounded_top_count(const Query& p, double n, double beta) {
  const scores::TopCountSearch search{p.bound};
  const auto count =
      scores::choose_top_count(scores::SphereLaw(p.dimension), std::log(n), beta, search, p.seed);
  if (count) return *count;
  throw Error(Code::bad_value,
              fmt::format("bound: {} is not reached with {} keys at n = {}, beta = {}", p.bound,
                          search.most, n, beta));
}

Row empty_row(const Query& p, double n) {
  const QueryScales scales = query_scales(p.dimension, std::log(n));
  Row row{n, scales, betas_of(p, scales), top_count(p, n), {}};
  row.columns.resize(row.betas.size());
  return row;
}

void run_batch(const Query& p, Row& row, Range draws, const RunContext& context) {
  const scores::SphereOutput sphere(p.dimension);
  const std::string name = fmt::format("query/d={}/n={}", p.dimension, row.n);
  std::vector<std::vector<Measured>> measured(draws.size());
  parallel_for(draws.size(), context, [&](std::size_t i) {
    const Stream stream(p.seed, name, draws.begin + i);
    const auto top = scores::draw_top_scores(sphere.law(), std::log(row.n), row.top, stream);
    for (const double beta : row.betas) {
      measured[i].push_back(
          measure(sphere, sphere.weigh(top, beta, stream), beta, row.scales, p.ranks));
    }
  });
  for (const auto& draw : measured) {
    for (std::size_t t = 0; t < row.betas.size(); ++t) row.columns[t].add(draw[t], p.keep_draws);
  }
}

std::vector<Row> run_rows(const Query& p, const RunContext& context) {
  std::vector<Row> rows;
  const std::size_t whole = p.n.size() * p.draws;
  for (std::size_t i = 0; i < p.n.size(); ++i) {
    rows.push_back(empty_row(p, p.n[i]));
    for (std::size_t done = 0; done < p.draws; done += kBatch) {
      const Range draws{done, std::min(done + kBatch, p.draws)};
      const Range part{i * p.draws + draws.begin, i * p.draws + draws.end};
      run_batch(p, rows.back(), draws, part_of(context, part, whole));
    }
  }
  return rows;
}

Estimate exactly(double value) { return {value, 0.0, 0}; }

Estimate times(double factor, const Estimate& estimate) {
  return {factor * estimate.mean, factor * estimate.standard_error, estimate.samples};
}

// Fills a variable over (n, U) from the columns.
template <class Cell>
void add_over_grid(Frame& frame, const Query& p, const std::vector<Row>& rows, const char* name,
                   const Cell& cell) {
  auto& cells = frame.add_variable(name, {"n", name_of(p.unit)}).cells;
  const std::size_t width = p.temperatures.size();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    cells[c] = cell(rows[c / width], c % width);
  }
}

void add_scales(Frame& frame, const std::vector<Row>& rows) {
  const auto add = [&](const char* name, const auto& value) {
    auto& cells = frame.add_variable(name, {"n"}).cells;
    for (std::size_t i = 0; i < rows.size(); ++i) cells[i] = exactly(value(rows[i]));
  };
  add("beta_star", [](const Row& row) { return row.scales.unit; });
  add("inverse_typical_gap", [](const Row& row) { return 1.0 / row.scales.typical_gap; });
  add("beta_edge", [](const Row& row) { return row.scales.edge; });
  add("top_count", [](const Row& row) { return static_cast<double>(row.top); });
}

void add_means(Frame& frame, const Query& p, const std::vector<Row>& rows) {
  const auto add = [&](const char* name, Value value, const auto& factor) {
    add_over_grid(frame, p, rows, name, [&](const Row& row, std::size_t t) {
      return times(factor(row), row.columns[t].values[value].estimate());
    });
  };
  const auto one = [](const Row&) { return 1.0; };
  const auto length = [](const Row& row) { return 1.0 / row.scales.unit; };
  add("participation", participation, one);
  add("entropy", entropy, one);
  add("bias", scaled_bias, length);
  add("scaled_bias", scaled_bias, one);
  add("scatter", scaled_scatter, length);
  add("scaled_scatter", scaled_scatter, one);
  add("expected_scatter", scaled_expected_scatter, length);
  add("across_variance", scaled_scatter,
      [&p](const Row& row) { return row.n / row.scales.unit / (p.dimension - 1.0); });
  add("remainder", remainder, one);
  add("virial_residual", virial_residual, one);
  add("rest_weight", rest_weight, one);
  add("log_partition_bound", log_partition_bound, one);
  add("largest_weight_bound", largest_weight_bound, one);
  add("exchange", exchange, one);
}

void add_spread(Frame& frame, const Query& p, const std::vector<Row>& rows) {
  add_over_grid(frame, p, rows, "radial_variance", [](const Row& row, std::size_t t) {
    return times(row.n / row.scales.unit / row.scales.unit, variance_of(row.columns[t].radial));
  });
  add_over_grid(frame, p, rows, "skewness",
                [](const Row& row, std::size_t t) { return skewness_of(row.columns[t].radial); });
}

std::vector<double> counted(std::size_t first, std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<double>(first));
  return numbers;
}

void add_weights(Frame& frame, const Query& p, const std::vector<Row>& rows) {
  frame.add_dimension("rank", counted(1, p.ranks));
  auto& cells = frame.add_variable("weight", {"n", name_of(p.unit), "rank"}).cells;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::size_t place = c / p.ranks, rank = c % p.ranks;
    const auto& weights =
        rows[place / p.temperatures.size()].columns[place % p.temperatures.size()].weights;
    if (rank < weights.size()) cells[c] = weights[rank].estimate();
  }
}

Frame frame_of(const Query& p, const std::vector<Row>& rows) {
  Frame frame("query");
  frame.add_dimension("n", p.n);
  frame.add_dimension(name_of(p.unit), p.temperatures);
  add_scales(frame, rows);
  add_over_grid(frame, p, rows, "inverse_temperature",
                [](const Row& row, std::size_t t) { return exactly(row.betas[t]); });
  add_means(frame, p, rows);
  add_spread(frame, p, rows);
  add_weights(frame, p, rows);
  return frame;
}

Frame draws_of(const Query& p, const std::vector<Row>& rows) {
  Frame frame("query_draws");
  frame.add_dimension("n", p.n);
  frame.add_dimension(name_of(p.unit), p.temperatures);
  frame.add_dimension("draw", counted(0, p.draws));
  const auto add = [&](const char* name, std::vector<double> Column::*values) {
    auto& cells = frame.add_variable(name, {"n", name_of(p.unit), "draw"}).cells;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::size_t place = c / p.draws;
      const Column& column =
          rows[place / p.temperatures.size()].columns[place % p.temperatures.size()];
      cells[c] = {(column.*values)[c % p.draws], 0.0, 1};
    }
  };
  add("largest_weight", &Column::largest_weight);
  add("second_weight", &Column::second_weight);
  add("scaled_radial", &Column::radial);
  add("scaled_across", &Column::across);
  return frame;
}

void check_count(const Query& p, double n) {
  const scores::SphereLaw law(p.dimension);
  if (!(n >= 2.0) || n != std::floor(n) || std::log(n) > law.most_log_scores()) {
    throw Error(Code::bad_value,
                fmt::format("n: {} is not a whole number in [2, {:.3g}]", n,
                            std::exp(std::min(law.most_log_scores(), std::log(1e300)))));
  }
  const std::size_t least = no_more_than(n, p.ranks);
  const bool given = p.bound == 0.0 && p.top > 0;
  if (given && (p.top < least || static_cast<double>(p.top) > n)) {
    throw Error(Code::bad_value, fmt::format("top: {} is not a whole number from {}, as many as "
                                             "ranks, to n = {}",
                                             p.top, least, n));
  }
}

void check_temperature(const Query& p, double value) {
  const double log_n = std::log(*std::max_element(p.n.begin(), p.n.end()));
  const double beta = inverse_temperature(p.unit, value, query_scales(p.dimension, log_n));
  if (!(value > 0.0) || !(beta <= kLargestInverseTemperature)) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not a number > 0 with beta <= {}",
                                             name_of(p.unit), value, kLargestInverseTemperature));
  }
}

}  // namespace

QueryScales query_scales(int dimension, double log_n) {
  const SphereGap gap(dimension);
  const double log_typical = gap.log_quantile(-log_n), typical = gap.quantile(-log_n);
  const double log_unit = (log_n + std::log(gap.local_constant())) / gap.exponent();
  return {std::exp(log_unit), std::exp(log_typical), std::exp(log_n + gap.log_density(typical))};
}

double inverse_temperature(TemperatureUnit unit, double value, const QueryScales& scales) {
  if (unit == TemperatureUnit::theta) return value * scales.unit;
  if (unit == TemperatureUnit::edge) return value * scales.edge;
  return value;
}

const char* name_of(TemperatureUnit unit) {
  switch (unit) {
    case TemperatureUnit::beta:
      return "beta";
    case TemperatureUnit::theta:
      return "theta";
    case TemperatureUnit::edge:
      return "edge";
  }
  return "";
}

Query resolved(Query p) {
  const scores::SphereLaw law(p.dimension);  // refuses a dimension out of range
  if (p.n.empty()) throw Error(Code::bad_value, "n: the list is empty");
  for (const double n : p.n) check_count(p, n);
  if (p.temperatures.empty()) {
    throw Error(Code::bad_value, fmt::format("{}: the list is empty", name_of(p.unit)));
  }
  for (const double value : p.temperatures) check_temperature(p, value);
  if (p.draws < 2) throw Error(Code::bad_value, fmt::format("draws: {} is below 2", p.draws));
  if (p.ranks < 1) throw Error(Code::bad_value, "ranks: 0 is below 1");
  if (!(p.bound >= 0.0) || !std::isfinite(p.bound)) {
    throw Error(Code::bad_value, fmt::format("bound: {} is not a finite number >= 0", p.bound));
  }
  return p;
}

std::size_t top_count(const Query& p, double n) {
  if (p.bound == 0.0 && p.top > 0) return p.top;
  if (p.bound == 0.0) return no_more_than(n, std::max(kDefaultTop, p.ranks));
  std::size_t most = no_more_than(n, p.ranks);
  for (const double beta : betas_of(p, query_scales(p.dimension, std::log(n)))) {
    most = std::max(most, bounded_top_count(p, n, beta));
  }
  return most;
}

QueryResult query(const Query& parameters, const RunContext& context) {
  const Query p = resolved(parameters);
  const std::vector<Row> rows = run_rows(p, context);
  return {frame_of(p, rows), p.keep_draws ? draws_of(p, rows) : Frame()};
}

}  // namespace dewpoint::experiments
