#include "dewpoint/theory/simplex_gradient.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

[[maybe_unused]] bool is_gradient_setting(const GradientSetting& setting) {
  return setting.dimension >= 1.0 && setting.squared_norm > 0.0 && setting.residual >= 0.0;
}

/// α² + η_0 + (2α/√q) g from q η_0 and g.
double with_residual(double scaled_gradient, double cross, const GradientSetting& setting) {
  return setting.residual * setting.residual + scaled_gradient / setting.squared_norm +
         2.0 * setting.residual * cross / std::sqrt(setting.squared_norm);
}

}  // namespace

double simplex_gradient(double log_n, double inverse_temperature, double correlation,
                        const GradientSetting& setting) {
  DEWPOINT_EXPECTS(log_n <= 700.0);
  DEWPOINT_EXPECTS(is_gradient_setting(setting));
  const SimplexWeights weights = simplex_weights(log_n, inverse_temperature, correlation);
  const double a = weights.self, s = weights.others, b = weights.per_token, gap = weights.gap;
  const double advantage = inverse_temperature * (1.0 - correlation);
  const double share = 1.0 / setting.dimension;

  // s − b = s (1 − 1/(n − 1)); n = 2 may come out as a rounding error below zero.
  const double rest = s * std::max(0.0, -std::expm1(-log_subtract(log_n, 0.0)));
  const double pair = s * b;
  const double mixing = (1.0 - share) * (a * a + pair);
  const double first =
      2.0 * s * ((1.0 + correlation) * a * gap + rest * (gap + (1.0 - correlation) * b));
  const double second =
      correlation * a * a * s * s +
      pair * ((2.0 + correlation) * (gap + rest + pair) + 2.0 * (1.0 + correlation) * a * a);
  const double trace = s * (a * (1.0 + correlation) + rest);
  return with_residual(mixing + advantage * share * (first + advantage * second),
                       (1.0 - share) * a + advantage * share * trace, setting);
}

double simplex_gradient_crossover(double scaling_variable, const GradientSetting& setting) {
  DEWPOINT_EXPECTS(is_gradient_setting(setting));
  const double self = std::exp(-softplus(-scaling_variable));
  const double tangent = 1.0 - 1.0 / setting.dimension;
  return with_residual(tangent * self * self, tangent * self, setting);
}

double simplex_gradient_crossover_bias(double log_n, double inverse_temperature, double correlation,
                                       const GradientSetting& setting) {
  DEWPOINT_EXPECTS(is_gradient_setting(setting));
  const double advantage = inverse_temperature * (1.0 - correlation);
  const double per_token = std::exp(-log_subtract(log_n, 0.0));
  const double scores = advantage + advantage * advantage * (1.0 / 16.0 + 7.0 * per_token);
  return (1.5 * per_token + scores / setting.dimension) *
         (1.0 + 2.0 * setting.residual * std::sqrt(setting.squared_norm)) / setting.squared_norm;
}

double simplex_gradient_critical(double log_n, double correlation, const GradientSetting& setting) {
  DEWPOINT_EXPECTS(log_n >= 0.693);
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation < 1.0);
  DEWPOINT_EXPECTS(is_gradient_setting(setting));
  const double share = 1.0 / setting.dimension, inverse_n = std::exp(-log_n);
  const double first = (2.0 + correlation) * log_n / 4.0;
  const double second = correlation * log_n * log_n / 16.0;
  return with_residual((1.0 - share) * (0.25 + 0.5 * inverse_n) + share * (first + second),
                       (1.0 - share) * (0.5 + 0.25 * inverse_n) + share * first, setting);
}

}  // namespace dewpoint::theory
