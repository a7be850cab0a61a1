#include "dewpoint/theory/layer_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::theory {

namespace {

double squared(double x) { return x * x; }

/// κ² + 2κρ_2 + ρ_2: the largest squared norm after a layer that spreads its weights evenly.
double collapsed_norm(double largest_correlation, double residual) {
  return output_norm_bound(largest_correlation, residual, 0.0, 0.0);
}

[[maybe_unused]] bool is_gain_domain(double smallest, double largest, double residual) {
  return 0.0 <= smallest && smallest <= largest && 0.0 < largest && largest < 1.0 &&
         residual >= 0.0;
}

}  // namespace

WeightBounds weight_bounds(const AlmostSimplex& tokens) {
  const double rho_1 = tokens.smallest_correlation, rho_2 = tokens.largest_correlation;
  const double beta = tokens.inverse_temperature;
  DEWPOINT_EXPECTS(0.0 <= rho_1 && rho_1 <= rho_2 && rho_2 < 1.0);
  const SimplexWeights far = simplex_weights(tokens.log_n, beta, rho_1);
  const SimplexWeights near = simplex_weights(tokens.log_n, beta, rho_2);

  // m = 1/(1 + e^{β(1−ρ_2)} + (n − 2) e^{−β(ρ_2−ρ_1)}); n = 2 leaves no third token.
  const double log_pairs =
      log_subtract(tokens.log_n, std::min(tokens.log_n, std::log(2.0))) - beta * (rho_2 - rho_1);
  const double log_rest = log_add(beta * (1.0 - rho_2), log_pairs);
  const double largest_other = std::exp(-softplus(log_rest));

  WeightBounds bounds{};
  bounds.smallest_self = near.self;
  bounds.largest_self = far.self;
  bounds.largest_others = near.others;
  bounds.largest_other = largest_other;
  bounds.largest_overlap =
      std::min(far.self, std::max(largest_other, overlap_bound(far.self, largest_other)));
  return bounds;
}

double overlap_bound(double self, double largest_other) {
  return self * self + (1.0 - self) * largest_other;
}

double output_norm_bound(double largest_correlation, double scaled_residual, double self,
                         double overlap) {
  DEWPOINT_EXPECTS(largest_correlation <= 1.0 && scaled_residual >= 0.0);
  const double rest = 1.0 - largest_correlation;
  return scaled_residual * scaled_residual +
         2.0 * scaled_residual * (largest_correlation + rest * self) + largest_correlation +
         rest * overlap;
}

double output_correlation_bound(double smallest_correlation, double first_residual,
                                double first_norm, double second_residual, double second_norm) {
  DEWPOINT_EXPECTS(smallest_correlation >= 0.0);
  DEWPOINT_EXPECTS(first_norm > 0.0 && second_norm > 0.0);
  return smallest_correlation * (1.0 + first_residual) * (1.0 + second_residual) /
         std::sqrt(first_norm * second_norm);
}

double collapse_bound(const AlmostSimplex& tokens, double largest_residual) {
  const WeightBounds weights = weight_bounds(tokens);
  const double norm = output_norm_bound(tokens.largest_correlation, largest_residual,
                                        weights.largest_self, weights.largest_overlap);
  return output_correlation_bound(tokens.smallest_correlation, largest_residual, norm,
                                  largest_residual, norm);
}

double collapse_gain(double smallest_correlation, double largest_correlation,
                     double largest_residual) {
  DEWPOINT_EXPECTS(is_gain_domain(smallest_correlation, largest_correlation, largest_residual));
  return smallest_correlation * (1.0 - largest_correlation) * (1.0 + 2.0 * largest_residual) /
         collapsed_norm(largest_correlation, largest_residual);
}

double published_collapse_gain(double smallest_correlation, double largest_correlation,
                               double largest_residual) {
  DEWPOINT_EXPECTS(is_gain_domain(smallest_correlation, largest_correlation, largest_residual));
  const double delta =
      (1.0 + largest_residual) / std::sqrt(collapsed_norm(largest_correlation, largest_residual)) -
      1.0;
  return smallest_correlation * (1.0 + 2.0 * delta) * delta;
}

double displacement_bound(double others, double smallest_correlation) {
  DEWPOINT_EXPECTS(smallest_correlation <= 1.0);
  return others * std::sqrt(2.0 * (1.0 - smallest_correlation));
}

double gradient_lower_bound(double dimension, double mean_squared_gain) {
  DEWPOINT_EXPECTS(dimension >= 1.0);
  return (1.0 - 1.0 / dimension) * mean_squared_gain;
}

double gradient_upper_bound(double dimension, double inverse_temperature,
                            double smallest_correlation, double smallest_squared_norm,
                            const RowMeans& means) {
  DEWPOINT_EXPECTS(dimension >= 1.0 && smallest_squared_norm > 0.0);
  DEWPOINT_EXPECTS(0.0 <= smallest_correlation && smallest_correlation < 1.0);
  const double tangent = std::sqrt(dimension - 1.0), spread = 1.0 - smallest_correlation;
  const double scores = inverse_temperature * spread;
  const double diagonal = means.squared_self * tangent * tangent +
                          2.0 * means.self * tangent * scores + scores * scores;
  const double reach = std::sqrt(2.0 * spread * (1.0 - squared(smallest_correlation)));
  return (diagonal + squared(tangent + inverse_temperature * reach) * means.squared_others) /
         (smallest_squared_norm * dimension);
}

double published_gradient_bound(double dimension, double inverse_temperature,
                                double smallest_squared_norm, const RowMeans& means) {
  DEWPOINT_EXPECTS(dimension >= 1.0 && smallest_squared_norm > 0.0);
  const double scores = 2.0 * inverse_temperature, entry = scores + std::sqrt(dimension);
  return (scores * scores + 2.0 * scores * entry * means.self +
          entry * entry * (means.squared_self + means.squared_others)) /
         (smallest_squared_norm * dimension);
}

}  // namespace dewpoint::theory
