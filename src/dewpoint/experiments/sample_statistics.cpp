#include "dewpoint/experiments/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::experiments {
namespace {

/// Mean and central moments of a sample.
struct CentralMoments {
  double mean = 0.0, second = 0.0, third = 0.0, fourth = 0.0;
};

CentralMoments central_moments(std::span<const double> values) {
  const double count = static_cast<double>(values.size());
  CentralMoments moments;
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    const double shift = value - moments.mean, square = shift * shift;
    moments.second += square / count;
    moments.third += square * shift / count;
    moments.fourth += square * square / count;
  }
  return moments;
}

}  // namespace

Estimate mean_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  int exponent = 0;
  std::frexp(largest, &exponent);
  RunningMoments moments;
  for (const double value : values) moments.add(std::ldexp(value, -exponent));
  const Estimate scaled = moments.estimate();
  return {std::ldexp(scaled.mean, exponent), std::ldexp(scaled.standard_error, exponent),
          scaled.samples};
}

std::vector<Estimate> column_means(const Matrix<double>& rows) {
  std::vector<Estimate> means;
  std::vector<double> column(rows.rows());
  for (std::size_t k = 0; k < rows.cols(); ++k) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = rows(i, k);
    means.push_back(mean_of(column));
  }
  return means;
}

Estimate quantile_of(std::vector<double> values, double share) {
  DEWPOINT_EXPECTS(values.size() >= 2 && 0.0 < share && share < 1.0);
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const auto at = [&](double rank) {
    const double place = std::clamp(rank - 0.5, 0.0, count - 1.0);
    const auto left = static_cast<std::size_t>(place);
    const std::size_t right = std::min(left + 1, values.size() - 1);
    if (values[left] == values[right]) return values[left];
    return values[left] + (place - std::floor(place)) * (values[right] - values[left]);
  };
  const double middle = count * share, spread = std::sqrt(count * share * (1.0 - share));
  return {at(middle), 0.5 * (at(middle + spread) - at(middle - spread)), values.size()};
}

Estimate median_of(std::vector<double> values) { return quantile_of(std::move(values), 0.5); }

Estimate deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values).mean;
  RunningMoments squares;
  for (const double value : values) squares.add((value - mean) * (value - mean));
  const auto samples = static_cast<double>(values.size());
  const double deviation = std::sqrt(squares.mean() * samples / (samples - 1.0));
  const double error = squares.estimate().standard_error;
  return {deviation, deviation > 0.0 ? error / (2.0 * deviation) : 0.0, values.size()};
}

Estimate variance_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  const double count = static_cast<double>(values.size());
  const CentralMoments moments = central_moments(values);
  const double excess = moments.fourth - moments.second * moments.second;
  return {moments.second * count / (count - 1.0), std::sqrt(std::max(0.0, excess) / count),
          values.size()};
}

Estimate skewness_of(std::span<const double> values) {
  const CentralMoments moments = central_moments(values);
  if (values.size() < 3 || !(moments.second > 0.0)) return {};
  const double deviation = std::sqrt(moments.second);
  const double skewness = moments.third / (moments.second * deviation);
  RunningMoments influence;
  for (const double value : values) {
    const double z = (value - moments.mean) / deviation;
    influence.add(z * z * z - 3.0 * z - 1.5 * skewness * (z * z - 1.0) - skewness);
  }
  return {skewness, influence.estimate().standard_error, values.size()};
}

Estimate log_mean_exp(std::vector<double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  for (double& value : values) value = std::exp(value - largest);
  const Estimate mean = mean_of(values);
  return {largest + std::log(mean.mean), mean.standard_error / mean.mean, mean.samples};
}

Estimate best_argument(const std::vector<double>& arguments,
                       const std::vector<std::vector<double>>& rows) {
  DEWPOINT_EXPECTS(!arguments.empty() && arguments.size() == rows.size());
  std::vector<double> means;
  for (const auto& row : rows) means.push_back(mean_of(row).mean);
  const auto best =
      static_cast<std::size_t>(std::max_element(means.begin(), means.end()) - means.begin());
  double low = arguments[best], high = arguments[best];
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::vector<double> losses = rows[best];
    for (std::size_t i = 0; i < losses.size(); ++i) losses[i] -= rows[k][i];
    const Estimate loss = mean_of(losses);
    if (loss.mean > loss.standard_error) continue;
    low = std::min(low, arguments[k]);
    high = std::max(high, arguments[k]);
  }
  return {arguments[best], 0.5 * (high - low), rows[best].size()};
}

}  // namespace dewpoint::experiments
