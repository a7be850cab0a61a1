#include "dewpoint/diagnosis/row_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kWindow = 5.0;
constexpr double kRoundings = 1e-12;

/// Ranks, the mean of their ranks for equal values, less the mean rank.
std::vector<double> centred_ranks(std::span<const double> values) {
  const auto key = [](double value) {
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return key(values[i]) < key(values[j]); });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && key(values[order[last]]) == key(values[order[first]])) ++last;
    const double rank =
        0.5 * (static_cast<double>(first + last) - static_cast<double>(order.size()));
    for (std::size_t k = first; k < last; ++k) ranks[order[k]] = rank;
  }
  return ranks;
}

/// Takes a straight line out: longer rows have larger dew points, which is no correlation.
void remove_line(std::vector<double>& centred) {
  const double middle = 0.5 * (static_cast<double>(centred.size()) - 1.0);
  double slope = 0.0, spread = 0.0;
  for (std::size_t i = 0; i < centred.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    slope += x * centred[i];
    spread += x * x;
  }
  for (std::size_t i = 0; i < centred.size(); ++i)
    centred[i] -= slope / spread * (static_cast<double>(i) - middle);
}

double covariance_at(std::span<const double> centred, std::size_t lag) {
  return std::inner_product(centred.begin() + static_cast<std::ptrdiff_t>(lag), centred.end(),
                            centred.begin(), 0.0);
}

}  // namespace

double correlation_time(std::span<const double> values) {
  if (values.size() < 4) return 1.0;
  std::vector<double> ranks = centred_ranks(values);
  const double whole = covariance_at(ranks, 0);
  remove_line(ranks);
  const double variance = covariance_at(ranks, 0);
  if (variance <= kRoundings * whole) return 1.0;
  double time = 1.0;
  for (std::size_t lag = 1; lag < values.size() / 2; ++lag) {
    time += 2.0 * covariance_at(ranks, lag) / variance;
    if (static_cast<double>(lag) >= kWindow * time) break;
  }
  return std::max(1.0, time);
}

std::size_t independent_blocks(std::span<const double> values) {
  const auto rows = static_cast<double>(values.size());
  const double time = correlation_time(values);
  if (time <= 1.0 + 2.0 * std::sqrt(4.0 * kWindow / rows)) return values.size();
  const auto blocks = static_cast<std::size_t>(rows / (kBlockTimes * time));
  return std::clamp(blocks, std::min(values.size(), kLeastBlocks), values.size());
}

Estimate block_mean(std::span<const double> values, std::size_t blocks) {
  DEWPOINT_EXPECTS(!values.empty() && 0 < blocks && blocks <= values.size());
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::vector<RunningMoments> means(blocks);
  for (std::size_t i = 0; i < values.size(); ++i) means[i * blocks / values.size()].add(values[i]);
  RunningMoments scatter;
  for (const RunningMoments& block : means) scatter.add(block.mean());
  return {mean, scatter.estimate().standard_error, values.size()};
}

}  // namespace dewpoint::diagnosis
