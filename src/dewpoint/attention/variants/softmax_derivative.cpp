#include <algorithm>
#include <variant>

#include "dewpoint/attention/variants/score_strip.hpp"
#include "dewpoint/attention/variants/softmax_attention.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

// The weights p of some queries, and what they make of the values.
struct WeightStrip {
  Range queries;
  KeyColumns columns;
  Matrix<double> weights;
  std::vector<double> sinks;  // weight of the sink of each query; 0 without one
  Matrix<double> outputs;
};

// block(q, c) = ⟨rows_q, keys_c⟩ for the keys of the columns; or added to it.
void multiply_columns(const KeyColumns& columns, MatrixView<const double> rows,
                      MatrixView<const double> keys, MatrixView<double> block) {
  columns.for_each_range([&](Range some, Range place) {
    multiply_abt(rows, keys.row_range(some), columns_of(block, place));
  });
}
void add_columns(const KeyColumns& columns, MatrixView<const double> rows,
                 MatrixView<const double> keys, MatrixView<double> block) {
  columns.for_each_range([&](Range some, Range place) {
    add_abt(rows, keys.row_range(some), columns_of(block, place));
  });
}

// sum_q += Σ_c block(q, c) rows_c
void add_mixed(const KeyColumns& columns, MatrixView<const double> block,
               MatrixView<const double> rows, MatrixView<double> sum) {
  columns.for_each_range([&](Range some, Range place) {
    add_ab(columns_of(block, place), rows.row_range(some), sum);
  });
}

// sum_c += Σ_q block(q, c) rows_q
void add_to_keys(const KeyColumns& columns, MatrixView<const double> block,
                 MatrixView<const double> rows, MatrixView<double> sum) {
  columns.for_each_range([&](Range some, Range place) {
    add_atb(columns_of(block, place), rows, sum.row_range(some));
  });
}

WeightStrip weight_strip(const AttentionInputs& inputs, const AttentionVariant& variant,
                         Range queries) {
  const std::size_t n = inputs.keys.rows();
  const auto& softmax = std::get<Softmax>(variant.kind);
  const double beta = variant.inverse_temperature;
  KeyColumns columns(variant.mask.ranges_seen(queries, n));
  Matrix<double> weights(queries.size(), columns.size());
  multiply_columns(columns, inputs.queries.row_range(queries), inputs.keys, weights);

  RowScores<double> scores(softmax, columns);
  std::vector<double> sinks;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const VisibleKeys seen = variant.mask.visible(queries.begin + q, n);
    scores.take(seen, weights.row(q));
    const double largest = scores.largest();
    const double share = share_of(softmax, scores.weigh(largest, beta), beta * largest);
    for (double& weight : scores.kept()) weight *= share;
    const auto& logit = softmax.sink_logit();
    sinks.push_back(logit ? share * std::exp(*logit - beta * largest) : 0.0);
    scores.put(seen, weights.row(q));
  }

  Matrix<double> outputs(queries.size(), inputs.values.cols());
  add_mixed(columns, weights, inputs.values, outputs);
  return {queries, std::move(columns), std::move(weights), std::move(sinks), std::move(outputs)};
}

void add_forward(const AttentionInputs& inputs, double beta, const AttentionInputs& change,
                 const WeightStrip& strip, MatrixView<double> result) {
  // p r, row by row with its sum.
  Matrix<double> tilt(strip.weights.rows(), strip.weights.cols());
  multiply_columns(strip.columns, change.queries.row_range(strip.queries), inputs.keys, tilt);
  add_columns(strip.columns, inputs.queries.row_range(strip.queries), change.keys, tilt);
  for (std::size_t q = 0; q < strip.queries.size(); ++q) {
    const auto rate = tilt.row(q);
    const auto weight = strip.weights.row(q);
    for (std::size_t c = 0; c < rate.size(); ++c) rate[c] *= beta * weight[c];
    const double total = std::reduce(rate.begin(), rate.end());
    for (std::size_t k = 0; k < result.cols(); ++k) result(q, k) -= total * strip.outputs(q, k);
  }
  add_mixed(strip.columns, tilt, inputs.values, result);
  add_mixed(strip.columns, strip.weights, change.values, result);
}

AttentionMatrices zero_gradients(const AttentionInputs& inputs) {
  const std::size_t n = inputs.queries.rows(), d = inputs.queries.cols();
  return {Matrix<double>(n, d), Matrix<double>(n, d), Matrix<double>(n, inputs.values.cols())};
}

void add_backward(const AttentionInputs& inputs, double beta, MatrixView<const double> arriving,
                  const WeightStrip& strip, AttentionMatrices& sums) {
  // t
  Matrix<double> on_logits(strip.weights.rows(), strip.weights.cols());
  multiply_columns(strip.columns, arriving, inputs.values, on_logits);
  for (std::size_t q = 0; q < strip.queries.size(); ++q) {
    const double at_output = inner(arriving.row(q), strip.outputs.row(q));
    const auto weight = strip.weights.row(q);
    const auto row = on_logits.row(q);
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = beta * weight[c] * (row[c] - at_output);
  }
  add_mixed(strip.columns, on_logits, inputs.keys, sums.queries.view().row_range(strip.queries));
  add_to_keys(strip.columns, on_logits, inputs.queries.row_range(strip.queries), sums.keys);
  add_to_keys(strip.columns, strip.weights, arriving, sums.values);
}

// Groups of strips with sums of their own: a rule of the problem alone, so that the order of every
// sum is fixed.
constexpr std::size_t kGroups = 8;

}  // namespace

Matrix<double> softmax_in_double(const AttentionInputs& inputs, const AttentionVariant& variant,
                                 const RunContext& context) {
  const std::size_t n = inputs.queries.rows();
  Matrix<double> result(n, inputs.values.cols());
  parallel_for(strips_of<double>(n), context, [&](std::size_t s) {
    const WeightStrip strip = weight_strip(inputs, variant, strip_of<double>(s, n));
    const auto rows = result.view().row_range(strip.queries);
    for (std::size_t q = 0; q < rows.rows(); ++q) {
      std::ranges::copy(strip.outputs.row(q), rows.row(q).begin());
    }
  });
  return result;
}

Matrix<double> softmax_jvp(const AttentionInputs& inputs, const AttentionVariant& variant,
                           const AttentionInputs& change, const RunContext& context) {
  const std::size_t n = inputs.queries.rows();
  DEWPOINT_EXPECTS(change.queries.rows() == n && change.keys.rows() == n &&
                   change.values.rows() == n);
  Matrix<double> result(n, inputs.values.cols());
  parallel_for(strips_of<double>(n), context, [&](std::size_t s) {
    const WeightStrip strip = weight_strip(inputs, variant, strip_of<double>(s, n));
    add_forward(inputs, variant.inverse_temperature, change, strip,
                result.view().row_range(strip.queries));
  });
  return result;
}

Matrix<double> sink_derivative(const AttentionInputs& inputs, const AttentionVariant& variant,
                               const RunContext& context) {
  check(inputs, variant);
  const std::size_t n = inputs.queries.rows();
  Matrix<double> result(n, inputs.values.cols());
  if (!std::holds_alternative<Softmax>(variant.kind)) return result;
  parallel_for(strips_of<double>(n), context, [&](std::size_t s) {
    const WeightStrip strip = weight_strip(inputs, variant, strip_of<double>(s, n));
    for (std::size_t q = 0; q < strip.queries.size(); ++q) {
      const auto row = result.row(strip.queries.begin + q);
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = -strip.sinks[q] * strip.outputs(q, k);
    }
  });
  return result;
}

AttentionMatrices softmax_vjp(const AttentionInputs& inputs, const AttentionVariant& variant,
                              MatrixView<const double> gradient, const RunContext& context) {
  const std::size_t n = inputs.queries.rows();
  DEWPOINT_EXPECTS(gradient.rows() == n && gradient.cols() == inputs.values.cols());
  const std::size_t strips = strips_of<double>(n), groups = std::min(kGroups, strips);
  std::vector<AttentionMatrices> sums(groups);
  parallel_for(groups, context, [&](std::size_t group) {
    sums[group] = zero_gradients(inputs);
    for (std::size_t s = group; s < strips; s += groups) {
      context.throw_if_stopped();
      const WeightStrip strip = weight_strip(inputs, variant, strip_of<double>(s, n));
      add_backward(inputs, variant.inverse_temperature, gradient.row_range(strip.queries), strip,
                   sums[group]);
    }
  });
  for (std::size_t group = 1; group < groups; ++group) {
    add_to(sums[0].queries, sums[group].queries);
    add_to(sums[0].keys, sums[group].keys);
    add_to(sums[0].values, sums[group].values);
  }
  return std::move(sums[0]);
}

}  // namespace dewpoint::attention
