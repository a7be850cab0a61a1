#include "dewpoint/attention/layer.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/weight_stream.hpp"

namespace dewpoint::attention {
namespace {

// A visitor of weight blocks: adds Σ_j (w_ij − shift) o_j to the outputs of the block's rows and,
// for a mirrored block, of its columns.
class ValueSums {
 public:
  ValueSums(const CentredCloud& cloud, Matrix<double>& sums) : cloud_(&cloud), sums_(&sums) {}

  void operator()(const WeightBlock& block) const {
    Matrix<float> product(kStreamBlock, cloud_->dimension());
    const auto part = [&](Range r) { return product.view().row_range({0, r.size()}); };
    multiply_ab(block.weights, cloud_->offsets().row_range(block.cols), part(block.rows));
    kernels::accumulate(part(block.rows), sums_->view().row_range(block.rows));
    if (!block.mirrored) return;
    multiply_atb(block.weights, cloud_->offsets().row_range(block.rows), part(block.cols));
    kernels::accumulate(part(block.cols), sums_->view().row_range(block.cols));
  }

 private:
  const CentredCloud* cloud_;
  Matrix<double>* sums_;
};

// Σ_j w_ij o_j / Z_i from the sums of ValueSums, in place: what the blocks left out (the token
// itself, with weight 1) and what they took off (shift times the sum of all offsets, 0 but for its
// rounding) is added in double.
void normalise(const CentredCloud& cloud, float shift, std::span<const std::size_t> rows,
               std::span<const RowMoments> moments, Matrix<double>& sums) {
  std::vector<double> all_offsets(cloud.dimension(), 0.0);
  kernels::add_columns(cloud.offsets(), all_offsets);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto self = cloud.offsets().row(rows[i]);
    const auto row = sums.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double others = row[k] + static_cast<double>(shift) * all_offsets[k];
      row[k] = (others + static_cast<double>(self[k])) / moments[i].partition;
    }
  }
}

LayerResult finish(const TokenCloud& tokens, const CentredCloud& cloud, const Layer& parameters,
                   float shift, LayerResult result) {
  result.base = cloud.centre();
  normalise(cloud, shift, result.rows, result.moments, result.deviations);
  add_residual(tokens, parameters.residual, result);
  return result;
}

}  // namespace

std::vector<double> mean_of_tokens(const TokenCloud& tokens) {
  std::vector<double> mean(tokens.dimension(), 0.0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] += tokens.norms[i] * tokens.directions(i, k);
    }
  }
  for (double& m : mean) m /= static_cast<double>(tokens.size());
  return mean;
}

void add_residual(const TokenCloud& tokens, double alpha, LayerResult& result) {
  if (alpha == 0.0) return;
  const std::vector<double> mean = mean_of_tokens(tokens);
  for (std::size_t k = 0; k < mean.size(); ++k) result.base[k] += alpha * mean[k];
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const std::size_t token = result.rows[i];
    const auto row = result.deviations.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      row[k] += alpha * (tokens.norms[token] * tokens.directions(token, k) - mean[k]);
    }
  }
}

CentredCloud LayerResult::directions() const {
  return CentredCloud::of_deviations(base, deviations.view());
}

LayerResult layer(const TokenCloud& tokens, const Layer& parameters, const RunContext& context) {
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  const WeightStream stream(cloud, parameters.inverse_temperature);
  std::vector<Matrix<double>> sums;
  for (std::size_t s = 0; s < stream.stripes(); ++s) {
    sums.emplace_back(tokens.size(), tokens.dimension());
  }
  std::vector<BlockVisitor> visitors;
  for (Matrix<double>& stripe : sums) visitors.emplace_back(ValueSums(cloud, stripe));

  LayerResult result;
  result.rows.resize(tokens.size());
  std::iota(result.rows.begin(), result.rows.end(), std::size_t{0});
  result.moments = stream.all_pairs(visitors, context);
  for (std::size_t s = 1; s < sums.size(); ++s) {
    for (std::size_t k = 0; k < sums[0].size(); ++k) sums[0].data()[k] += sums[s].data()[k];
  }
  result.deviations = std::move(sums[0]);
  return finish(tokens, cloud, parameters, stream.shift(), std::move(result));
}

LayerResult layer_on_rows(const TokenCloud& tokens, const Layer& parameters,
                          std::vector<std::size_t> rows, const RunContext& context) {
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  const WeightStream stream(cloud, parameters.inverse_temperature);
  LayerResult result;
  result.rows = std::move(rows);
  result.deviations = Matrix<double>(result.rows.size(), tokens.dimension());
  result.moments = stream.some_rows(result.rows, ValueSums(cloud, result.deviations), context);
  return finish(tokens, cloud, parameters, stream.shift(), std::move(result));
}

}  // namespace dewpoint::attention
