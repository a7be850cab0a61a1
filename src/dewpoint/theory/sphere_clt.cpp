#include "dewpoint/theory/sphere_clt.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::theory {

namespace {

/// Mean, variance and third central moment of the gap under e^{−bT}/μ_0(b).
struct TiltedGap {
  double mean, variance, third;
};

TiltedGap tilted_gap(int dimension, double beta) {
  const double first = moment_ratio(dimension, 1, beta);
  const double second = moment_ratio(dimension, 2, beta), third = moment_ratio(dimension, 3, beta);
  const double variance = first * (second - first);
  const double central = first * (second * (third - first) - 2.0 * first * (second - first));
  return {first, variance, central};
}

/// E_β T − E_{2β} T, from whichever of A and 1 − A is the smaller.
double mean_difference(int dimension, double beta) {
  const double mean = mean_gap(dimension, beta), resultant = mean_resultant(dimension, beta);
  return mean < resultant ? mean - mean_gap(dimension, 2.0 * beta)
                          : mean_resultant(dimension, 2.0 * beta) - resultant;
}

void expect_domain([[maybe_unused]] const SphereQuery& query) {
  DEWPOINT_EXPECTS(0.0 <= query.inverse_temperature && query.inverse_temperature <= 3e11);
  DEWPOINT_EXPECTS(query.log_n >= 0.0);
  DEWPOINT_EXPECTS(std::isfinite(query.log_density));
}

double squared(double x) { return x * x; }

/// (E X³ − 6 Var X Cov(X, Y))/(Var X)^{3/2}/√R, where E X³ = R_3 E_{3β}(T − E_β T)³ with
/// R_3 = μ_0(3β)/μ_0(β)³, Var X = Rv and Cov(X, Y) = −R · difference.
double skewness_coefficient(double log_excess, double v, double difference, const TiltedGap& cube,
                            double mean) {
  const double shift = cube.mean - mean;
  const double third = cube.third + 3.0 * cube.variance * shift + shift * shift * shift;
  return (std::exp(log_excess) * third + 6.0 * v * difference) / (v * std::sqrt(v));
}

}  // namespace

SphereFluctuations sphere_fluctuations(const SphereQuery& query) {
  expect_domain(query);
  const int d = query.dimension;
  const double beta = query.inverse_temperature;
  const SphereMoments moments(d);
  const double once = moments.log_moment(0, beta), twice = moments.log_moment(0, 2.0 * beta);
  const double thrice = moments.log_moment(0, 3.0 * beta);
  const TiltedGap square = tilted_gap(d, 2.0 * beta), cube = tilted_gap(d, 3.0 * beta);
  const double difference = mean_difference(d, beta);
  const double along = square.variance + squared(difference);
  SphereFluctuations constants{};
  constants.mean_gap = mean_gap(d, beta);
  constants.log_ratio = twice - 2.0 * once - query.log_density;
  constants.log_keys = query.log_n - constants.log_ratio;
  constants.log_variance_along = constants.log_ratio + std::log(along);
  constants.log_variance_across =
      constants.log_ratio + std::log(mean_resultant_over_beta(d, 2.0 * beta));
  constants.log_bias = constants.log_ratio + std::log(difference);
  constants.skewness_coefficient = skewness_coefficient(thrice + once - 2.0 * twice, along,
                                                        difference, cube, constants.mean_gap);
  return constants;
}

SphereFluctuations sphere_fluctuations_law(const SphereQuery& query) {
  expect_domain(query);
  DEWPOINT_EXPECTS(query.inverse_temperature > 0.0);
  const SphereGap gap(query.dimension);
  const double a = gap.exponent(), log_beta = std::log(query.inverse_temperature);
  const double bracket = std::pow(3.0, -a) * (8.0 * a - 2.0) / 27.0 - 0.75 * a * std::pow(4.0, -a);
  SphereFluctuations law{};
  law.mean_gap = a / query.inverse_temperature;
  law.log_ratio = a * (log_beta - std::numbers::ln2) - std::log(gap.local_constant()) -
                  std::lgamma(a + 1.0) - query.log_density;
  law.log_keys = query.log_n - law.log_ratio;
  law.log_variance_along = law.log_ratio + std::log(0.25 * a * (a + 1.0)) - 2.0 * log_beta;
  law.log_variance_across = law.log_ratio - std::numbers::ln2 - log_beta;
  law.log_bias = law.log_ratio + std::log(0.5 * a) - log_beta;
  law.skewness_coefficient = -8.0 * std::pow(4.0, a) * bracket / std::sqrt(a * (a + 1.0));
  return law;
}

double corrected_gap(const SphereQuery& query, const SphereFluctuations& constants) {
  return constants.mean_gap + std::exp(constants.log_bias - query.log_n);
}

ValueOutput value_output(MatrixView<const double> values, std::span<const double> query_direction,
                         const SphereQuery& query, const SphereFluctuations& constants) {
  const std::size_t rows = values.rows(), columns = values.cols();
  DEWPOINT_EXPECTS(columns == query_direction.size());
  DEWPOINT_EXPECTS(columns == static_cast<std::size_t>(query.dimension));
  DEWPOINT_EXPECTS(std::abs(inner(query_direction, query_direction) - 1.0) <= 2e-6);
  const double along = std::exp(constants.log_variance_along - query.log_n);
  const double across = std::exp(constants.log_variance_across - query.log_n);

  std::vector<double> image(rows);     // u = Vq
  Matrix<double> rest(rows, columns);  // W = V − uqᵀ
  for (std::size_t i = 0; i < rows; ++i) {
    image[i] = inner(values.row(i), query_direction);
    for (std::size_t k = 0; k < columns; ++k) {
      rest(i, k) = values(i, k) - image[i] * query_direction[k];
    }
  }
  ValueOutput output{image, Matrix<double>(rows, rows)};
  for (double& coordinate : output.mean) coordinate *= 1.0 - constants.mean_gap;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      output.covariance(i, j) =
          along * image[i] * image[j] + across * inner(rest.row(i), rest.row(j));
    }
  }
  return output;
}

}  // namespace dewpoint::theory
