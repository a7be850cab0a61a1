#include "dewpoint/theory/gauss_legendre.hpp"

#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

struct Legendre {
  double value;
  double derivative;
};

/// P_N and P_N' inside (−1, 1) by the three-term recurrence.
Legendre legendre(int degree, double x) {
  double previous = 1.0, current = x;
  for (int k = 2; k <= degree; ++k) {
    const double next = ((2 * k - 1) * x * current - (k - 1) * previous) / k;
    previous = current;
    current = next;
  }
  return {current, degree * (previous - x * current) / ((1.0 - x) * (1.0 + x))};
}

/// The i-th largest zero of P_N. Tricomi's guess is good to O(N⁻⁴), so Newton's third step is
/// already below rounding.
double legendre_zero(int degree, int i) {
  const double angle = std::numbers::pi * (i + 0.75) / (degree + 0.5);
  double x = (1.0 - (1.0 - 1.0 / degree) / (8.0 * degree * degree)) * std::cos(angle);
  for (int step = 0; step < 4; ++step) {
    const Legendre p = legendre(degree, x);
    x -= p.value / p.derivative;
  }
  return x;
}

}  // namespace

QuadratureRule gauss_legendre(int count) {
  DEWPOINT_EXPECTS(1 <= count && count <= 4096);
  QuadratureRule rule{std::vector<double>(count), std::vector<double>(count)};
  for (int i = 0; i <= (count - 1) / 2; ++i) {
    const int mirror = count - 1 - i;
    const double zero = i == mirror ? 0.0 : legendre_zero(count, i);
    const double slope = legendre(count, zero).derivative;
    const double weight = 2.0 / ((1.0 - zero) * (1.0 + zero) * slope * slope);
    rule.nodes[i] = -zero;
    rule.nodes[mirror] = zero;
    rule.weights[i] = rule.weights[mirror] = weight;
  }
  return rule;
}

QuadratureRule on_interval(const QuadratureRule& rule, double lower, double upper) {
  const double centre = 0.5 * (lower + upper), half_width = 0.5 * (upper - lower);
  QuadratureRule moved = rule;
  for (double& node : moved.nodes) node = centre + half_width * node;
  for (double& weight : moved.weights) weight *= half_width;
  return moved;
}

}  // namespace dewpoint::theory
