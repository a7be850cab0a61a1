#include "dewpoint/attention/variants/variant_layer.hpp"

#include <algorithm>
#include <utility>

#include "dewpoint/attention/variants/linear_attention.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

// (I − y yᵀ) of each row over its norm: how directions move with tokens, and its own transpose.
Matrix<double> tangent_parts(const Matrix<double>& directions, std::span<const double> norms,
                             const Matrix<double>& rows) {
  Matrix<double> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double along = inner(directions.row(i), rows.row(i));
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      result(i, k) = (rows(i, k) - along * directions(i, k)) / norms[i];
    }
  }
  return result;
}

void add_scaled(double factor, const Matrix<double>& part, Matrix<double>& sum) {
  for (std::size_t k = 0; k < sum.size(); ++k) sum.data()[k] += factor * part.data()[k];
}

MatrixView<double> columns_of_head(const LayerVariant& parameters, Matrix<double>& rows,
                                   std::size_t head) {
  const Range columns = columns_of_head(parameters.projections, rows.cols(), head);
  return rows.view().block({0, rows.rows()}, columns);
}

void copy_rows(MatrixView<const double> from, MatrixView<double> to) {
  for (std::size_t i = 0; i < from.rows(); ++i) {
    std::ranges::copy(from.row(i), to.row(i).begin());
  }
}

}  // namespace

LayerVariantResult variant_layer(const TokenCloud& tokens, const LayerVariant& parameters,
                                 std::span<const std::size_t> queries, const RunContext& context) {
  check(parameters.projections, tokens.dimension());
  LayerVariantResult result{Matrix<double>(queries.size(), tokens.dimension()), {}};
  ProgressTally tally(context.progress, static_cast<double>(parameters.projections.heads));
  for (std::size_t h = 0; h < parameters.projections.heads; ++h) {
    const AttentionMatrices inputs = project(parameters.projections, h, tokens.directions);
    AttentionResult head = variant_attention(inputs.views(), parameters.attention, queries,
                                             {context.threads, context.stop, {}});
    copy_rows(head.outputs, columns_of_head(parameters, result.outputs, h));
    result.rows.push_back(std::move(head.rows));
    tally.finish(1.0);
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const double length = parameters.residual * tokens.norms[queries[i]];
    for (std::size_t k = 0; k < tokens.dimension(); ++k) {
      result.outputs(i, k) += length * tokens.directions(queries[i], k);
    }
  }
  return result;
}

LayerVariantResult variant_layer(const TokenCloud& tokens, const LayerVariant& parameters,
                                 const RunContext& context) {
  return variant_layer(tokens, parameters, all_queries(tokens.size()), context);
}

std::vector<std::vector<RowStatistics>> linear_rows(const TokenCloud& tokens,
                                                    const LayerVariant& parameters,
                                                    std::span<const std::size_t> queries,
                                                    const RunContext& context) {
  std::vector<std::vector<RowStatistics>> rows;
  for (std::size_t h = 0; h < parameters.projections.heads; ++h) {
    const AttentionMatrices inputs = project(parameters.projections, h, tokens.directions);
    rows.push_back(LinearAttention(inputs.views(), parameters.attention, context).rows(queries));
  }
  return rows;
}

VariantJacobian::VariantJacobian(const TokenCloud& tokens, LayerVariant parameters,
                                 const RunContext& context)
    : parameters_(std::move(parameters)),
      context_{context.threads, context.stop, {}},
      directions_(tokens.directions),
      norms_(tokens.norms) {
  check(parameters_.projections, dimension());
  for (std::size_t h = 0; h < parameters_.projections.heads; ++h) {
    heads_.push_back(project(parameters_.projections, h, directions_));
    check(heads_.back().views(), parameters_.attention);
  }
}

Matrix<double> VariantJacobian::jvp(const Matrix<double>& change) const {
  DEWPOINT_EXPECTS(change.rows() == rows() && change.cols() == dimension());
  const Matrix<double> moved = tangent_parts(directions_, norms_, change);
  Matrix<double> result(rows(), dimension());
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const AttentionMatrices rates = project(parameters_.projections, h, moved);
    copy_rows(variant_jvp(heads_[h].views(), parameters_.attention, rates.views(), context_),
              columns_of_head(parameters_, result, h));
  }
  add_scaled(parameters_.residual, change, result);
  return result;
}

Matrix<double> VariantJacobian::vjp(const Matrix<double>& gradient) const {
  DEWPOINT_EXPECTS(gradient.rows() == rows() && gradient.cols() == dimension());
  Matrix<double> on_directions(rows(), dimension());
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const Range columns = columns_of_head(parameters_.projections, dimension(), h);
    const auto arriving = gradient.view().block({0, rows()}, columns);
    add_unprojected(parameters_.projections, h,
                    variant_vjp(heads_[h].views(), parameters_.attention, arriving, context_),
                    on_directions);
  }
  Matrix<double> result = tangent_parts(directions_, norms_, on_directions);
  add_scaled(parameters_.residual, gradient, result);
  return result;
}

}  // namespace dewpoint::attention
