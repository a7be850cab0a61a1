#include "dewpoint/theory/condensed_sphere.hpp"

#include <boost/math/quadrature/exp_sinh.hpp>
#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kLn2 = std::numbers::ln2;
constexpr double kCircle = 0.5;  // the exponent a of d = 2

void expect_exponent([[maybe_unused]] double exponent) {
  DEWPOINT_EXPECTS(exponent == kCircle || (1.0 <= exponent && exponent <= 256.0));
}

/// a Γ(2 − 1/a), the density of Δ at 0.
double tie_density(double exponent) { return exponent * std::tgamma(2.0 - 1.0 / exponent); }

}  // namespace

double condensed_remainder(double theta, double exponent) {
  expect_exponent(exponent);
  DEWPOINT_EXPECTS(theta > 0.0);
  if (exponent > kCircle) return kLn2 * tie_density(exponent) / theta;
  DEWPOINT_EXPECTS(theta >= 1.0);
  return kLn2 / (4.0 * theta) * (std::log(theta) + 2.5 * kLn2 - 2.0 * std::numbers::egamma);
}

double remainder_probability(double theta, double exponent, double remainder) {
  expect_exponent(exponent);
  DEWPOINT_EXPECTS(theta > 0.0 && 0.0 < remainder && remainder < 0.5);
  const double x = std::log((1.0 - remainder) / remainder) / theta;
  if (exponent > kCircle) return tie_density(exponent) * x;
  DEWPOINT_EXPECTS(x <= 1.0);
  return 0.25 * x * (1.0 + 2.0 * kLn2 - std::log(x) - 2.0 * std::numbers::egamma);
}

double tie_probability(double exponent, double distance) {
  DEWPOINT_EXPECTS(0.5 <= exponent && exponent <= 256.0 && distance >= 0.0);
  if (distance == 0.0) return 0.0;
  const auto integrand = [exponent, distance](double g) {
    const double growth = exponent * std::log1p(distance * std::pow(g, -1.0 / exponent));
    return g > 700.0 ? 0.0 : -std::exp(-g) * std::expm1(-g * std::expm1(growth));
  };
  boost::math::quadrature::exp_sinh<double> rule;
  return rule.integrate(integrand, 0.1 * kTieProbabilityError);
}

double condensed_gap_cdf(double exponent, double scaled_gap) {
  DEWPOINT_EXPECTS(exponent >= 0.5 && scaled_gap >= 0.0);
  return -std::expm1(-std::pow(scaled_gap, exponent));
}

double condensed_gap_mean(double exponent) {
  DEWPOINT_EXPECTS(exponent >= 0.5);
  return std::tgamma(1.0 + 1.0 / exponent);
}

}  // namespace dewpoint::theory
