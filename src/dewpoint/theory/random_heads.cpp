#include "dewpoint/theory/random_heads.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::theory {
namespace {

// Y − 1/n for v ≤ kSmallVariance: (1/n)(1 − 1/n)(e^v − 1).
double small_participation(double log_n, double v) {
  return std::exp(-log_n) * (1.0 + -std::expm1(-log_n) * std::expm1(v));
}

FiniteScores question_of(const RandomHeadStack& stack, double v) {
  return {stack.log_n, std::sqrt(v * static_cast<double>(stack.dimension))};
}

SphereGap law_of(const RandomHeadStack& stack) { return SphereGap(stack.dimension); }

double summed_participation(const RandomHeadStack& stack, double v) {
  return finite_score_means(law_of(stack), question_of(stack, v)).participation;
}

double participation(const RandomHeadStack& stack, double v) {
  return v <= kSmallVariance ? small_participation(stack.log_n, v) : summed_participation(stack, v);
}

// Y(v) − Y(ρ min(v, 2 log n)), ρ = 1 − g, which is small with both v and g.
double participation_excess(const RandomHeadStack& stack, double v, double gap, double whole) {
  if (v <= kSmallVariance) {
    return std::exp(-stack.log_n) * -std::expm1(-stack.log_n) * std::exp((1.0 - gap) * v) *
           std::expm1(v * gap);
  }
  return whole - participation(stack, (1.0 - gap) * std::min(v, 2.0 * stack.log_n));
}

}  // namespace

double random_head_deviation(double d, double heads) { return 1.0 / std::sqrt(heads * d); }

double RandomHeadState::gap() const { return std::exp(log_gap); }

RandomHeadState random_head_state(const RandomHeadStack& stack, double squared_norm,
                                  double correlation) {
  const double shared = std::exp(-stack.log_n);
  return {squared_norm, std::log1p(-correlation), 1.0 + stack.dimension * shared, shared,
          1.0 - shared};
}

RandomHeadWeights random_head_weights(const RandomHeadStack& stack, double v) {
  DEWPOINT_EXPECTS(stack.dimension >= 3 && v >= 0.0);
  if (v <= kSmallVariance) {
    const double y = small_participation(stack.log_n, v);
    return {y, std::sqrt(v / static_cast<double>(stack.dimension)) * (1.0 - y), y};
  }
  // Over a step of a hundredth dY/dv has an error of 1e-5 from third derivatives, 1e-9 from
  // rounding.
  const double step = 0.01 * v;
  const SphereGap law = law_of(stack);
  const FiniteScores question = question_of(stack, v);
  const FiniteScoreMeans means = finite_score_means(law, question);
  const double cubes = finite_score_average(law, question, 3.0, [](double) { return 1.0; });
  const double slope =
      (summed_participation(stack, v + step) - summed_participation(stack, v - step)) /
      (2.0 * step);
  return {means.participation, 1.0 - means.depth,
          (2.0 * (means.participation - cubes) + slope) / 3.0};
}

double anisotropy_step(double anisotropy, double linear_share) {
  const double c = anisotropy - 1.0, second = 1.0 + c;
  const double third = 1.0 + 3.0 * c + c * c, fourth = third + 3.0 * c + 5.0 * c * c + c * c * c;
  const double x = linear_share, y = 1.0 - x;
  return x * x * (fourth / (second * second) + c) + 2.0 * x * y * third / second + y * y * second;
}

RandomHeadState random_head_step(const RandomHeadState& state, const RandomHeadStack& stack) {
  const double g = state.gap(), rho = -std::expm1(state.log_gap);
  const double d = stack.dimension, share = std::exp(-stack.log_n), k = state.anisotropy;
  const double b2 = stack.scaled_deviation * stack.scaled_deviation, v = b2 * g;
  const RandomHeadWeights weights = random_head_weights(stack, v);
  const double y = weights.participation, a2 = weights.alignment * weights.alignment;
  const double excess = participation_excess(stack, v, g, y), shared = y - excess;
  const double noise = std::max(0.0, excess - g * a2 * d * share) * (1.0 - a2);
  const double linear = g * a2 * k * (1.0 - shared);

  RandomHeadState next{};
  next.squared_norm = rho + g * (shared + (1.0 - shared) * rho * a2 * k) + g * (noise + linear);
  // For g below the range of doubles there is b² g² k/d.
  const double own = noise + linear;
  const double log_own = own > 0.0 ? std::log(own) : std::log(b2 * k / d) + 2.0 * state.log_gap;
  next.log_gap = state.log_gap + log_own - std::log(next.squared_norm);
  next.anisotropy = std::min(anisotropy_step(k, own > 0.0 ? linear / own : 1.0), d);

  const double across = (1.0 - a2) * weights.spread;
  const double straight = (1.0 - y) * (1.0 - y) * k / d, uneven = across - share * (1.0 - a2);
  const double queries = b2 * g * g;
  const double common = state.common_change, rest = state.own_change;
  next.common_change =
      (common * (1.0 + queries * straight) + rest * (shared - share)) / state.squared_norm;
  next.own_change = (rest * (excess + queries * (uneven + straight) + b2 * g * across) +
                     common * queries * uneven) /
                    state.squared_norm;
  return next;
}

double random_head_gradient(const RandomHeadState& state, const RandomHeadStack& stack) {
  RandomHeadState fresh = state;
  fresh.common_change = std::exp(-stack.log_n);
  fresh.own_change = 1.0 - fresh.common_change;
  return (1.0 - 1.0 / stack.dimension) * random_head_step(fresh, stack).end_to_end();
}

std::vector<RandomHeadState> random_head_trajectory(const RandomHeadState& start,
                                                    const RandomHeadStack& stack, int layers) {
  std::vector<RandomHeadState> states = {start};
  for (int l = 0; l < layers; ++l) states.push_back(random_head_step(states.back(), stack));
  return states;
}

double annealed_first_gap(const RandomHeadStack& stack) {
  const double b2 = stack.scaled_deviation * stack.scaled_deviation;
  const double inverse =
      std::exp(b2) + std::exp(stack.log_n) * b2 / static_cast<double>(stack.dimension);
  return (inverse - 1.0) / inverse;
}

}  // namespace dewpoint::theory
