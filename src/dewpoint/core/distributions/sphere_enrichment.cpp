#include "dewpoint/core/distributions/sphere_enrichment.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// log(e^{−x} Σ) with e^{−40} taken out of the sum as often as it fits, so that no large logarithms
/// are subtracted.
double log_average_by_series(double order, double x) {
  const double quarter = 0.25 * x * x, e40 = std::exp(40.0), inverse = std::exp(-40.0);
  double term = 1.0, sum = 1.0, left = x;
  for (double k = 1.0; term > 0.125 * kEpsilon * sum || k * (k + order) < quarter; ++k) {
    term *= quarter / (k * (k + order));
    sum += term;
    if (sum > e40) {
      term *= inverse;
      sum *= inverse;
      left -= 40.0;
    }
  }
  return std::log(sum) - left;
}

/// Σ_k Π_{j≤k} −(4ν² − (2j − 1)²)/(8jx), cut when the terms vanish or grow again.
double hankel_sum(double order, double x) {
  double term = 1.0, sum = 1.0;
  for (int j = 1; j < 100; ++j) {
    const double odd = 2.0 * j - 1.0;
    const double ratio = -(4.0 * order * order - odd * odd) / (8.0 * j * x);
    if (std::abs(ratio) >= 1.0 || std::abs(term) < 0.125 * kEpsilon) break;
    sum += term *= ratio;
  }
  return sum;
}

}  // namespace

double log_scaled_average(int dimension, double x) {
  DEWPOINT_EXPECTS(1 <= dimension && 0.0 <= x && x <= 1e12);
  if (dimension == 1) return std::log1p(std::exp(-2.0 * x)) - std::numbers::ln2;
  const double order = 0.5 * dimension - 1.0;
  if (x < std::max(40.0, 2.0 * order * order)) return log_average_by_series(order, x);
  return boost::math::lgamma(order + 1.0) + order * std::log(2.0 / x) -
         0.5 * std::log(2.0 * std::numbers::pi * x) + std::log(hankel_sum(order, x));
}

SphereEnrichment::SphereEnrichment(int dimension, const std::vector<SphereComponent>& components)
    : dimension_(dimension), components_(components) {
  for (const SphereComponent& component : components_) {
    log_norms_.push_back(std::log(component.share) -
                         log_scaled_average(dimension, component.concentration));
    const double roundings = std::sqrt(component.concentration) + std::abs(log_norms_.back());
    rounding_ = std::max(rounding_, kEpsilon * roundings);
  }
}

// The largest exponent of every component is taken out: κ cos α cos ϑ + κ sin α sin ϑ − κ =
// −2κ sin²((ϑ − α)/2).
double SphereEnrichment::log(double angle) const {
  double largest = -kInfinity, sum = 0.0;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const auto& [concentration, direction, share] = components_[i];
    const double half = std::sin(0.5 * (angle - direction));
    const double across = std::max(0.0, concentration * std::sin(direction) * std::sin(angle));
    const double exponent = log_norms_[i] - 2.0 * concentration * half * half +
                            log_scaled_average(dimension_ - 1, across);
    const double larger = std::max(largest, exponent);
    sum = sum * std::exp(largest - larger) + std::exp(exponent - larger);
    largest = larger;
  }
  return largest + std::log(sum);
}

}  // namespace dewpoint
