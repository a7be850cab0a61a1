#include "dewpoint/theory/two_level_depth.hpp"

#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

/// log(1 − e^{−βg}) for log g, where g may be below the range of doubles.
double log_lead(double inverse_temperature, double log_gap) {
  const double advantage = inverse_temperature * std::exp(log_gap);
  return advantage > std::numeric_limits<double>::epsilon()
             ? std::log(-std::expm1(-advantage))
             : std::log(inverse_temperature) + log_gap;
}

/// Logarithms of what a layer is made of: weights a, b, c on the token itself, a neighbour and a
/// stranger, and the eigenvalues of weights plus residual.
struct LogWeights {
  double x;         // a − b + κ
  double step;      // b − c
  double z;         // p(b − c)
  double stranger;  // c (own + p cluster)
};

LogWeights log_weights(const TwoLevelState& state, const TwoLevelStack& stack, double kappa) {
  const double beta = stack.inverse_temperature;
  const double near = beta * std::exp(state.log_own);
  const double far = near + beta * std::exp(state.log_cluster);
  const double log_members = log_add(0.0, stack.log_neighbours);
  const double log_others = log_add(stack.log_neighbours - near, stack.log_strangers - far);
  const double log_self = -log_add(0.0, log_others);

  LogWeights weights{};
  weights.x = log_add(log_self + log_lead(beta, state.log_own), std::log(kappa));
  weights.step = log_self - near + log_lead(beta, state.log_cluster);
  weights.z = log_members + weights.step;
  weights.stranger = log_self - far + log_add(state.log_own, log_members + state.log_cluster);
  return weights;
}

double size_of_logarithm(double x) { return std::isinf(x) ? 0.0 : std::abs(x); }

}  // namespace

double TwoLevelState::cluster_correlation() const { return -std::expm1(log_own); }

double TwoLevelState::rest_correlation() const { return std::exp(log_common); }

double TwoLevelState::log_rest_decorrelation() const { return log_add(log_own, log_cluster); }

TwoLevelState two_level_state(double squared_norm, double cluster_correlation,
                              double rest_correlation) {
  DEWPOINT_EXPECTS(squared_norm > 0.0);
  DEWPOINT_EXPECTS(0.0 <= rest_correlation && rest_correlation <= cluster_correlation);
  DEWPOINT_EXPECTS(cluster_correlation < 1.0);
  return {squared_norm, std::log1p(-cluster_correlation),
          std::log(cluster_correlation - rest_correlation), std::log(rest_correlation)};
}

TwoLevelState two_level_step(const TwoLevelState& state, const TwoLevelStack& stack) {
  DEWPOINT_EXPECTS(stack.inverse_temperature > 0.0 && stack.residual >= 0.0);
  DEWPOINT_EXPECTS(state.squared_norm > 0.0 && state.log_own <= 0.0);
  const double kappa = stack.residual * std::sqrt(state.squared_norm);
  const auto [x, step, z, stranger] = log_weights(state, stack, kappa);
  const double total = 1.0 + kappa;

  const double own = 2.0 * x + state.log_own;
  const double cluster = log_add(
      2.0 * x + state.log_cluster,
      log_add(std::numbers::ln2 + x, z) + log_add(step + state.log_own, z + state.log_cluster));
  const double common = log_add(state.log_common + 2.0 * std::log(total),
                                stranger + std::log(total + std::exp(x) + std::exp(z)));
  const double square = log_add(own, log_add(cluster, common));
  return {std::exp(square), own - square, cluster - square, common - square};
}

double two_level_step_error(const TwoLevelStack& stack, const TwoLevelState& state) {
  const double sizes = size_of_logarithm(stack.log_neighbours) +
                       size_of_logarithm(stack.log_strangers) + size_of_logarithm(state.log_own) +
                       size_of_logarithm(state.log_cluster) + size_of_logarithm(state.log_common) +
                       stack.inverse_temperature;
  return 8.0 * std::numeric_limits<double>::epsilon() * (3.0 + sizes);
}

std::vector<TwoLevelState> two_level_trajectory(const TwoLevelState& start,
                                                const TwoLevelStack& stack, int layers) {
  DEWPOINT_EXPECTS(layers >= 0);
  std::vector<TwoLevelState> states{start};
  for (int layer = 0; layer < layers; ++layer) {
    states.push_back(two_level_step(states.back(), stack));
  }
  return states;
}

}  // namespace dewpoint::theory
