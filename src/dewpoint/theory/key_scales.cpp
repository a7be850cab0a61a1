#include "dewpoint/theory/key_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/kummer_ratio.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
const double kLogPi = std::log(std::numbers::pi);

void expect_domain([[maybe_unused]] const ThickKeys& keys) {
  DEWPOINT_EXPECTS(0.0 < keys.manifold.exponent && keys.manifold.exponent <= 256.0);
  DEWPOINT_EXPECTS(1 <= keys.codimension && keys.codimension <= 511);
  DEWPOINT_EXPECTS(keys.thickness > 0.0);
}

/// log t/ε².
double log_scaled(const ThickKeys& keys, double log_gap) {
  return log_gap - 2.0 * std::log(keys.thickness);
}

/// log(x^b Γ(a+1)/Γ(a+b+1)), the share of keys within t ≪ ε² that noise has left there.
double log_inner_share(double a, double b, double log_x) {
  return b * log_x + std::lgamma(a + 1.0) - std::lgamma(a + b + 1.0);
}

/// log e^{−x} Σ_k (a+1)_k/(a+b+1)_k x^k/k!: positive terms, rescaled before they overflow.
double log_kummer_series(double a, double b, double x) {
  constexpr double kLarge = 0x1p900;
  double term = 1.0, sum = 1.0, log_scale = -x;
  for (double k = 0.0; k < x || term > 0.125 * kEpsilon * sum; ++k) {
    term *= (a + 1.0 + k) * x / ((a + b + 1.0 + k) * (k + 1.0));
    sum += term;
    if (sum > kLarge) {
      term /= kLarge;
      sum /= kLarge;
      log_scale += 900.0 * std::numbers::ln2;
    }
  }
  return log_scale + std::log(sum);
}

/// Σ_s (−a)_s (b)_s/(s! x^s) = E(1 − W/x)^a, asymptotic for large x and finite for integer a.
double far_share(double a, double b, double x) {
  double term = 1.0, sum = 1.0;
  for (double s = 0.0; std::abs(term) > 0.125 * kEpsilon; ++s) {
    term *= (s - a) * (b + s) / ((s + 1.0) * x);
    sum += term;
  }
  return sum;
}

/// Beyond this x the smallest term of far_share, at s ≈ x, is below e^{−40}, and terms fall from
/// the first on.
double far_from(double a, double b) { return std::max(80.0, 6.0 * (a + 1.0) * (b + 1.0)); }

}  // namespace

double log_key_unit(const KeyLaw& law, double log_n) {
  DEWPOINT_EXPECTS(log_n >= 0.0 && law.exponent > 0.0);
  return (law.log_constant + log_n) / law.exponent;
}

KeyLaw sphere_keys(int dimension, double log_density) {
  const SphereGap gap(dimension);
  return {gap.exponent(), std::log(gap.local_constant()) + log_density};
}

KeyLaw submanifold_keys(int intrinsic_dimension, double log_density, double singularity) {
  DEWPOINT_EXPECTS(intrinsic_dimension >= 1 && singularity > -intrinsic_dimension);
  const double half = 0.5 * intrinsic_dimension, a = half + 0.5 * singularity;
  const double log_ball = half * kLogPi - std::lgamma(half + 1.0);
  return {a, log_density + log_ball + a * std::numbers::ln2 + std::log(half / a)};
}

double log_uniform_density(int intrinsic_dimension) {
  DEWPOINT_EXPECTS(intrinsic_dimension >= 1);
  const double half = 0.5 * (intrinsic_dimension + 1);
  return std::lgamma(half) - std::numbers::ln2 - half * kLogPi;
}

KeyLaw with_hessian(const KeyLaw& law, double log_determinant) {
  return {law.exponent, law.log_constant - 0.5 * log_determinant};
}

KeyLaw great_subsphere_keys(int intrinsic_dimension, double angle) {
  DEWPOINT_EXPECTS(0.0 <= angle && angle < 0.5 * std::numbers::pi);
  return with_hessian(
      submanifold_keys(intrinsic_dimension, log_uniform_density(intrinsic_dimension)),
      intrinsic_dimension * std::log(std::cos(angle)));
}

double thick_log_cdf(const ThickKeys& keys, double log_gap) {
  expect_domain(keys);
  const double a = keys.manifold.exponent, b = 0.5 * keys.codimension;
  const double log_x = log_scaled(keys, log_gap), x = std::exp(log_x);
  const double thin = keys.manifold.log_constant + a * log_gap;
  if (x > far_from(a, b)) return thin + std::log(far_share(a, b, x));
  return thin + log_inner_share(a, b, log_x) + log_kummer_series(a, b, x);
}

double thick_exponent(const ThickKeys& keys, double log_gap) {
  expect_domain(keys);
  const double a = keys.manifold.exponent, b = 0.5 * keys.codimension;
  const double x = std::exp(log_scaled(keys, log_gap)), top = a + b + 1.0;
  // a + b (1 − x r/(a+b+1)) with r = M(a+1, a+b+2, x)/M(a+1, a+b+1, x).
  const KummerStep step = kummer_step(a + 1.0, top, x);
  return a + b * (step.product + x * (step.slope - top - 1.0)) / (step.product + x * step.slope);
}

double log_thick_unit(const ThickKeys& keys, double log_n) {
  expect_domain(keys);
  DEWPOINT_EXPECTS(log_n >= 0.0);
  const double a = keys.manifold.exponent, b = 0.5 * keys.codimension;
  const double log_squared = 2.0 * std::log(keys.thickness);
  const double log_inner = keys.manifold.log_constant + log_inner_share(a, b, -log_squared);
  double log_gap = -std::min(log_key_unit(keys.manifold, log_n), (log_inner + log_n) / (a + b));
  for (int round = 0; round < 100; ++round) {
    const double missing = -log_n - thick_log_cdf(keys, log_gap);
    const double step = missing / thick_exponent(keys, log_gap);
    log_gap += step;
    if (step <= kThickKeysError * (1.0 + log_n)) break;
  }
  return -log_gap;
}

double thickness_scale(double thickness) {
  DEWPOINT_EXPECTS(thickness > 0.0);
  return 1.0 / (thickness * thickness);
}

double log_quantile_unit(int dimension, double log_n) {
  DEWPOINT_EXPECTS(log_n >= 0.0);
  return -SphereGap(dimension).log_quantile(-log_n);
}

double log_freezing_interpolation(int dimension, double log_n) {
  DEWPOINT_EXPECTS(dimension >= 2 && log_n > 0.0);
  const double log_power = 2.0 * log_n / (dimension - 1.0);  // log N
  const double log_excess = log_power + std::log(-std::expm1(-log_power));
  return std::log(dimension - 1.0) + 0.5 * (log_power + log_excess);
}

}  // namespace dewpoint::theory
