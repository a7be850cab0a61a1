#include "dewpoint/theory/simplex_sink.hpp"

#include <algorithm>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

// Beyond this ratio of residual to attention, attention is below the rounding of the sum.
constexpr double kLogDominantResidual = 230.0;

/// log Z and its slope in β, the mean score.
struct Partition {
  double log, mean_score;
};

Partition partition(double log_n, double inverse_temperature, double correlation) {
  const SimplexWeights weights = simplex_weights(log_n, inverse_temperature, correlation);
  return {weights.log_normaliser, weights.self + correlation * weights.others};
}

}  // namespace

SinkWeights sink_weights(double log_n, double inverse_temperature, double correlation,
                         double sink_logit) {
  DEWPOINT_EXPECTS(sink_logit < std::numeric_limits<double>::infinity());
  const SimplexWeights softmax = simplex_weights(log_n, inverse_temperature, correlation);
  const double log_odds = sink_logit - softmax.log_normaliser;

  SinkWeights weights{};
  weights.log_keys = -softplus(log_odds);
  weights.log_sink = -softplus(-log_odds);
  weights.log_self = softmax.log_self + weights.log_keys;
  weights.log_others = softmax.log_others + weights.log_keys;
  weights.log_per_token = softmax.log_per_token + weights.log_keys;
  weights.keys = std::exp(weights.log_keys);
  weights.sink = std::exp(weights.log_sink);
  weights.self = std::exp(weights.log_self);
  weights.others = std::exp(weights.log_others);
  weights.per_token = std::exp(weights.log_per_token);
  return weights;
}

SimplexOutput sink_output(double log_n, double inverse_temperature, double correlation,
                          double sink_logit, double scaled_residual) {
  DEWPOINT_EXPECTS(scaled_residual >= 0.0);
  const SinkWeights weights = sink_weights(log_n, inverse_temperature, correlation, sink_logit);
  const double log_ratio = std::log(scaled_residual) - weights.log_keys;
  if (log_ratio > kLogDominantResidual) {
    return {scaled_residual * scaled_residual, correlation, 1.0 - correlation, 0.0};
  }
  SimplexOutput output =
      simplex_output(log_n, inverse_temperature, correlation, std::exp(log_ratio));
  output.squared_norm *= std::exp(2.0 * weights.log_keys);
  return output;
}

// log Z is convex and at least β: Newton's steps from β = u fall onto the root and never pass it.
std::optional<double> sink_half_beta(double log_n, double correlation, double sink_logit) {
  if (sink_logit < log_n) return {};
  for (double beta = sink_logit;;) {
    const Partition z = partition(log_n, beta, correlation);
    const double next = std::max(0.0, beta - (z.log - sink_logit) / z.mean_score);
    if (!(next < beta)) return beta;
    beta = next;
  }
}

std::optional<double> sink_half_log_length(double inverse_temperature, double correlation,
                                           double sink_logit) {
  if (sink_logit <= inverse_temperature) return {};
  const double log_count =
      log_subtract(sink_logit, inverse_temperature) - inverse_temperature * correlation;
  if (log_count < 0.0) return {};
  return log_add(0.0, log_count);
}

// The logarithm of the competitors' odds is convex and falls; Newton's steps from below rise to its
// root and never pass it.
double sink_even_beta(double log_n, double correlation, double sink_logit) {
  DEWPOINT_EXPECTS(log_n > std::log(2.99));
  const double log_count = log_subtract(log_n, 0.0), spread = 1.0 - correlation;
  for (double beta = std::max(log_count / spread, sink_logit);;) {
    const double others = log_count - beta * spread, sink = sink_logit - beta;
    const double odds = log_add(others, sink);
    const double slope = spread * std::exp(others - odds) + std::exp(sink - odds);
    const double next = beta + odds / slope;
    if (!(next > beta)) return beta;
    beta = next;
  }
}

}  // namespace dewpoint::theory
