#include "dewpoint/diagnosis/robust_location.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

double median_of(std::vector<double> values) {
  DEWPOINT_EXPECTS(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// Known errors as they are, unknown ones as their median.
std::vector<double> errors_of(std::span<const Estimate> values) {
  std::vector<double> known;
  for (const Estimate& value : values)
    if (std::isfinite(value.standard_error)) known.push_back(value.standard_error);
  const double typical = known.empty() ? 0.0 : median_of(known);
  std::vector<double> errors;
  for (const Estimate& value : values)
    errors.push_back(std::isfinite(value.standard_error) ? value.standard_error : typical);
  return errors;
}

std::vector<double> means_of(std::span<const Estimate> values) {
  std::vector<double> means;
  for (const Estimate& value : values) means.push_back(value.mean);
  return means;
}

/// σ_i of every number.
std::vector<double> deviations_of(std::span<const Estimate> values) {
  std::vector<double> deviations = errors_of(values);
  const double typical = median_of(deviations), seen = robust_deviation(means_of(values));
  const double between = std::max(0.0, seen * seen - typical * typical);
  for (double& deviation : deviations) deviation = std::sqrt(deviation * deviation + between);
  return deviations;
}

double weighted_median(std::span<const Estimate> values, std::span<const std::uint32_t> counts) {
  std::vector<RowValue> sorted;
  for (std::size_t i = 0; i < values.size(); ++i) sorted.push_back({values[i].mean, i});
  std::sort(sorted.begin(), sorted.end(),
            [](const RowValue& x, const RowValue& y) { return x.value < y.value; });
  return weighted_quantile(sorted, 0.5, counts);
}

/// Reweighted means, starting from the median.
double huber(std::span<const Estimate> values, std::span<const double> deviations,
             std::span<const std::uint32_t> counts) {
  double centre = weighted_median(values, counts);
  const double unit = *std::max_element(deviations.begin(), deviations.end());
  if (unit == 0.0) return centre;
  for (int step = 0; step < 100; ++step) {
    double sum = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double sigma = std::max(deviations[i], 1e-6 * unit);
      const double distance = std::abs(values[i].mean - centre) / sigma;
      const double w = counts[i] * std::min(1.0, kHuberBend / distance) / (sigma * sigma);
      sum += w * values[i].mean;
      weight += w;
    }
    const double next = sum / weight;
    if (std::abs(next - centre) <= 1e-10 * unit) return next;
    centre = next;
  }
  return centre;
}

}  // namespace

double robust_deviation(std::span<const double> values) {
  const double centre = median_of({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return 1.4826 * median_of(std::move(distances));
}

double robust_location(std::span<const Estimate> values, std::span<const std::uint32_t> counts) {
  return huber(values, deviations_of(values), counts);
}

Estimate robust_mean(std::span<const Estimate> values, const RowBootstrap& bootstrap,
                     std::vector<double>& replicates) {
  DEWPOINT_EXPECTS(values.size() == bootstrap.rows());
  const std::vector<double> deviations = deviations_of(values), errors = errors_of(values);
  const std::vector<std::uint32_t> once(values.size(), 1);
  const double location = huber(values, deviations, once);
  replicates.clear();
  for (std::size_t b = 0; b < bootstrap.replicates(); ++b)
    replicates.push_back(huber(values, deviations, bootstrap.counts(b)));
  double weight = 0.0, variance = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double sigma = std::max(deviations[i], 1e-150);
    weight += 1.0 / (sigma * sigma);
    variance += errors[i] * errors[i] / std::pow(sigma, 4);
  }
  const double redrawn = bootstrap.estimate(location, replicates).standard_error;
  const double least = std::sqrt(variance) / weight;
  const double error = std::isfinite(redrawn) ? std::max(redrawn, least) : least;
  return {location, error, values.size()};
}

}  // namespace dewpoint::diagnosis
