#include "dewpoint/theory/degenerate_point.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// What the family must predict: P_11, P_21 and the logits that do so.
struct Targets {
  double rare;       // d − 1
  double after_top;  // P_11
  double after_low;  // P_21
  double logit_top;  // ℓ_1 > 0
  double logit_low;  // ℓ_2 < ℓ_1

  explicit Targets(const TwoGroups& groups)
      : rare(static_cast<double>(groups.tokens) - 1.0),
        after_top(groups.persistence + (1.0 - groups.persistence) * groups.top),
        after_low((1.0 - groups.persistence) * groups.top),
        logit_top(std::log(rare * after_top / ((1.0 - groups.persistence) * (1.0 - groups.top)))),
        logit_low(std::log(rare * after_low / (1.0 - after_low))) {}
};

[[maybe_unused]] bool is_two_groups(const TwoGroups& groups) {
  return groups.tokens >= 2 && groups.top * static_cast<double>(groups.tokens) > 1.0 &&
         groups.top < 1.0 && 0.0 < groups.persistence && groups.persistence < 1.0;
}

template <class Function>
double root(const Function& function, double lower, double upper) {
  const double at_lower = function(lower), at_upper = function(upper);
  if (at_lower == 0.0) return lower;
  if (at_upper == 0.0) return upper;
  std::uintmax_t iterations = 200;
  const auto [left, right] =
      boost::math::tools::toms748_solve(function, lower, upper, at_lower, at_upper,
                                        boost::math::tools::eps_tolerance<double>(52), iterations);
  return std::abs(function(left)) < std::abs(function(right)) ? left : right;
}

/// The family at γ_1 = 1: what one value of k fixes.
struct Shape {
  double focus;  // k
  double ratio;  // ρ
  TwoGroupAttention attention;
  double gap;  // Δβ

  [[nodiscard]] double reading_of_top() const { return ratio + attention.of_top * (1.0 - ratio); }
  [[nodiscard]] double reading_of_low() const { return ratio + attention.of_low * (1.0 - ratio); }
};

Shape shape_at(const TwoGroups& groups, const Targets& targets, double focus) {
  const double prior = std::log(groups.top / (1.0 - groups.top));
  const double quotient = targets.logit_low / targets.logit_top;
  Shape shape{focus, 0.0, {}, 0.0};
  const auto mismatch = [&](double ratio) {
    shape.ratio = ratio;
    shape.attention = {logistic(prior + focus * (1.0 - ratio)),
                       logistic(prior + focus * ratio * (1.0 - ratio))};
    return shape.reading_of_low() - quotient * shape.reading_of_top();
  };
  // Positive at ρ = 1, and close to ρ(1 − ξ_2) far below 0.
  double lower = -1.0;
  while (mismatch(lower) > 0.0) lower *= 2.0;
  mismatch(root(mismatch, lower, 1.0));
  shape.gap = targets.logit_top / shape.reading_of_top();
  return shape;
}

/// ‖γ‖² − ‖β‖² of the shape once η is given.
double surplus_of(const Targets& targets, const Shape& shape, double amplitude) {
  const double scale = shape.focus / amplitude;  // γ_1²
  return scale * (1.0 + targets.rare * shape.ratio * shape.ratio) -
         shape.gap * shape.gap / scale * targets.rare / (1.0 + targets.rare);
}

DegeneratePoint point_of(const TwoGroups& groups, const Shape& shape, double amplitude) {
  const double top = std::sqrt(shape.focus / amplitude), contrast = top * (1.0 - shape.ratio);
  const double xi = shape.attention.of_low;
  return {groups,
          {top, top * shape.ratio, shape.gap / top, std::sqrt(amplitude)},
          shape.attention,
          amplitude * xi * (1.0 - xi) * contrast * contrast};
}

}  // namespace

std::optional<DegeneratePoint> degenerate_point(const TwoGroups& groups, double amplitude,
                                                double surplus) {
  DEWPOINT_EXPECTS(is_two_groups(groups));
  DEWPOINT_EXPECTS(amplitude > 0.0 && std::isfinite(amplitude) && std::isfinite(surplus));
  const Targets targets(groups);
  const auto excess = [&](double log_focus) {
    return surplus_of(targets, shape_at(groups, targets, std::exp(log_focus)), amplitude) - surplus;
  };
  // Bracket downwards and upwards from k = 1.
  const double smallest = std::log(kSmallestFocus), largest = std::log(kLargestFocus);
  double lower = 0.0, upper = 0.0;
  while (lower > smallest && excess(lower) > 0.0) lower = std::max(lower - 1.0, smallest);
  while (upper < largest && excess(upper) < 0.0) upper = std::min(upper + 1.0, largest);
  if (excess(lower) > 0.0 || excess(upper) < 0.0) return std::nullopt;
  const double focus = std::exp(lower == upper ? lower : root(excess, lower, upper));
  return point_of(groups, shape_at(groups, targets, focus), amplitude);
}

std::optional<DegeneratePoint> focused_degenerate_point(const TwoGroups& groups, double surplus) {
  DEWPOINT_EXPECTS(is_two_groups(groups));
  const Targets targets(groups);
  if (targets.logit_low >= 0.0) return std::nullopt;
  const double ratio = targets.logit_low / targets.logit_top;
  const double norm = 1.0 + targets.rare * ratio * ratio;
  const double output =
      targets.logit_top * targets.logit_top * targets.rare / (1.0 + targets.rare);  // ‖β‖²γ_1²
  const double root_term = std::sqrt(surplus * surplus + 4.0 * output * norm);
  // The two forms of the root of n x² − S x − ‖β‖²γ_1² = 0 that do not cancel.
  const double square =
      surplus >= 0.0 ? (surplus + root_term) / (2.0 * norm) : 2.0 * output / (root_term - surplus);
  const double top = std::sqrt(square);
  return DegeneratePoint{
      groups,
      {top, top * ratio, targets.logit_top / top, std::numeric_limits<double>::infinity()},
      {1.0, 0.0},
      0.0};
}

DegeneratePoint rescaled(const DegeneratePoint& point, double scale) {
  DEWPOINT_EXPECTS(scale > 0.0);
  DegeneratePoint result = point;
  result.state.top *= scale;
  result.state.low *= scale;
  result.state.output_gap /= scale;
  result.state.attention /= scale;
  return result;
}

double degenerate_loss(const TwoGroups& groups) {
  DEWPOINT_EXPECTS(is_two_groups(groups));
  const Targets targets(groups);
  const auto entropy = [&](double p) {
    return -p * std::log(p) - (1.0 - p) * std::log((1.0 - p) / targets.rare);
  };
  return groups.top * entropy(targets.after_top) + (1.0 - groups.top) * entropy(targets.after_low);
}

double stability_margin(const TwoGroups& groups) {
  DEWPOINT_EXPECTS(is_two_groups(groups) && groups.tokens >= 3);
  const Targets targets(groups);
  const double stiffness =
      groups.top * (1.0 - targets.after_top) * targets.logit_top * targets.logit_top +
      (1.0 - groups.top) * (1.0 - targets.after_low) * targets.logit_low * targets.logit_low;
  const double rare_mass = (1.0 - groups.top) / targets.rare;
  return targets.after_low * (1.0 - targets.after_low) * stiffness / targets.rare -
         rare_mass * groups.persistence * groups.persistence;
}

DegenerateStability degenerate_stability(const DegeneratePoint& point) {
  const TwoGroups& groups = point.groups;
  const Targets targets(groups);
  const double margin = stability_margin(groups), gap = point.state.output_gap;
  const double rare_mass = (1.0 - groups.top) / targets.rare, s = point.sensitivity;
  const double variance = targets.after_low * (1.0 - targets.after_low) * gap * gap;
  const double top = targets.logit_top / gap, low = targets.logit_low / gap;  // m_1, m_2

  DegenerateStability result;
  result.embedding_curvature = rare_mass * s * s * variance;
  result.coupling = -rare_mass * groups.persistence * s;
  result.output_curvature = (groups.top * top * top * (1.0 - targets.after_top) +
                             (1.0 - groups.top) * low * low * (1.0 - targets.after_low)) /
                            targets.rare;
  const double mean = 0.5 * (result.embedding_curvature + result.output_curvature);
  const double half = 0.5 * (result.embedding_curvature - result.output_curvature);
  result.decay = -mean - std::hypot(half, result.coupling);
  result.growth = rare_mass * s * s * margin / result.decay;
  result.multiplicity = groups.tokens - 2;
  return result;
}

}  // namespace dewpoint::theory
