#include "dewpoint/theory/token_angle.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kRadialDepth = 41.0;

/// Fall of the radial exponent below its maximum.
struct RadialPeak {
  double power;     // d − 1
  double position;  // t_0

  [[nodiscard]] double fall(double t) const {
    const double shift = t - position, relative = shift / position;
    return power * (relative - std::log1p(relative)) + 0.5 * shift * shift;
  }
};

/// Both ends come from lower bounds of the fall: y − log(1 + y) is at least y²/2 for y < 0 and
/// y²/(2 + 2y) for y > 0, besides the Gaussian part on either side.
QuadratureRule around(const RadialPeak& peak, const QuadratureRule& rule) {
  const double gaussian = std::sqrt(2.0 * kRadialDepth);
  const double curvature = 1.0 + peak.power / (peak.position * peak.position);
  const double level = kRadialDepth / peak.power;
  const double relative = level + std::sqrt(level * level + 2.0 * level);
  return on_interval(rule, peak.position - std::min(peak.position, gaussian / std::sqrt(curvature)),
                     peak.position + std::min(gaussian, relative * peak.position));
}

/// log f up to a constant.
struct LogAngleDensity {
  int dimension;
  double amplitude;  // m
  QuadratureRule radial;

  [[nodiscard]] double operator()(double angle) const {
    const double surface = dimension == 2 ? 0.0 : (dimension - 2) * std::log(std::sin(angle));
    return surface + log_radial_integral(dimension, amplitude * std::cos(angle), radial);
  }
};

/// From `inside`, where the density is above the level, towards `outside`: the last angle above it,
/// to 2⁻¹² of the way; `outside` itself when it is above.
double edge(const LogAngleDensity& density, double inside, double outside, double level) {
  if (density(outside) >= level) return outside;
  for (int step = 0; step < 12; ++step) {
    const double middle = 0.5 * (inside + outside);
    (density(middle) >= level ? inside : outside) = middle;
  }
  return outside;
}

}  // namespace

double log_radial_integral(int dimension, double drift, const QuadratureRule& rule) {
  const double power = dimension - 1.0;
  const double root = std::sqrt(drift * drift + 4.0 * power);
  const double position = drift >= 0.0 ? 0.5 * (drift + root) : 2.0 * power / (root - drift);
  const RadialPeak peak{power, position};
  const QuadratureRule local = around(peak, rule);
  double sum = 0.0;
  for (std::size_t i = 0; i < local.nodes.size(); ++i)
    sum += local.weights[i] * std::exp(-peak.fall(local.nodes[i]));
  return power * std::log(position) + position * (drift - 0.5 * position) + std::log(sum);
}

QuadratureRule token_angle_law(int dimension, double correlation, int nodes, double depth) {
  DEWPOINT_EXPECTS(dimension >= 2);
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation < 1.0);
  const LogAngleDensity density{dimension, std::sqrt(correlation * dimension / (1.0 - correlation)),
                                gauss_legendre(kRadialNodes)};
  const double typical = std::atan2(std::sqrt(1.0 - correlation), std::sqrt(correlation));
  const double reference = density(typical);
  const double lower = edge(density, typical, 0.0, reference - depth);
  const double upper = edge(density, typical, std::numbers::pi, reference - depth);

  QuadratureRule law = on_interval(gauss_legendre(nodes), lower, upper);
  for (std::size_t i = 0; i < law.nodes.size(); ++i)
    law.weights[i] *= std::exp(density(law.nodes[i]) - reference);
  const double total = std::accumulate(law.weights.begin(), law.weights.end(), 0.0);
  for (double& weight : law.weights) weight /= total;
  return law;
}

}  // namespace dewpoint::theory
