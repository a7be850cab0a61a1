#include "dewpoint/theory/simplex.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

/// log(a − b + κ), by the logarithm when a − b alone may have underflowed.
double log_shifted_gap(const SimplexWeights& weights, double scaled_residual) {
  return scaled_residual > 0.0 ? std::log(weights.gap + scaled_residual) : weights.log_gap;
}

double log_shifted_self(const SimplexWeights& weights, double scaled_residual) {
  return scaled_residual > 0.0 ? std::log(weights.self + scaled_residual) : weights.log_self;
}

/// log(ρ(1 + κ)² + (1 − ρ) e^spread): the part common to all tokens plus the part of each.
double log_gram_entry(double correlation, double scaled_residual, double log_spread) {
  return log_add(std::log(correlation) + 2.0 * std::log1p(scaled_residual),
                 std::log1p(-correlation) + log_spread);
}

}  // namespace

SimplexWeights simplex_weights(double log_n, double inverse_temperature, double correlation) {
  DEWPOINT_EXPECTS(log_n >= 0.693);
  DEWPOINT_EXPECTS(inverse_temperature >= 0.0);
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation < 1.0);
  const double log_count = log_subtract(log_n, 0.0);
  const double advantage = inverse_temperature * (1.0 - correlation);
  const double log_odds = log_count - advantage;

  SimplexWeights weights{};
  weights.log_self = -softplus(log_odds);
  weights.log_others = -softplus(-log_odds);
  weights.log_per_token = weights.log_others - log_count;
  weights.log_gap = weights.log_self + std::log(-std::expm1(-advantage));
  weights.log_normaliser = inverse_temperature + softplus(log_odds);
  weights.self = std::exp(weights.log_self);
  weights.others = std::exp(weights.log_others);
  weights.per_token = std::exp(weights.log_per_token);
  weights.gap = -weights.self * std::expm1(-advantage);
  return weights;
}

SimplexOutput simplex_output(double log_n, double inverse_temperature, double correlation,
                             double scaled_residual) {
  DEWPOINT_EXPECTS(scaled_residual >= 0.0);
  const SimplexWeights weights = simplex_weights(log_n, inverse_temperature, correlation);
  const double log_self = log_shifted_self(weights, scaled_residual);

  // (n − 2) b² = b (s − b) = b s (1 − 1/(n − 1)).
  const double log_count = log_subtract(log_n, 0.0);
  const double log_pairs = log_subtract(0.0, std::min(0.0, -log_count));
  const double log_common = weights.log_per_token + weights.log_others + log_pairs;
  const double log_norm =
      log_gram_entry(correlation, scaled_residual,
                     log_add(2.0 * log_self, weights.log_others + weights.log_per_token));
  const double log_inner =
      log_gram_entry(correlation, scaled_residual,
                     log_add(std::log(2.0) + log_self + weights.log_per_token, log_common));

  SimplexOutput output{};
  output.squared_norm = std::exp(log_norm);
  output.correlation = std::exp(log_inner - log_norm);
  output.log_contraction = 2.0 * log_shifted_gap(weights, scaled_residual) - log_norm;
  output.decorrelation = (1.0 - correlation) * std::exp(output.log_contraction);
  return output;
}

SimplexCrossover simplex_crossover(double scaling_variable, double correlation,
                                   double scaled_residual) {
  DEWPOINT_EXPECTS(0.0 < correlation && correlation < 1.0);
  DEWPOINT_EXPECTS(scaled_residual >= 0.0);
  const double self = std::exp(-softplus(-scaling_variable));
  const double common = correlation * (1.0 + scaled_residual) * (1.0 + scaled_residual);
  const double own = (self + scaled_residual) * (self + scaled_residual);
  const double squared_norm = common + (1.0 - correlation) * own;
  return {self, squared_norm, own / squared_norm};
}

}  // namespace dewpoint::theory
