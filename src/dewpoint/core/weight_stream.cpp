#include "dewpoint/core/weight_stream.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/blas.hpp"

namespace dewpoint {
namespace {

// An inner product so low that its weight is 0.
constexpr float kSelf = -kFarGap;
constexpr RowMoments kSelfMoments{1.0, 0.0, 0.0, 1.0};

Range block_range(std::size_t block, std::size_t n) {
  return {block * kStreamBlock, std::min(n, (block + 1) * kStreamBlock)};
}

std::size_t block_count(std::size_t n) { return (n + kStreamBlock - 1) / kStreamBlock; }

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

std::span<const float> padded_half_squares(const CentredCloud& cloud, Range r) {
  return cloud.half_squares().subspan(r.begin, padded(r.size()));
}

MatrixView<float> corner(Matrix<float>& block, Range rows, Range cols) {
  return block.view().block({0, rows.size()}, {0, cols.size()});
}

void add_self(std::vector<RowMoments>& moments) {
  for (RowMoments& row : moments) row += kSelfMoments;
}

}  // namespace

WeightStream::WeightStream(const CentredCloud& cloud, double inverse_temperature)
    : cloud_(cloud),
      weighing_{kernel_inverse_temperature(inverse_temperature),
                static_cast<float>(std::exp(-inverse_temperature * cloud.mean_gap()))} {}

std::size_t WeightStream::stripes() const {
  const std::size_t bytes = cloud_.size() * cloud_.dimension() * sizeof(double);
  const std::size_t by_memory = (std::size_t{1} << 28) / bytes;
  const std::size_t by_work = block_count(cloud_.size()) / 8;
  return std::clamp<std::size_t>(std::min(by_memory, by_work), 2, 16);
}

std::vector<RowMoments> WeightStream::all_pairs(std::span<const BlockVisitor> visitors,
                                                const RunContext& context) const {
  DEWPOINT_EXPECTS(visitors.size() == stripes());
  const std::size_t n = cloud_.size();
  const std::size_t blocks = block_count(n);
  std::vector<std::vector<RowMoments>> parts(visitors.size(), std::vector<RowMoments>(n));
  ProgressTally tally(context.progress, 0.5 * static_cast<double>(blocks * (blocks + 1)));
  parallel_for(visitors.size(), {context.threads, context.stop, {}}, [&](std::size_t s) {
    Matrix<float> block(kStreamBlock, kStreamBlock);
    const auto moments_of = [&](Range r) { return std::span(parts[s]).subspan(r.begin, r.size()); };
    for (const std::size_t block_row : block_rows_of_stripe(s, visitors.size(), blocks)) {
      for (std::size_t block_col = block_row; block_col < blocks; ++block_col) {
        context.throw_if_stopped();
        const Range rows = block_range(block_row, n);
        const Range cols = block_range(block_col, n);
        const bool mirrored = block_row != block_col;
        const MatrixView<float> weights = corner(block, rows, cols);
        multiply_abt(cloud_.offsets().row_range(rows), cloud_.offsets().row_range(cols), weights);
        for (std::size_t i = 0; i < rows.size() && !mirrored; ++i) weights(i, i) = kSelf;
        kernels::weigh_block(weights, weighing_, padded_half_squares(cloud_, rows),
                             padded_half_squares(cloud_, cols), moments_of(rows),
                             mirrored ? moments_of(cols) : std::span<RowMoments>{});
        visitors[s]({rows, cols, weights, mirrored});
        tally.finish(1.0);
      }
    }
  });
  for (std::size_t s = 1; s < parts.size(); ++s) {
    for (std::size_t i = 0; i < n; ++i) parts[0][i] += parts[s][i];
  }
  add_self(parts[0]);
  return std::move(parts[0]);
}

std::vector<RowMoments> WeightStream::some_rows(std::span<const std::size_t> queries,
                                                const BlockVisitor& visitor,
                                                const RunContext& context) const {
  const std::size_t n = cloud_.size();
  Matrix<float> offsets(queries.size(), cloud_.dimension());
  std::vector<float> half_squares(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto row = cloud_.offsets().row(queries[q]);
    std::copy(row.begin(), row.end(), offsets.row(q).begin());
    half_squares[q] = cloud_.half_squares()[queries[q]];
  }
  std::vector<RowMoments> moments(queries.size());
  const std::size_t row_blocks = block_count(queries.size());
  ProgressTally tally(context.progress, static_cast<double>(row_blocks * block_count(n)));
  parallel_for(row_blocks, {context.threads, context.stop, {}}, [&](std::size_t block_row) {
    const Range rows = block_range(block_row, queries.size());
    Matrix<float> block(kStreamBlock, kStreamBlock);
    for (std::size_t block_col = 0; block_col < block_count(n); ++block_col) {
      context.throw_if_stopped();
      const Range cols = block_range(block_col, n);
      const MatrixView<float> weights = corner(block, rows, cols);
      multiply_abt(offsets.view().row_range(rows), cloud_.offsets().row_range(cols), weights);
      for (std::size_t q = rows.begin; q < rows.end; ++q) {
        const std::size_t self = queries[q];
        if (self >= cols.begin && self < cols.end) {
          weights(q - rows.begin, self - cols.begin) = kSelf;
        }
      }
      kernels::weigh_block(weights, weighing_, std::span(half_squares).subspan(rows.begin),
                           padded_half_squares(cloud_, cols),
                           std::span(moments).subspan(rows.begin), {});
      visitor({rows, cols, weights, false});
      tally.finish(1.0);
    }
  });
  add_self(moments);
  return moments;
}

}  // namespace dewpoint
