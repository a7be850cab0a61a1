#include "dewpoint/theory/two_group_flow.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/ode.hpp"
#include "dewpoint/theory/second_critical_point.hpp"

namespace dewpoint::theory {

namespace {

double rare_tokens(const TwoGroups& groups) { return static_cast<double>(groups.tokens - 1); }

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double log_odds(double p) { return std::log(p / (1.0 - p)); }

/// Probability of the frequent token after itself, and after a rare one.
struct Transitions {
  double after_top;
  double after_low;
};
Transitions transitions(const TwoGroups& groups) {
  const double drawn = (1.0 - groups.persistence) * groups.top;
  return {groups.persistence + drawn, drawn};
}

/// m_1 and m_2.
struct Readings {
  double of_top;
  double of_low;
};
Readings readings(const TwoGroupState& state, const TwoGroupAttention& attention) {
  const double contrast = state.top - state.low;
  return {state.low + attention.of_top * contrast, state.low + attention.of_low * contrast};
}

/// ‖γ‖² − ‖β‖² − 2η.
double conserved(const TwoGroups& groups, const TwoGroupState& s) {
  const double rare = rare_tokens(groups);
  return s.top * s.top + rare * s.low * s.low - s.output_gap * s.output_gap * rare / (rare + 1.0) -
         2.0 * s.amplitude();
}

TwoGroupState from_vector(std::span<const double> y) { return {y[0], y[1], y[2], y[3]}; }
std::array<double, 4> to_vector(const TwoGroupState& s) {
  return {s.top, s.low, s.output_gap, s.attention};
}

/// d(ηγ_2Δγ)/dt, which changes sign where A_21 turns.
double low_score_velocity(const TwoGroups& groups, const TwoGroupState& s) {
  const TwoGroupState v = two_group_velocity(groups, s);
  const double contrast = s.top - s.low;
  return 2.0 * s.attention * v.attention * s.low * contrast +
         s.amplitude() * (v.low * contrast + s.low * (v.top - v.low));
}

// ---- the point of rest -----------------------------------------------------------------------

/// What vanishes at rest: the errors of both logits, and of the conserved norm.
Eigen::Vector3d rest_residual(const TwoGroups& groups, const TwoGroupState& state, double norm) {
  const Readings m = readings(state, attention_to_top(groups, state));
  const Transitions p = transitions(groups);
  const double offset = std::log(rare_tokens(groups));
  return {m.of_top * state.output_gap - offset - log_odds(p.after_top),
          m.of_low * state.output_gap - offset - log_odds(p.after_low),
          conserved(groups, state) - norm};
}

/// Newton's method at fixed η. The Jacobian is by central differences, good to 1e-9: each step
/// gains as many digits, and three are enough from where the orbit ends.
Excursion::Rest polished(const TwoGroups& groups, TwoGroupState state, double norm) {
  constexpr double kStep = 1e-5;
  const TwoGroupState before = state;
  const std::array<double TwoGroupState::*, 3> unknowns{&TwoGroupState::top, &TwoGroupState::low,
                                                        &TwoGroupState::output_gap};
  for (int iteration = 0; iteration < 4; ++iteration) {
    Eigen::Matrix3d jacobian;
    for (int k = 0; k < 3; ++k) {
      TwoGroupState up = state, down = state;
      up.*unknowns[static_cast<std::size_t>(k)] += kStep;
      down.*unknowns[static_cast<std::size_t>(k)] -= kStep;
      jacobian.col(k) =
          (rest_residual(groups, up, norm) - rest_residual(groups, down, norm)) / (2.0 * kStep);
    }
    const Eigen::Vector3d step = jacobian.partialPivLu().solve(rest_residual(groups, state, norm));
    for (int k = 0; k < 3; ++k) state.*unknowns[static_cast<std::size_t>(k)] -= step(k);
  }
  const double moved = std::max({std::abs(state.top - before.top), std::abs(state.low - before.low),
                                 std::abs(state.output_gap - before.output_gap)});
  return {state, attention_to_top(groups, state), two_group_loss(groups, state), moved};
}

// ---- the orbit -------------------------------------------------------------------------------

// Close to rest the velocity of a score is rounding and crosses 0 all the time, so events are
// looked for only while predictions are wrong by more than the first of these.
constexpr double kEventsOver = 1e-6, kAtRest = 1e-11;

OdeProblem orbit_problem(const TwoGroups& groups) {
  OdeProblem problem;
  problem.slope = [groups](double, std::span<const double> y, std::span<double> slope) {
    const auto velocity = to_vector(two_group_velocity(groups, from_vector(y)));
    std::copy(velocity.begin(), velocity.end(), slope.begin());
  };
  problem.roots = [groups](double, std::span<const double> y, std::span<double> values) {
    values[0] = low_score_velocity(groups, from_vector(y));
    values[1] = y[1];
  };
  problem.root_directions = {-1, -1};
  return problem;
}

TwoGroupState orbit_start(const TwoGroups& groups, double attention) {
  const std::vector<double> law = two_group_law(groups.top, groups.tokens);
  const RankOneState start =
      unstable_start(law, persistent_chain(law, groups.persistence), attention);
  return {start.embedding[0], start.embedding[1], start.output[0] - start.output[1], attention};
}

/// The larger of |r_1| and |r_2|: λ max(π_1, 1 − π_1) at the start, 0 at rest.
double prediction_error(const TwoGroups& groups, const TwoGroupState& state) {
  const Readings m = readings(state, attention_to_top(groups, state));
  const Transitions p = transitions(groups);
  const double offset = std::log(rare_tokens(groups)), gap = state.output_gap;
  return std::max(std::abs(p.after_top - logistic(m.of_top * gap - offset)),
                  std::abs(p.after_low - logistic(m.of_low * gap - offset)));
}

/// Follows an orbit until its predictions are right up to `error`, and reports events on the way.
/// False when the longest time has passed before.
template <class Report>
bool follow(const TwoGroups& groups, OdeSolver& solver, double error, double longest,
            const Report& report) {
  constexpr double kStride = 20.0;
  while (prediction_error(groups, from_vector(solver.value())) > error) {
    if (solver.time() >= longest) return false;
    report(solver.advance(solver.time() + kStride));
  }
  return true;
}

}  // namespace

TwoGroupAttention attention_to_top(const TwoGroups& groups, const TwoGroupState& state) {
  const double prior = log_odds(groups.top);
  const double score = state.amplitude() * (state.top - state.low);
  return {logistic(prior + score * state.top), logistic(prior + score * state.low)};
}

TwoGroupState two_group_velocity(const TwoGroups& groups, const TwoGroupState& state) {
  const double rare = rare_tokens(groups), offset = std::log(rare);
  const double contrast = state.top - state.low, gap = state.output_gap;
  const auto [xi_1, xi_2] = attention_to_top(groups, state);
  const auto [m_1, m_2] = readings(state, {xi_1, xi_2});
  const auto [after_top, after_low] = transitions(groups);
  const double w_1 = groups.top * (after_top - logistic(m_1 * gap - offset));
  const double w_2 = (1.0 - groups.top) * (after_low - logistic(m_2 * gap - offset));
  // Each is w_i v_i Δγ.
  const double pull_1 = w_1 * xi_1 * (1.0 - xi_1) * contrast;
  const double pull_2 = w_2 * xi_2 * (1.0 - xi_2) * contrast;
  const double scored = pull_1 * state.top + pull_2 * state.low, eta = state.amplitude();
  return {
      gap * (w_1 * xi_1 + w_2 * xi_2 + eta * (pull_1 * contrast + scored)),
      gap / rare * (w_1 * (1.0 - xi_1) + w_2 * (1.0 - xi_2) + eta * (pull_2 * contrast - scored)),
      (1.0 + 1.0 / rare) * (m_1 * w_1 + m_2 * w_2), state.attention * gap * contrast * scored};
}

RankOneState spread_out(const TwoGroups& groups, const TwoGroupState& state) {
  const double d = static_cast<double>(groups.tokens);
  RankOneState wide{std::vector<double>(groups.tokens, state.low),
                    std::vector<double>(groups.tokens, -state.output_gap / d), state.attention,
                    state.attention};
  wide.embedding[0] = state.top;
  wide.output[0] += state.output_gap;
  return wide;
}

double two_group_loss(const TwoGroups& groups, const TwoGroupState& state) {
  const Readings m = readings(state, attention_to_top(groups, state));
  const Transitions p = transitions(groups);
  const double rare = rare_tokens(groups);
  // A rare token's logit is taken as 0, the frequent one's as x.
  const auto cross_entropy = [rare](double x, double probability) {
    return std::log(rare) + std::log1p(std::exp(x) / rare) - probability * x;
  };
  return groups.top * cross_entropy(m.of_top * state.output_gap, p.after_top) +
         (1.0 - groups.top) * cross_entropy(m.of_low * state.output_gap, p.after_low);
}

TwoGroupState two_group_critical_point(double top, std::size_t tokens) {
  const SecondCriticalPoint point = second_critical_point(two_group_law(top, tokens));
  return {point.amplitude * point.embedding_direction[0],
          point.amplitude * point.embedding_direction[1],
          point.amplitude * (point.output_direction[0] - point.output_direction[1]), 0.0};
}

double redistribution_coefficient(const TwoGroups& groups) {
  const TwoGroupState point = two_group_critical_point(groups.top, groups.tokens);
  const double variance = groups.top * (1.0 - groups.top), contrast = point.top - point.low;
  return 3.0 * groups.persistence * variance * variance * point.output_gap * contrast * contrast;
}

Excursion excursion(const TwoGroups& groups, const ExcursionOptions& options) {
  DEWPOINT_EXPECTS(groups.top * static_cast<double>(groups.tokens) > 1.0 && groups.top < 1.0);
  DEWPOINT_EXPECTS(0.0 < groups.persistence && groups.persistence < 1.0);
  const TwoGroupState start = orbit_start(groups, options.start);
  OdeOptions tolerances;
  tolerances.relative_tolerance = options.relative_tolerance;
  tolerances.absolute_tolerance = 1e-2 * options.relative_tolerance;
  OdeProblem problem = orbit_problem(groups);
  OdeSolver eventful(problem, 0.0, to_vector(start), tolerances);

  Excursion result;
  const auto note = [&](const std::vector<std::size_t>& met) {
    const TwoGroupState now = from_vector(eventful.value());
    for (const std::size_t event : met) {
      if (event == 0 && !result.peak) {
        result.peak = {eventful.time(), attention_to_top(groups, now).of_low, now.amplitude()};
      }
      if (event == 1 && !result.sign_change) result.sign_change = eventful.time();
    }
  };
  if (!follow(groups, eventful, kEventsOver, options.longest, note)) return result;

  problem.roots = nullptr;
  problem.root_directions.clear();
  OdeSolver quiet(problem, eventful.time(), eventful.value(), tolerances);
  if (follow(groups, quiet, kAtRest, options.longest, [](const auto&) {})) {
    result.rest = polished(groups, from_vector(quiet.value()), conserved(groups, start));
  }
  return result;
}

}  // namespace dewpoint::theory
