#include "dewpoint/core/distributions/sphere_gap.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// log v = log t(2 − t); near t = 1 from v = 1 − (1 − t)².
double log_product(double log_gap, double gap) {
  return gap < 0.5 ? log_gap + std::log(2.0 - gap) : std::log1p(-(1.0 - gap) * (1.0 - gap));
}

/// Σ_k (2a)_k/(a + 1)_k x^k, 0 ≤ x ≤ 1/2. The ratio of terms falls to x from at most 1, and is at
/// most 3/4 by the time they vanish.
double positive_series(double a, double x) {
  double term = 1.0, sum = 1.0;
  for (double k = 0.0; term > 0.125 * kEpsilon * sum; ++k) {
    term *= (2.0 * a + k) * x / (a + 1.0 + k);
    sum += term;
  }
  return sum;
}

}  // namespace

SphereGap::SphereGap(int dimension)
    : dimension_(dimension),
      exponent_(0.5 * (dimension - 1)),
      log_factor_(std::log(0.5 * std::numbers::inv_sqrtpi *
                           boost::math::tgamma_delta_ratio(0.5 * dimension, 0.5))) {
  DEWPOINT_EXPECTS(2 <= dimension && dimension <= kMostDimension);
}

double SphereGap::local_constant() const { return std::exp2(exponent_) * std::exp(log_factor_); }

SphereGap::Series SphereGap::nearer_half(double log_gap, double gap) const {
  const double series = positive_series(exponent_, 0.5 * gap);
  return {log_factor_ + exponent_ * log_product(log_gap, gap) + std::log(series),
          2.0 * exponent_ / ((2.0 - gap) * series)};
}

double SphereGap::log_cdf(double gap) const {
  DEWPOINT_EXPECTS(0.0 <= gap && gap <= 2.0);
  if (gap <= 1.0) return nearer_half(std::log(gap), gap).log_cdf;
  return std::log1p(-cdf(2.0 - gap));
}

double SphereGap::cdf(double gap) const { return std::exp(log_cdf(gap)); }

// 2 − gap would lose a small gap, whose F at d = 2 is its root.
double SphereGap::log_survival(double gap) const {
  return gap < 1.0 ? std::log1p(-cdf(gap)) : log_cdf(2.0 - gap);
}

double SphereGap::log_density(double gap) const {
  DEWPOINT_EXPECTS(0.0 <= gap && gap <= 2.0);
  const double constant = std::log(2.0 * exponent_) + log_factor_;
  if (dimension_ == 3) return constant;  // no 0 · ∞ at the ends
  return constant + (exponent_ - 1.0) * log_product(std::log(gap), gap);
}

double SphereGap::density(double gap) const { return std::exp(log_density(gap)); }

// The series is at least 1, so K v^a = u gives a v that is too large: the first step crosses the
// root, and the following ones rise to it. A step δ leaves δ² times half the ratio of the second to
// the first derivative, at most √a: 2e-9 leaves less than a rounding.
double SphereGap::log_nearer_quantile(double log_probability) const {
  const double log_v = std::min(0.0, (log_probability - log_factor_) / exponent_);
  double log_gap = log_v - std::log1p(std::sqrt(-std::expm1(log_v)));
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Series at = nearer_half(log_gap, std::exp(log_gap));
    const double change = (log_probability - at.log_cdf) / at.slope;
    log_gap = std::min(0.0, log_gap + change);
    if (std::abs(change) <= 2e-9) break;
  }
  return log_gap;
}

double SphereGap::log_quantile(double log_probability) const {
  DEWPOINT_EXPECTS(-1e8 <= log_probability && log_probability <= 0.0);
  if (log_probability <= -std::numbers::ln2) return log_nearer_quantile(log_probability);
  const double log_complement = std::log(-std::expm1(log_probability));
  if (std::isinf(log_complement)) return std::numbers::ln2;
  return std::log(2.0 - std::exp(log_nearer_quantile(log_complement)));
}

double SphereGap::quantile(double log_probability) const {
  return std::exp(log_quantile(log_probability));
}

}  // namespace dewpoint
