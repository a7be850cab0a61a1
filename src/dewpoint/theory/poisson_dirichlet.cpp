#include "dewpoint/theory/poisson_dirichlet.hpp"

#include <algorithm>
#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/expint.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// 1 − 1/t without cancellation at t = 1.
double complement_of_inverse(double load) { return std::isinf(load) ? 1.0 : (load - 1.0) / load; }

/// M(x) = Σ_k x^k/(c (c+1) ... (c+k−1)) with c = 1 − α.
double positive_series(double x, double c) {
  double term = 1.0, sum = 1.0;
  for (int k = 0; term > 0.125 * kEpsilon * sum; ++k) {
    term *= x / (c + k);
    sum += term;
  }
  return sum;
}

/// Ein(x) = E_1(x) + log x + γ_E. The three terms cancel for small x, where the series is short.
double entire_exponential_integral(double x) {
  if (x > 1.0) return boost::math::expint(1, x) + std::log(x) + std::numbers::egamma;
  double power = x, sum = x;
  for (int k = 2; std::abs(power) > kEpsilon * sum; ++k) {
    power *= -x / k;
    sum += power / k;
  }
  return sum;
}

// Beyond this x the integrands, below e^{−x}, are zero in double precision.
constexpr double kReach = 740.0;

/// ∫_0^∞ by the double-exponential rule, which resolves any scale of x near 0.
double integral(const auto& integrand) {
  boost::math::quadrature::exp_sinh<double> rule;
  return rule.integrate([&](double x) { return x > kReach ? 0.0 : integrand(x); },
                        0.1 * kPoissonDirichletError);
}

}  // namespace

double poisson_dirichlet_largest_weight(double load) {
  DEWPOINT_EXPECTS(load >= 0.0);
  if (load <= 1.0) return 0.0;
  const double c = complement_of_inverse(load);
  return integral([c](double x) { return 1.0 / positive_series(x, c); });
}

// sin πα = sin π(1 − α), of whichever is smaller.
double poisson_dirichlet_majority(double load) {
  DEWPOINT_EXPECTS(load >= 0.0);
  if (load <= 1.0) return 0.0;
  if (std::isinf(load)) return 1.0;
  const double alpha = 1.0 / load, smaller = std::min(alpha, complement_of_inverse(load));
  return std::sin(std::numbers::pi * smaller) / (std::numbers::pi * alpha);
}

double poisson_dirichlet_moment(double load, double power) {
  DEWPOINT_EXPECTS(load > 1.0 && power > 0.0);
  const double c = complement_of_inverse(load), shifted = (power - 1.0) + c;
  if (shifted <= 0.0) return kInfinity;
  return std::exp(std::lgamma(shifted) - std::lgamma(power) - std::lgamma(c));
}

double poisson_dirichlet_participation(double load) {
  DEWPOINT_EXPECTS(load >= 0.0);
  return load <= 1.0 ? 0.0 : complement_of_inverse(load);
}

double poisson_dirichlet_participation_variance(double load) {
  return load <= 1.0 ? 0.0 : poisson_dirichlet_participation(load) / (3.0 * load);
}

double poisson_dirichlet_entropy(double load) {
  DEWPOINT_EXPECTS(load >= 0.0);
  if (load <= 1.0) return kInfinity;
  return -std::numbers::egamma - boost::math::digamma(complement_of_inverse(load));
}

double published_largest_weight(double load) {
  DEWPOINT_EXPECTS(load > 0.0);
  return integral(
      [load](double x) { return std::exp(-x - entire_exponential_integral(x) / load); });
}

}  // namespace dewpoint::theory
