#include "dewpoint/core/distributions/normal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::normal {
namespace {

const double kHalfLogTwoPi = 0.5 * std::log(2.0 * std::numbers::pi);

// The fraction cut at level n errs by e^{−2u√(2n)} for large n: 300/u² levels leave e^{−49}. The
// rate is reached late for large u, where fourteen levels are enough by themselves.
constexpr double kFractionFrom = 2.0;

int fraction_levels(double score) { return 14 + static_cast<int>(300.0 / (score * score)); }

/// t_1 and t_2 of t_j = j/(u + t_{j+1}); the first one left out is replaced by the solution of
/// t = n/(u + t), which the t_j approach.
struct LaplaceFraction {
  double first;
  double second;
};

LaplaceFraction laplace_fraction(double score) {
  const int levels = fraction_levels(score);
  const double last = levels + 1.0;
  double term = 2.0 * last / (score + std::sqrt(score * score + 4.0 * last));
  for (int j = levels; j > 2; --j) term = j / (score + term);
  const double second = 2.0 / (score + term);
  return {1.0 / (score + second), second};
}

// The logarithm of the error function is accurate and cheaper than the fraction up to here: the
// rounding of its argument costs u² ε/2, against a logarithm of u²/2.
constexpr double kErrorFunctionTo = 6.0;

double upper_tail(double score) { return 0.5 * std::erfc(score / std::numbers::sqrt2); }

double hazard_by_error_function(double score) {
  return std::exp(log_density(score)) / upper_tail(score);
}

double log_tail_by_error_function(double score) {
  return score < 0.0 ? std::log1p(-upper_tail(-score)) : std::log(upper_tail(score));
}

/// log Φ̄ and a slope that is good enough for Newton's method.
struct TailAndSlope {
  double log_tail;
  double hazard;
};

TailAndSlope tail_and_slope(double score) {
  if (score < kErrorFunctionTo) {
    const double log_tail = log_tail_by_error_function(score);
    return {log_tail, std::exp(log_density(score) - log_tail)};
  }
  const double hazard = tail_hazard(score);
  return {log_density(score) - std::log(hazard), hazard};
}

/// An upper quantile of at least zero. A step δ leaves δ² h'/(2h), and h' < 1, h > max(u, 0.79):
/// after a step of 1e-8 that is less than a rounding.
double upper_half_quantile(double log_tail) {
  const double square = -2.0 * log_tail;
  const double rough = square - std::log(2.0 * std::numbers::pi * std::max(1.0, square));
  double score =
      std::sqrt(std::max(0.01, square - std::log(2.0 * std::numbers::pi * std::max(1.0, rough))));
  for (int iteration = 0; iteration < 20; ++iteration) {
    const TailAndSlope tail = tail_and_slope(score);
    const double change = (tail.log_tail - log_tail) / tail.hazard;
    score += change;
    if (std::abs(change) <= 1e-8 * std::max(1.0, score)) break;
  }
  return score;
}

}  // namespace

double log_density(double score) { return -0.5 * score * score - kHalfLogTwoPi; }

double log_upper_tail(double score) { return tail_and_slope(score).log_tail; }

double log_cdf(double score) { return log_upper_tail(-score); }

double tail_hazard(double score) {
  return score < kFractionFrom ? hazard_by_error_function(score)
                               : score + laplace_fraction(score).first;
}

TailExcess tail_excess(double score) {
  if (score < kFractionFrom) {
    const double mean = hazard_by_error_function(score) - score;
    return {mean, 1.0 - score * mean};
  }
  const LaplaceFraction fraction = laplace_fraction(score);
  return {fraction.first, fraction.first * fraction.second};
}

double upper_quantile(double log_tail) {
  DEWPOINT_EXPECTS(-1e20 <= log_tail && log_tail < 0.0);
  if (log_tail <= -std::numbers::ln2) return upper_half_quantile(log_tail);
  return -upper_half_quantile(std::log(-std::expm1(log_tail)));
}

}  // namespace dewpoint::normal
