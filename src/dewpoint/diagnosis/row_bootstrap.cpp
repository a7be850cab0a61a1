#include "dewpoint/diagnosis/row_bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint::diagnosis {
namespace {

/// √(R/(R−1)) squared.
double small_sample_factor(std::size_t draws) {
  const auto count = static_cast<double>(draws);
  return draws < 2 ? kUnknown : count / (count - 1.0);
}

}  // namespace

RowBootstrap::RowBootstrap(std::size_t rows, const Bootstrap& options, std::size_t blocks)
    : rows_(rows),
      blocks_(blocks == 0 ? rows : blocks),
      replicates_(options.replicates),
      counts_(rows * options.replicates, 0) {
  DEWPOINT_EXPECTS(rows >= 1 && options.replicates >= 2 && blocks_ <= rows);
  std::vector<std::uint32_t> drawn(blocks_);
  for (std::size_t replicate = 0; replicate < replicates_; ++replicate) {
    const Stream stream(options.seed, "diagnosis/bootstrap", replicate);
    std::fill(drawn.begin(), drawn.end(), 0U);
    for (std::size_t draw = 0; draw < blocks_; ++draw) {
      const auto block =
          static_cast<std::size_t>(stream.uniform(draw) * static_cast<double>(blocks_));
      ++drawn[std::min(block, blocks_ - 1)];
    }
    for (std::size_t row = 0; row < rows; ++row)
      counts_[replicate * rows + row] = drawn[row * blocks_ / rows];
  }
}

Estimate RowBootstrap::estimate(double value, std::span<const double> replicate_values) const {
  RunningMoments moments;
  for (const double replicate : replicate_values) moments.add(replicate);
  const double variance = moments.variance() * small_sample_factor(blocks_);
  return {value, std::isfinite(variance) ? std::sqrt(variance) : kUnknown, rows_};
}

Matrix<double> RowBootstrap::covariance(MatrixView<const double> replicate_values) const {
  const std::size_t count = replicate_values.cols(), replicates = replicate_values.rows();
  std::vector<RunningMoments> means(count);
  for (std::size_t b = 0; b < replicates; ++b)
    for (std::size_t i = 0; i < count; ++i) means[i].add(replicate_values(b, i));
  const double factor = small_sample_factor(blocks_) / (static_cast<double>(replicates) - 1.0);
  Matrix<double> covariance(count, count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t b = 0; b < replicates; ++b)
        covariance(i, j) += factor * (replicate_values(b, i) - means[i].mean()) *
                            (replicate_values(b, j) - means[j].mean());
  return covariance;
}

double weighted_mean(std::span<const double> values, std::span<const std::uint32_t> counts) {
  DEWPOINT_EXPECTS(values.size() == counts.size());
  double sum = 0.0, weight = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (counts[i] == 0) continue;
    sum += counts[i] * values[i];
    weight += counts[i];
  }
  return sum / weight;
}

double weighted_quantile(std::span<const RowValue> sorted, double share,
                         std::span<const std::uint32_t> counts) {
  double total = 0.0;
  for (const RowValue& entry : sorted) total += counts[entry.row];
  DEWPOINT_EXPECTS(total > 0.0 && 0.0 < share && share < 1.0);
  const double wanted = share * total;
  double below = 0.0, at_wanted = kUnknown;
  for (const RowValue& entry : sorted) {
    if (counts[entry.row] == 0) continue;
    if (below >= wanted) return 0.5 * (at_wanted + entry.value);
    below += counts[entry.row];
    at_wanted = entry.value;
    if (below > wanted) break;
  }
  return at_wanted;
}

}  // namespace dewpoint::diagnosis
