#include "dewpoint/theory/simplex_depth.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::theory {

namespace {

/// log(1 − e^{−advantage}) with advantage = β(1 − ρ), which may be below the range of doubles.
double log_lead(double advantage, const SimplexState& state, const SimplexStack& stack) {
  return advantage > std::numeric_limits<double>::epsilon()
             ? std::log(-std::expm1(-advantage))
             : std::log(stack.inverse_temperature) + state.log_decorrelation;
}

}  // namespace

double SimplexState::correlation() const { return -std::expm1(log_decorrelation); }

double SimplexState::decorrelation() const { return std::exp(log_decorrelation); }

SimplexState simplex_state(double squared_norm, double correlation) {
  DEWPOINT_EXPECTS(squared_norm > 0.0);
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation < 1.0);
  return {squared_norm, std::log1p(-correlation)};
}

SimplexState simplex_step(const SimplexState& state, const SimplexStack& stack) {
  DEWPOINT_EXPECTS(stack.log_n >= 0.693);
  DEWPOINT_EXPECTS(stack.inverse_temperature > 0.0);
  DEWPOINT_EXPECTS(stack.residual >= 0.0);
  DEWPOINT_EXPECTS(state.squared_norm > 0.0 && state.log_decorrelation <= 0.0);
  const double rho = state.correlation(), spread = state.decorrelation();
  const double advantage = stack.inverse_temperature * spread;
  const double log_count = log_subtract(stack.log_n, 0.0);
  const double log_odds = log_count - advantage;
  const double log_self = -softplus(log_odds), log_others = -softplus(-log_odds);
  const double kappa = stack.residual * std::sqrt(state.squared_norm);

  const double self = std::exp(log_self), pair = std::exp(2.0 * log_others - log_count);
  const double squared_norm =
      rho * (1.0 + kappa) * (1.0 + kappa) + spread * ((self + kappa) * (self + kappa) + pair);
  const double log_gap = log_self + log_lead(advantage, state, stack);
  const double log_shifted = kappa > 0.0 ? std::log(std::exp(log_gap) + kappa) : log_gap;

  // λ ≤ 1; rounding is not allowed to say otherwise.
  const double log_contraction = std::min(0.0, 2.0 * log_shifted - std::log(squared_norm));
  return {squared_norm, state.log_decorrelation + log_contraction};
}

std::vector<SimplexState> simplex_trajectory(const SimplexState& start, const SimplexStack& stack,
                                             int layers) {
  DEWPOINT_EXPECTS(layers >= 0);
  std::vector<SimplexState> states{start};
  for (int layer = 0; layer < layers; ++layer) states.push_back(simplex_step(states.back(), stack));
  return states;
}

// Where ρ as a double forgets 1 − ρ: the β that has the same B at the largest ρ below 1.
double simplex_gradient(const SimplexState& state, const SimplexStack& stack, double dimension) {
  const double rho = std::min(state.correlation(), 1.0 - std::numeric_limits<double>::epsilon());
  const double beta = stack.inverse_temperature * (state.decorrelation() / (1.0 - rho));
  return simplex_gradient(stack.log_n, beta, rho, {dimension, state.squared_norm, stack.residual});
}

std::optional<long long> collapse_depth(const SimplexState& start, const SimplexStack& stack,
                                        double threshold, long long most_layers) {
  DEWPOINT_EXPECTS(0.0 <= threshold && threshold < 1.0);
  const double log_threshold = std::log1p(-threshold);
  SimplexState state = start;
  for (long long layer = 0; layer <= most_layers; ++layer) {
    if (state.log_decorrelation < log_threshold) return layer;
    state = simplex_step(state, stack);
  }
  return std::nullopt;
}

double leading_collapse_depth(double log_n, double inverse_temperature, double correlation) {
  const double advantage = inverse_temperature * (1.0 - correlation);
  DEWPOINT_EXPECTS(log_n > 0.0);
  DEWPOINT_EXPECTS(0.0 < correlation && correlation < 1.0);
  DEWPOINT_EXPECTS(advantage > log_n);
  return std::exp(advantage - log_n) / (2.0 * correlation * advantage);
}

}  // namespace dewpoint::theory
