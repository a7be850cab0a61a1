#include "dewpoint/attention/jacobian_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

// A strip of queries against a block of keys: two such blocks of doubles fit into a 2 MiB cache.
constexpr std::size_t kQueries = 128;
constexpr std::size_t kKeys = 512;

std::size_t strip_count(std::size_t n) { return (n + kQueries - 1) / kQueries; }

Range strip(std::size_t s, std::size_t n) {
  return {s * kQueries, std::min(n, (s + 1) * kQueries)};
}

void add(double scale, std::span<const double> a, std::span<double> sum) {
  for (std::size_t k = 0; k < a.size(); ++k) sum[k] += scale * a[k];
}

double sum_of(std::span<const double> row) { return std::reduce(row.begin(), row.end()); }

// to += scale · (I − y yᵀ) vector
void add_tangent(double scale, std::span<const double> y, std::span<const double> vector,
                 std::span<double> to) {
  const double along = inner(y, vector);
  for (std::size_t k = 0; k < y.size(); ++k) to[k] += scale * (vector[k] - along * y[k]);
}

MatrixView<double> corner(Matrix<double>& block, Range rows, Range cols) {
  return block.view().block({0, rows.size()}, {0, cols.size()});
}

// The common part of `range` and `keys`, counted from the first key.
Range within(Range keys, Range range) {
  const auto place = [&](std::size_t key) { return std::clamp(key, keys.begin, keys.end); };
  return {place(range.begin) - keys.begin, place(range.end) - keys.begin};
}

// Sets the entries of a block where a token meets itself.
void set_self(Range queries, Range keys, double value, MatrixView<double> block) {
  const std::size_t last = std::min(queries.end, keys.end);
  for (std::size_t t = std::max(queries.begin, keys.begin); t < last; ++t) {
    block(t - queries.begin, t - keys.begin) = value;
  }
}

}  // namespace

// What a change of the tokens does to directions and scores.
struct LayerJacobian::Rates {
  Rates(std::size_t n, std::size_t d) : as_query(n, 2 * d), as_key(n, 2 * d), along(n) {}

  Matrix<double> as_query;  // (ẏ_i, o_i)
  Matrix<double> as_key;  // (o_i, ẏ_i): as_query_j · as_key_i = ⟨ẏ_j, o_i⟩ + ⟨o_j, ẏ_i⟩
  std::vector<double> along;  // ⟨ẏ_i, o_i⟩
};

// What one group of strips adds to the gradient with respect to the directions:
// of_i − on_score_i o_i.
struct LayerJacobian::Gradients {
  Gradients(std::size_t n, std::size_t d) : of(n, d), on_score(n) {}

  void operator+=(const Gradients& other) {
    add(1.0, {other.of.data(), other.of.size()}, {of.data(), of.size()});
    add(1.0, other.on_score, on_score);
  }

  Matrix<double> of;
  std::vector<double> on_score;  // Σ_k (t_ik + t_ki)
};

LayerJacobian::LayerJacobian(const TokenCloud& tokens, const Layer& parameters, Mask mask,
                             const RunContext& context)
    : parameters_(parameters),
      mask_(mask),
      context_{context.threads, context.stop, {}},
      cluster_size_(tokens.cluster_size),
      directions_(tokens.directions),
      norms_(tokens.norms),
      centre_(tokens.dimension(), 0.0),
      offsets_(tokens.directions),
      inverse_partitions_(tokens.size(), 1.0),
      mixed_(tokens.size(), tokens.dimension()) {
  DEWPOINT_EXPECTS(rows() > 0 && dimension() > 0 && norms_.size() == rows());
  DEWPOINT_EXPECTS(parameters.inverse_temperature >= 0.0);
  centre_directions();
  for_each_strip([&](Range queries) { mix(queries); });
}

void LayerJacobian::centre_directions() {
  for (std::size_t i = 0; i < rows(); ++i) add(1.0, directions_.row(i), centre_);
  for (double& c : centre_) c /= static_cast<double>(rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    add(-1.0, centre_, offsets_.row(i));
    half_squares_.push_back(0.5 * inner(offsets_.row(i), offsets_.row(i)));
  }
}

// Here the weights are still exp(−β Δ): 1/Z_j is set when Z_j is known.
void LayerJacobian::mix(Range queries) {
  const MatrixView<double> mixed = mixed_.view().row_range(queries);
  std::vector<double> partitions(queries.size(), 0.0);
  visit_weights(queries, [&](Range keys, MatrixView<const double> weights) {
    for (std::size_t q = 0; q < queries.size(); ++q) partitions[q] += sum_of(weights.row(q));
    add_ab(weights, offsets_.view().row_range(keys), mixed);
  });
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (double& m : mixed.row(q)) m /= partitions[q];
    inverse_partitions_[queries.begin + q] = 1.0 / partitions[q];
  }
}

// From the first key that any of the queries sees to the last.
Range LayerJacobian::keys_of(Range queries) const {
  Range keys = mask_.visible(queries.begin, rows());
  for (std::size_t query = queries.begin + 1; query < queries.end; ++query) {
    const Range more = mask_.visible(query, rows());
    keys = {std::min(keys.begin, more.begin), std::max(keys.end, more.end)};
  }
  return keys;
}

void LayerJacobian::visit_weights(Range queries, const BlockVisitor& visit) const {
  Matrix<double> block(queries.size(), std::min(kKeys, rows()));
  const Range all = keys_of(queries);
  for (std::size_t begin = all.begin; begin < all.end; begin += kKeys) {
    context_.throw_if_stopped();
    const Range keys{begin, std::min(begin + kKeys, all.end)};
    const MatrixView<double> weights = corner(block, queries, keys);
    fill_weights(queries, keys, weights);
    visit(keys, weights);
  }
}

void LayerJacobian::fill_weights(Range queries, Range keys, MatrixView<double> weights) const {
  const double beta = parameters_.inverse_temperature;
  multiply_abt(offsets_.view().row_range(queries), offsets_.view().row_range(keys), weights);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const std::size_t query = queries.begin + q;
    const Range seen = within(keys, mask_.visible(query, rows()));
    const double* others = half_squares_.data() + keys.begin;
    const auto row = weights.row(q);
    for (std::size_t i = seen.begin; i < seen.end; ++i) {
      const double gap = std::max(half_squares_[query] + others[i] - row[i], 0.0);
      row[i] = std::exp(-beta * gap) * inverse_partitions_[query];
    }
    if (const Range self = within(keys, {query, query + 1}); self.size() == 1) {
      row[self.begin] = inverse_partitions_[query];
    }
    std::ranges::fill(row.first(seen.begin), 0.0);
    std::ranges::fill(row.subspan(seen.end), 0.0);
  }
}

std::size_t LayerJacobian::groups() const {
  // A function of the problem only, so that the order of every sum is fixed: enough groups for the
  // threads, at most 256 MiB of their sums.
  const std::size_t by_memory = (std::size_t{1} << 28) / (rows() * dimension() * sizeof(double));
  const std::size_t by_work = strip_count(rows()) / 2;
  return std::clamp<std::size_t>(std::min(by_memory, by_work), 1, 16);
}

void LayerJacobian::for_each_strip(const std::function<void(Range queries)>& body) const {
  parallel_for(strip_count(rows()), context_, [&](std::size_t s) { body(strip(s, rows())); });
}

TokenCloud LayerJacobian::outputs() const {
  Matrix<double> result = mixed_;
  for (std::size_t j = 0; j < rows(); ++j) {
    add(1.0, centre_, result.row(j));
    add(parameters_.residual * norms_[j], directions_.row(j), result.row(j));
    if (!(inner(result.row(j), result.row(j)) > 0.0)) {
      throw Error(Code::bad_value,
                  fmt::format("residual: {} leaves token {} with length 0, without a direction for "
                              "the next layer",
                              parameters_.residual, j));
    }
  }
  TokenCloud tokens = split_norms(std::move(result));
  tokens.cluster_size = cluster_size_;
  return tokens;
}

LayerJacobian::Rates LayerJacobian::rates_of(const Matrix<double>& change) const {
  const std::size_t d = dimension();
  Rates rates(rows(), d);
  for (std::size_t i = 0; i < rows(); ++i) {
    const auto rate = rates.as_query.row(i).first(d);
    add_tangent(1.0 / norms_[i], directions_.row(i), change.row(i), rate);
    rates.along[i] = inner(rate, offsets_.row(i));
    std::copy_n(offsets_.row(i).begin(), d, rates.as_query.row(i).begin() + d);
    std::copy_n(offsets_.row(i).begin(), d, rates.as_key.row(i).begin());
    std::copy_n(rate.begin(), d, rates.as_key.row(i).begin() + d);
  }
  return rates;
}

Matrix<double> LayerJacobian::jvp(const Matrix<double>& change) const {
  DEWPOINT_EXPECTS(change.rows() == rows() && change.cols() == dimension());
  const Rates rates = rates_of(change);
  Matrix<double> result(rows(), dimension());
  for_each_strip([&](Range queries) { add_forward(queries, rates, result); });
  add(parameters_.residual, {change.data(), change.size()}, {result.data(), result.size()});
  return result;
}

void LayerJacobian::add_forward(Range queries, const Rates& rates, Matrix<double>& result) const {
  const double beta = parameters_.inverse_temperature;
  const Range first_half{0, dimension()};
  Matrix<double> block(queries.size(), std::min(kKeys, rows()));
  std::vector<double> total(queries.size(), 0.0);
  visit_weights(queries, [&](Range keys, MatrixView<const double> weights) {
    // β A_ji s_ji
    const MatrixView<double> tilt = corner(block, queries, keys);
    multiply_abt(rates.as_query.view().row_range(queries), rates.as_key.view().row_range(keys),
                 tilt);
    const double* along = rates.along.data() + keys.begin;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const double own = rates.along[queries.begin + q];
      const double* weight = weights.row(q).data();
      double* row = tilt.row(q).data();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        row[i] = beta * weight[i] * (row[i] - own - along[i]);
      }
    }
    set_self(queries, keys, 0.0, tilt);
    for (std::size_t q = 0; q < queries.size(); ++q) total[q] += sum_of(tilt.row(q));

    const MatrixView<double> out = result.view().row_range(queries);
    add_ab(weights, rates.as_query.view().block(keys, first_half), out);
    add_ab(tilt, offsets_.view().row_range(keys), out);
  });
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const std::size_t query = queries.begin + q;
    add(-total[q], mixed_.row(query), result.row(query));
  }
}

// Strips go to the groups in snake order (0..G-1, then G-1..0, ...): under a causal mask later
// strips are longer, and this shares them evenly.
Matrix<double> LayerJacobian::vjp(const Matrix<double>& gradient) const {
  DEWPOINT_EXPECTS(gradient.rows() == rows() && gradient.cols() == dimension());
  const std::size_t count = groups();
  std::vector<Gradients> sums(count, Gradients(rows(), dimension()));
  parallel_for(count, context_, [&](std::size_t group) {
    for (std::size_t s = 0; s < strip_count(rows()); ++s) {
      const std::size_t place = s % count;
      const bool backwards = (s / count) % 2 == 1;
      if (group == (backwards ? count - 1 - place : place)) {
        add_backward(strip(s, rows()), gradient, sums[group]);
      }
    }
  });
  for (std::size_t group = 1; group < count; ++group) sums[0] += sums[group];

  Matrix<double> result(rows(), dimension());
  for (std::size_t i = 0; i < rows(); ++i) {
    const auto on_direction = sums[0].of.row(i);
    add(-sums[0].on_score[i], offsets_.row(i), on_direction);
    add_tangent(1.0 / norms_[i], directions_.row(i), on_direction, result.row(i));
    add(parameters_.residual, gradient.row(i), result.row(i));
  }
  return result;
}

void LayerJacobian::add_backward(Range queries, const Matrix<double>& gradient,
                                 Gradients& sums) const {
  const double beta = parameters_.inverse_temperature;
  const MatrixView<const double> arriving = gradient.view().row_range(queries);
  const MatrixView<const double> own_offsets = offsets_.view().row_range(queries);
  Matrix<double> block(queries.size(), std::min(kKeys, rows()));
  visit_weights(queries, [&](Range keys, MatrixView<const double> weights) {
    // t_ji
    const MatrixView<double> on_scores = corner(block, queries, keys);
    multiply_abt(arriving, offsets_.view().row_range(keys), on_scores);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const double at_mean = inner(arriving.row(q), mixed_.row(queries.begin + q));
      const double* weight = weights.row(q).data();
      double* row = on_scores.row(q).data();
      for (std::size_t i = 0; i < keys.size(); ++i) row[i] = beta * weight[i] * (row[i] - at_mean);
    }
    set_self(queries, keys, 0.0, on_scores);
    const auto on_keys = std::span(sums.on_score).subspan(keys.begin, keys.size());
    for (std::size_t q = 0; q < queries.size(); ++q) {
      sums.on_score[queries.begin + q] += sum_of(on_scores.row(q));
      add(1.0, on_scores.row(q), on_keys);
    }

    add_ab(on_scores, offsets_.view().row_range(keys), sums.of.view().row_range(queries));
    add_atb(weights, arriving, sums.of.view().row_range(keys));
    add_atb(on_scores, own_offsets, sums.of.view().row_range(keys));
  });
}

double LayerJacobian::relative_error() const {
  const double n = static_cast<double>(rows()), d = static_cast<double>(dimension());
  const double g = 2.0 * *std::max_element(half_squares_.begin(), half_squares_.end());
  const double roundings =
      3.0 * n + 4.0 * d + 20.0 + 8.0 * (d + 5.0) * parameters_.inverse_temperature * g;
  return 0.5 * std::numeric_limits<double>::epsilon() * roundings;
}

JacobianChain::JacobianChain(const TokenCloud& tokens, std::span<const Layer> layers, Mask mask,
                             const RunContext& context) {
  if (layers.empty()) throw Error(Code::bad_value, "layers: 0 is below 1");
  layers_.reserve(layers.size());
  layers_.emplace_back(tokens, layers.front(), mask, context);
  for (const Layer& next : layers.subspan(1)) {
    layers_.emplace_back(layers_.back().outputs(), next, mask, context);
  }
}

Matrix<double> JacobianChain::jvp(const Matrix<double>& change) const {
  return jvp(change, {0, layers_.size()});
}

Matrix<double> JacobianChain::vjp(const Matrix<double>& gradient) const {
  return vjp(gradient, {0, layers_.size()});
}

Matrix<double> JacobianChain::jvp(const Matrix<double>& change, Range part) const {
  DEWPOINT_EXPECTS(part.begin <= part.end && part.end <= layers_.size());
  Matrix<double> result = change;
  for (std::size_t t = part.begin; t < part.end; ++t) result = layers_[t].jvp(result);
  return result;
}

Matrix<double> JacobianChain::vjp(const Matrix<double>& gradient, Range part) const {
  DEWPOINT_EXPECTS(part.begin <= part.end && part.end <= layers_.size());
  Matrix<double> result = gradient;
  for (std::size_t t = part.end; t > part.begin; --t) result = layers_[t - 1].vjp(result);
  return result;
}

Estimate hutchinson_norm(const JacobianOperator& jacobian, std::size_t probes,
                         const Stream& stream) {
  if (probes == 0) throw Error(Code::bad_value, "probes: 0 is below 1");
  Matrix<double> signs(jacobian.rows(), jacobian.dimension());
  RunningMoments norms;
  for (std::size_t p = 0; p < probes; ++p) {
    for (std::size_t k = 0; k < signs.size(); ++k) {
      signs.data()[k] = stream.rademacher(p * signs.size() + k);
    }
    const Matrix<double> image = jacobian.jvp(signs);
    const std::span<const double> entries(image.data(), image.size());
    norms.add(inner(entries, entries) / static_cast<double>(signs.size()));
  }
  return norms.estimate();
}

Estimate hutchinson_norm(const JacobianOperator& jacobian, const NormOptions& options) {
  constexpr std::size_t kPilot = 8;
  constexpr double kMost = 4096.0;
  const Stream signs(options.seed, "jacobian/hutchinson", options.replica);
  if (options.probes > 0) return hutchinson_norm(jacobian, options.probes, signs);
  const Estimate pilot = hutchinson_norm(jacobian, kPilot, signs);
  const double excess = pilot.standard_error / (options.target_error * pilot.mean);
  if (!(excess > 1.0)) return pilot;
  const double needed = std::min(std::ceil(1.1 * kPilot * excess * excess), kMost);
  return hutchinson_norm(jacobian, static_cast<std::size_t>(needed), signs);
}

}  // namespace dewpoint::attention
