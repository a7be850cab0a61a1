#include "dewpoint/attention/layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dewpoint/core/blas.hpp"

namespace dewpoint::attention {
namespace {

Range block_range(std::size_t block, std::size_t n) {
  return {block * kBlock, std::min(n, (block + 1) * kBlock)};
}

std::size_t block_count(std::size_t n) { return (n + kBlock - 1) / kBlock; }

// A token's weight on itself is exactly 1. It is kept out of the blocks (as an inner product so low
// that its weight is 0) and added in double at the end: in a float32 sum the many small weights of
// a cold row would be rounded against it, all in the same direction.
constexpr float kSelf = -kFarGap;
constexpr RowMoments kSelfMoments{1.0, 0.0, 0.0, 1.0};

// What is subtracted from every weight before the products with the values, and given back in
// double at the end (Σ_j o_j is 0 up to rounding): the typical weight. A float32 sum of many equal
// terms drifts; a sum of their differences from the typical one does not.
kernels::Weighing weighing_of(const CentredCloud& cloud, const Layer& parameters) {
  const double beta = parameters.inverse_temperature;
  return {kernel_inverse_temperature(beta), static_cast<float>(std::exp(-beta * cloud.mean_gap()))};
}

std::vector<double> sum_of_offsets(const CentredCloud& cloud) {
  std::vector<double> sum(cloud.dimension(), 0.0);
  kernels::add_columns(cloud.offsets(), sum);
  return sum;
}

// Workspace of one thread of work: a block of weights and its products with the values.
struct Workspace {
  explicit Workspace(std::size_t d) : weights(kBlock, kBlock), product(kBlock, d) {}
  Matrix<float> weights;
  Matrix<float> product;

  MatrixView<float> weights_of(Range rows, Range cols) {
    return weights.view().block({0, rows.size()}, {0, cols.size()});
  }
  MatrixView<float> product_of(Range rows) { return product.view().row_range({0, rows.size()}); }
};

// Unnormalised outputs Σ_{j≠i} w_ij o_j and row moments of all tokens, as far as the block rows of
// one stripe contribute to them.
class Stripe {
 public:
  explicit Stripe(const CentredCloud& cloud)
      : cloud_(cloud),
        sums_(cloud.size(), cloud.dimension()),
        moments_(cloud.size()),
        workspace_(cloud.dimension()) {}

  // Weights between the tokens of two blocks, to both sides. Blocks on the diagonal once.
  void add_pair(Range rows, Range cols, kernels::Weighing weighing) {
    const bool diagonal = rows == cols;
    const MatrixView<float> weights = workspace_.weights_of(rows, cols);
    multiply_abt(values(rows), values(cols), weights);
    if (diagonal) {
      for (std::size_t i = 0; i < rows.size(); ++i) weights(i, i) = kSelf;
    }
    kernels::weigh_block(weights, weighing, half_squares(rows), half_squares(cols), moments(rows),
                         diagonal ? std::span<RowMoments>{} : moments(cols));
    const MatrixView<float> to_rows = workspace_.product_of(rows);
    multiply_ab(weights, values(cols), to_rows);
    kernels::accumulate(to_rows, sums_.view().row_range(rows));
    if (diagonal) return;
    const MatrixView<float> to_cols = workspace_.product_of(cols);
    multiply_atb(weights, values(rows), to_cols);
    kernels::accumulate(to_cols, sums_.view().row_range(cols));
  }

  void merge_into(Matrix<double>& sums, std::vector<RowMoments>& moments) const {
    for (std::size_t k = 0; k < sums.size(); ++k) sums.data()[k] += sums_.data()[k];
    for (std::size_t i = 0; i < moments.size(); ++i) moments[i] += moments_[i];
  }

 private:
  [[nodiscard]] MatrixView<const float> values(Range r) const {
    return cloud_.offsets().row_range(r);
  }
  [[nodiscard]] std::span<const float> half_squares(Range r) const {
    return cloud_.half_squares().subspan(r.begin, padded(r.size()));
  }
  std::span<RowMoments> moments(Range r) { return std::span(moments_).subspan(r.begin, r.size()); }

  const CentredCloud& cloud_;
  Matrix<double> sums_;
  std::vector<RowMoments> moments_;
  Workspace workspace_;
};

// How many accumulators share the work: a function of the problem only, never of the threads, so
// that the order of every sum is fixed. One per 8 block rows, so that clearing and merging them
// costs little; at most 16, and at most 256 MiB.
std::size_t stripe_count(std::size_t n, std::size_t d) {
  const std::size_t by_memory = (std::size_t{1} << 28) / (n * d * sizeof(double));
  const std::size_t by_work = block_count(n) / 8;
  return std::clamp<std::size_t>(std::min(by_memory, by_work), 2, 16);
}

// Block rows of stripe s in snake order (0..S-1, then S-1..0, ...), so that long and short block
// rows are shared evenly.
std::vector<std::size_t> block_rows_of_stripe(std::size_t s, std::size_t stripes,
                                              std::size_t blocks) {
  std::vector<std::size_t> mine;
  for (std::size_t round = 0; round * stripes < blocks; ++round) {
    const std::size_t place = round % 2 == 0 ? s : stripes - 1 - s;
    if (round * stripes + place < blocks) mine.push_back(round * stripes + place);
  }
  return mine;
}

// Some tokens as queries: their offsets from the centre of all tokens.
struct Queries {
  Matrix<float> offsets;
  std::vector<float> half_squares;
};

Queries gather(const CentredCloud& cloud, std::span<const std::size_t> rows) {
  Queries queries{Matrix<float>(rows.size(), cloud.dimension()), {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = cloud.offsets().row(rows[i]);
    std::copy(row.begin(), row.end(), queries.offsets.row(i).begin());
    queries.half_squares.push_back(cloud.half_squares()[rows[i]]);
  }
  return queries;
}

// From sums Σ_{j≠i} w_ij o_j − shift Σ_j o_j to x'_i = ȳ + Σ_j A_ij o_j + α x_i, centred: the mean
// of α x is moved from the deviations into the base.
LayerResult finish(const TokenCloud& tokens, const CentredCloud& cloud, const Layer& parameters,
                   std::vector<std::size_t> rows, Matrix<double> sums,
                   std::vector<RowMoments> moments) {
  const std::vector<double> mean_token = mean_of_tokens(tokens);
  const std::vector<double> all_offsets = sum_of_offsets(cloud);
  const double shift = weighing_of(cloud, parameters).shift;
  LayerResult result{std::move(rows), cloud.centre(), std::move(sums), std::move(moments)};
  const double alpha = parameters.residual;
  for (std::size_t k = 0; k < result.base.size(); ++k) result.base[k] += alpha * mean_token[k];
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const std::size_t token = result.rows[i];
    result.moments[i] += kSelfMoments;
    const double share = 1.0 / result.moments[i].partition;
    const auto row = result.deviations.row(i);
    const auto self = cloud.offsets().row(token);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double x = tokens.norms[token] * tokens.directions(token, k);
      const double sum = row[k] + shift * all_offsets[k] + static_cast<double>(self[k]);
      row[k] = sum * share + alpha * (x - mean_token[k]);
    }
  }
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

CentredCloud LayerResult::directions() const {
  return CentredCloud::of_deviations(base, deviations.view());
}

LayerResult layer(const TokenCloud& tokens, const Layer& parameters, const RunContext& context) {
  const std::size_t n = tokens.size();
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  const kernels::Weighing weighing = weighing_of(cloud, parameters);
  const std::size_t blocks = block_count(n);
  const std::size_t stripes = stripe_count(n, tokens.dimension());

  Matrix<double> sums(n, tokens.dimension());
  std::vector<RowMoments> moments(n);
  std::vector<Stripe> parts;
  for (std::size_t s = 0; s < stripes; ++s) parts.emplace_back(cloud);
  ProgressTally tally(context.progress, 0.5 * static_cast<double>(blocks * (blocks + 1)));
  parallel_for(stripes, {context.threads, context.stop, {}}, [&](std::size_t s) {
    for (const std::size_t row : block_rows_of_stripe(s, stripes, blocks)) {
      for (std::size_t col = row; col < blocks; ++col) {
        context.throw_if_stopped();
        parts[s].add_pair(block_range(row, n), block_range(col, n), weighing);
        tally.finish(1.0);
      }
    }
  });
  for (const Stripe& part : parts) part.merge_into(sums, moments);

  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return finish(tokens, cloud, parameters, std::move(rows), std::move(sums), std::move(moments));
}

LayerResult layer_on_rows(const TokenCloud& tokens, const Layer& parameters,
                          std::vector<std::size_t> rows, const RunContext& context) {
  DEWPOINT_EXPECTS(std::is_sorted(rows.begin(), rows.end()));
  const std::size_t n = tokens.size();
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  const Queries queries = gather(cloud, rows);
  const kernels::Weighing weighing = weighing_of(cloud, parameters);

  Matrix<double> sums(rows.size(), tokens.dimension());
  std::vector<RowMoments> moments(rows.size());
  const std::size_t row_blocks = block_count(rows.size());
  ProgressTally tally(context.progress, static_cast<double>(row_blocks * block_count(n)));
  parallel_for(row_blocks, {context.threads, context.stop, {}}, [&](std::size_t block) {
    const Range r = block_range(block, rows.size());
    Workspace workspace(tokens.dimension());
    for (std::size_t key_block = 0; key_block < block_count(n); ++key_block) {
      context.throw_if_stopped();
      const Range keys = block_range(key_block, n);
      const MatrixView<float> weights = workspace.weights_of(r, keys);
      multiply_abt(queries.offsets.view().row_range(r), cloud.offsets().row_range(keys), weights);
      for (std::size_t i = r.begin; i < r.end; ++i) {
        const std::size_t self = rows[i];
        if (self >= keys.begin && self < keys.end) weights(i - r.begin, self - keys.begin) = kSelf;
      }
      kernels::weigh_block(weights, weighing,
                           std::span(queries.half_squares).subspan(r.begin, r.size()),
                           cloud.half_squares().subspan(keys.begin, padded(keys.size())),
                           std::span(moments).subspan(r.begin, r.size()), {});
      const MatrixView<float> product = workspace.product_of(r);
      multiply_ab(weights, cloud.offsets().row_range(keys), product);
      kernels::accumulate(product, sums.view().row_range(r));
      tally.finish(1.0);
    }
  });
  return finish(tokens, cloud, parameters, std::move(rows), std::move(sums), std::move(moments));
}

}  // namespace dewpoint::attention
