#include "dewpoint/core/distributions/normal.hpp"

#include <array>
#include <cmath>
#include <cstddef>
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

// --- quantiles -----------------------------------------------------------------------------------

// Wichura's rational approximations, of relative error 1e-16: in the square of the distance from
// the median up to 0.425, then in r = √(−log Φ̄) about 1.6 and about 5. Highest power first.
using Coefficients = std::array<double, 8>;

struct Rational {
  Coefficients numerator;
  Coefficients denominator;

  [[nodiscard]] double operator()(double x) const {
    double above = 0.0, below = 0.0;
    for (std::size_t k = 0; k < numerator.size(); ++k) {
      above = above * x + numerator[k];
      below = below * x + denominator[k];
    }
    return above / below;
  }
};

constexpr Rational kCentre{
    {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0},
    {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0}};
constexpr Rational kNearTail{
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0}};
constexpr Rational kFarTail{
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0},
    {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0}};
constexpr double kCentreHalfWidth = 0.425;
constexpr double kCentreFrom = -2.59;  // log(0.5 − 0.425), rounded towards the centre
constexpr double kNearTailTo = 5.0;
constexpr double kFarTailTo = 27.0;

double rational_quantile(double log_tail) {
  if (log_tail >= kCentreFrom) {
    const double offset = 0.5 - std::exp(log_tail);
    return offset * kCentre(kCentreHalfWidth * kCentreHalfWidth - offset * offset);
  }
  const double root = std::sqrt(-log_tail);
  return root <= kNearTailTo ? kNearTail(root - 1.6) : kFarTail(root - kNearTailTo);
}

/// Newton's method on log Φ̄, far out. A step δ leaves δ² h'/(2h), and h' < 1, h > u: after a step
/// of 1e-8 that is less than a rounding.
double quantile_by_newton(double log_tail) {
  const double square = -2.0 * log_tail;
  double score = std::sqrt(square - std::log(2.0 * std::numbers::pi * square));
  for (int iteration = 0; iteration < 20; ++iteration) {
    const TailAndSlope tail = tail_and_slope(score);
    const double change = (tail.log_tail - log_tail) / tail.hazard;
    score += change;
    if (std::abs(change) <= 1e-8 * score) break;
  }
  return score;
}

/// An upper quantile of at least zero.
double upper_half_quantile(double log_tail) {
  return log_tail >= -kFarTailTo * kFarTailTo ? rational_quantile(log_tail)
                                              : quantile_by_newton(log_tail);
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
