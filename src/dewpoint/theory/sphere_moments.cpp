#include "dewpoint/theory/sphere_moments.hpp"

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/kummer_ratio.hpp"

namespace dewpoint::theory {

namespace {

/// The step whose s_b is A_d for shift 0: b = 2a + shift.
KummerStep tilted_step(int dimension, int shift, double z) {
  return kummer_step(0.5 * (dimension - 1), dimension - 1.0 + shift, z);
}

constexpr int kMostRaisedDimension = kMostSphereDimension + 2 * kMostHarmonicDegree;
constexpr double kMostBeta = 1e12;

void expect_domain([[maybe_unused]] int dimension, [[maybe_unused]] double beta) {
  DEWPOINT_EXPECTS(2 <= dimension && dimension <= kMostRaisedDimension);
  DEWPOINT_EXPECTS(0.0 <= beta && beta <= kMostBeta);
}

}  // namespace

double moment_ratio(int dimension, int power, double inverse_temperature) {
  expect_domain(dimension, inverse_temperature);
  DEWPOINT_EXPECTS(1 <= power && power <= kMostMomentPower);
  const double z = 2.0 * inverse_temperature, a = 0.5 * (dimension - 1), shift = power - 1.0;
  const double prefactor = 2.0 * (a + shift) / (2.0 * a + shift);
  return prefactor * tilted_step(dimension, power - 1, z).ratio(z);
}

double mean_resultant(int dimension, double inverse_temperature) {
  return inverse_temperature * mean_resultant_over_beta(dimension, inverse_temperature);
}

double mean_gap(int dimension, double inverse_temperature) {
  return moment_ratio(dimension, 1, inverse_temperature);
}

double mean_resultant_over_beta(int dimension, double inverse_temperature) {
  expect_domain(dimension, inverse_temperature);
  const double z = 2.0 * inverse_temperature;
  const KummerStep step = tilted_step(dimension, 0, z);
  return 2.0 * step.slope / (step.product + z * step.slope);
}

double mean_resultant_expansion(int dimension, double inverse_temperature, int order) {
  DEWPOINT_EXPECTS(dimension >= 2 && inverse_temperature > 0.0);
  DEWPOINT_EXPECTS(0 <= order && order <= 3);
  const double second = (dimension - 1.0) * (dimension - 3.0) / 8.0;
  const double coefficients[] = {1.0, -0.5 * (dimension - 1.0), second, second};
  double sum = 0.0;
  for (int k = order; k >= 0; --k) sum = sum / inverse_temperature + coefficients[k];
  return sum;
}

double harmonic_multiplier(int dimension, int degree, double inverse_temperature) {
  DEWPOINT_EXPECTS(dimension <= kMostSphereDimension);
  DEWPOINT_EXPECTS(0 <= degree && degree <= kMostHarmonicDegree);
  double product = 1.0;
  for (int j = 0; j < degree; ++j) {
    product *= mean_resultant(dimension + 2 * j, inverse_temperature);
  }
  return product;
}

SphereMoments::SphereMoments(int dimension) : dimension_(dimension), average_(dimension) {
  DEWPOINT_EXPECTS(2 <= dimension && dimension <= kMostSphereDimension);
}

double SphereMoments::log_moment(int power, double inverse_temperature) const {
  DEWPOINT_EXPECTS(0 <= power && power <= kMostMomentPower);
  double log_moment = average_.log(inverse_temperature);
  for (int p = 1; p <= power; ++p) {
    log_moment += std::log(moment_ratio(dimension_, p, inverse_temperature));
  }
  return log_moment;
}

double log_von_mises_fisher_normaliser(int dimension, double concentration) {
  return concentration + SphereMoments(dimension).log_moment(0, concentration);
}

double log_von_mises_fisher_density(int dimension, double concentration, double angle) {
  const double sine = std::sin(0.5 * angle);
  return -2.0 * concentration * sine * sine - SphereMoments(dimension).log_moment(0, concentration);
}

}  // namespace dewpoint::theory
