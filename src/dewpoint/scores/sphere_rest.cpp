#include "dewpoint/scores/sphere_rest.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

/// The integrand for g = 1 and its logarithm up to the normalisation.
struct TiltedAngle {
  double power;  // d − 2
  double tilt;   // λ
  double first;  // ϑ_c

  [[nodiscard]] double excess(double y) const {
    return 2.0 * std::sin(0.5 * y) * std::sin(first + 0.5 * y);
  }
  [[nodiscard]] double log(double x, double sine) const {
    return (power == 0.0 ? 0.0 : power * std::log(sine)) - tilt * x;
  }
  [[nodiscard]] double log(double y) const { return log(excess(y), std::sin(first + y)); }
  [[nodiscard]] double room() const { return std::numbers::pi - first; }

  /// Where log() is largest: d/dx of λx − b log T(2 − T), b = (d − 2)/2, is a quadratic in the gap
  /// T, with the root 2b/(λ + b + √(λ² + b²)).
  [[nodiscard]] double peak() const {
    const double b = 0.5 * power;
    if (b == 0.0) return 0.0;
    const double gap = 2.0 * b / (tilt + b + std::hypot(tilt, b));
    return std::max(0.0, 2.0 * std::asin(std::sqrt(0.5 * gap)) - first);
  }

  /// A distance from the peak at which log() has fallen by the drop: from its two first
  /// derivatives, doubled until it is true, at most `most`.
  [[nodiscard]] double reach(double at, double direction, double most) const {
    const double sine = std::sin(first + at), cosine = std::cos(first + at), highest = log(at);
    const double surface = power == 0.0 ? 0.0 : power / sine;  // at d = 2 the sine may be zero
    const double slope = std::abs(surface * cosine - tilt * sine);
    const double curvature = (power == 0.0 ? 0.0 : surface / sine) + tilt * std::abs(cosine);
    double distance = 2.0 * kSphereRestDrop /
                      (slope + std::hypot(slope, std::sqrt(2.0 * kSphereRestDrop * curvature)));
    while (distance < most && log(at + direction * distance) > highest - kSphereRestDrop) {
      distance *= 2.0;
    }
    return std::min(distance, most);
  }
};

/// Sums over nodes of 1, x, x², v, xv, v², with x and v in units that keep them near 1.
struct TiltedSums {
  double mass = 0.0, x = 0.0, xx = 0.0, v = 0.0, xv = 0.0, vv = 0.0;

  void add(double weight, double excess, double square) {
    mass += weight;
    x += weight * excess;
    xx += weight * excess * excess;
    v += weight * square;
    xv += weight * excess * square;
    vv += weight * square * square;
  }
};

struct Stretch {
  double lower, upper;
  double top;     // the logarithm of the integrand at its peak
  double unit_x;  // units of x and v
  double unit_v;
};

Stretch stretch_of(const TiltedAngle& integrand) {
  const double peak = integrand.peak();
  const double lower = peak - integrand.reach(peak, -1.0, peak);
  const double upper = peak + integrand.reach(peak, 1.0, integrand.room() - peak);
  const double sine = std::sin(std::min(integrand.first + upper, 0.5 * std::numbers::pi));
  return {lower, upper, integrand.log(peak), integrand.excess(upper), sine * sine};
}

TiltedSums integrate(const TiltedAngle& integrand, const Stretch& stretch) {
  using Rule = boost::math::quadrature::gauss<double, 20>;
  constexpr int panels = 4;
  const double half = 0.5 * (stretch.upper - stretch.lower) / panels;
  const double sine_unit = std::sqrt(stretch.unit_v);
  TiltedSums sums;
  for (int panel = 0; panel < panels; ++panel) {
    const double middle = stretch.lower + (2 * panel + 1) * half;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
      for (const double sign : {-1.0, 1.0}) {
        const double y = middle + sign * half * Rule::abscissa()[k];
        const double x = integrand.excess(y), sine = std::sin(integrand.first + y);
        const double relative = sine / sine_unit;
        sums.add(half * Rule::weights()[k] * std::exp(integrand.log(x, sine) - stretch.top),
                 x / stretch.unit_x, relative * relative);
      }
    }
  }
  return sums;
}

}  // namespace

SphereRest::SphereRest(int dimension) : gap_(dimension) {}

SphereTilt SphereRest::moments(double cut, double tilt) const {
  DEWPOINT_EXPECTS(0.0 <= cut && cut < 2.0 && tilt >= 0.0);
  const TiltedAngle integrand{gap_.dimension() - 2.0, tilt, 2.0 * std::asin(std::sqrt(0.5 * cut))};
  const Stretch stretch = stretch_of(integrand);
  const TiltedSums sums = integrate(integrand, stretch);
  const double log_x = std::log(stretch.unit_x), log_v = std::log(stretch.unit_v);
  const double log_normalisation = -gap_.log_density(1.0);  // log B(a, 1/2), since v = 1 at T = 1
  return {stretch.top + std::log(sums.mass) - log_normalisation - gap_.log_survival(cut),
          log_x + std::log(sums.x / sums.mass),
          2.0 * log_x + std::log(sums.xx / sums.mass),
          log_v + std::log(sums.v / sums.mass),
          log_x + log_v + std::log(sums.xv / sums.mass),
          2.0 * log_v + std::log(sums.vv / sums.mass)};
}

}  // namespace dewpoint::scores
