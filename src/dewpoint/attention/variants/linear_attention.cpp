#include "dewpoint/attention/variants/linear_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/attention/variants/score_strip.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

// Below it a sum of weights has lost digits to underflow: weights of 2⁻⁵² of it are still normal.
const double kLeastNormaliser = std::ldexp(std::numeric_limits<double>::min(), 60);

// Copies rows with one more column.
Matrix<double> with_column(MatrixView<const double> rows, double last) {
  Matrix<double> result(rows.rows(), rows.cols() + 1);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::copy(rows.row(i), result.row(i).begin());
    result(i, rows.cols()) = last;
  }
  return result;
}

// Without its last column.
Matrix<double> without_column(const Matrix<double>& rows) {
  Matrix<double> result(rows.rows(), rows.cols() - 1);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::copy(rows.row(i).first(result.cols()), result.row(i).begin());
  }
  return result;
}

}  // namespace

LinearAttention::LinearAttention(const AttentionInputs& inputs, const AttentionVariant& variant,
                                 const RunContext& context)
    : inputs_(inputs),
      variant_(variant),
      context_{context.threads, context.stop, {}},
      summed_(variant.mask == KeyPattern() ? SummedRows::all : SummedRows::up_to_own),
      values_(with_column(inputs.values, 1.0)) {
  const double beta = variant.inverse_temperature;
  if (std::get<FeatureMap>(variant.kind).is_random()) {
    keys_ = FeatureRows::random_keys(inputs.keys, beta,
                                     feature_directions(variant, inputs.keys.cols()));
    queries_ = FeatureRows::random_queries(inputs.queries, beta, *keys_);
  } else {
    keys_ = FeatureRows::elu(inputs.keys, beta);
    queries_ = FeatureRows::elu(inputs.queries, beta);
  }
  divide();
}

Matrix<double> LinearAttention::sums(MatrixView<const double> a, MatrixView<const double> b,
                                     MatrixView<const double> c) const {
  return kernel_sums(summed_, a, b, c, context_);
}

void LinearAttention::divide() {
  const Matrix<double> sum = sums(queries_->values(), keys_->values(), values_);
  outputs_ = without_column(sum);
  for (std::size_t j = 0; j < sum.rows(); ++j) {
    normalisers_.push_back(sum.row(j).back());
    if (!(normalisers_[j] >= kLeastNormaliser)) {
      throw Error(Code::bad_value,
                  fmt::format("beta: {} is too large for {} under a causal mask: the weights of "
                              "token {} underflow; a smaller beta or no mask is needed",
                              variant_.inverse_temperature, name_of(variant_.kind), j));
    }
    for (double& x : outputs_.row(j)) x /= normalisers_[j];
  }
}

Matrix<double> LinearAttention::jvp(const AttentionInputs& change) const {
  const Matrix<double> moved_values = with_column(change.values, 0.0);
  Matrix<double> rate = sums(queries_->values(), keys_->values(), moved_values);
  add_to(rate, sums(queries_->forward(change.queries), keys_->values(), values_));
  add_to(rate, sums(queries_->values(), keys_->forward(change.keys), values_));

  Matrix<double> result = without_column(rate);
  for (std::size_t j = 0; j < result.rows(); ++j) {
    const double on_normaliser = rate.row(j).back();
    for (std::size_t k = 0; k < result.cols(); ++k) {
      result(j, k) = (result(j, k) - outputs_(j, k) * on_normaliser) / normalisers_[j];
    }
  }
  return result;
}

AttentionMatrices LinearAttention::vjp(MatrixView<const double> gradient) const {
  Matrix<double> on_sums = with_column(gradient, 0.0);
  for (std::size_t j = 0; j < on_sums.rows(); ++j) {
    on_sums.row(j).back() = -inner(gradient.row(j), outputs_.row(j));
    for (double& x : on_sums.row(j)) x /= normalisers_[j];
  }
  const SummedRows back = transposed(summed_);
  const Matrix<double> on_values =
      kernel_sums(back, keys_->values(), queries_->values(), on_sums, context_);
  return {queries_->backward(sums(on_sums, values_, keys_->values())),
          keys_->backward(kernel_sums(back, values_, on_sums, queries_->values(), context_)),
          without_column(on_values)};
}

std::vector<RowStatistics> LinearAttention::rows(std::span<const std::size_t> queries) const {
  const std::size_t n = inputs_.queries.rows();
  const std::size_t most = rows_of_strip<double>(n);
  std::vector<RowStatistics> result(queries.size());
  parallel_for((queries.size() + most - 1) / most, context_, [&](std::size_t s) {
    const Range strip{s * most, std::min(queries.size(), (s + 1) * most)};
    const Matrix<double> asking =
        rows_of<double>(queries_->values(), queries.subspan(strip.begin, strip.size()));
    Matrix<double> weights(strip.size(), n);
    multiply_abt(asking, keys_->values(), weights);
    for (std::size_t q = 0; q < strip.size(); ++q) {
      const std::size_t query = queries[strip.begin + q];
      const std::size_t seen = variant_.mask.visible(query, n).size();
      result[strip.begin + q] = statistics(query, weights.row(q).first(seen));
    }
  });
  return result;
}

RowStatistics LinearAttention::statistics(std::size_t query, std::span<double> weights) const {
  const double shift = queries_->row_shift(query);
  const double self = weights[query] / normalisers_[query];
  for (double& x : weights) x = std::log(std::max(x, std::exp(-700.0))) + shift;
  RowStatistics row{weights.size(), {}, self};
  row.softmax.first = weights.front();
  const auto rest = weights.subspan(1);
  for (const double logit : rest) row.softmax.largest = std::max(row.softmax.largest, logit);
  for (const double logit : rest) {
    const double gap = row.softmax.largest - logit, weight = std::exp(-gap);
    row.softmax.rest += {weight, gap * weight, gap * gap * weight, weight * weight};
    row.softmax.plain_gap += gap;
    row.softmax.plain_squared_gap += gap * gap;
  }
  return row;
}

}  // namespace dewpoint::attention
