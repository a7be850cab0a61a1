#include "dewpoint/scores/sphere_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

// Where the uniform numbers of sample() begin: far beyond the blocks of its normal ones.
constexpr std::uint64_t kFirstUniform = std::uint64_t{1} << 62;

int checked_dimension(int dimension) {
  if (dimension < 2 || dimension > SphereGap::kMostDimension) {
    throw Error(Code::bad_value,
                fmt::format("d: {} is not in [2, {}]", dimension, SphereGap::kMostDimension));
  }
  return dimension;
}

/// −2 log of a product of `count` uniform numbers: the sum of 2·count squared normal ones. A
/// uniform number is at least 2⁻⁵³, so sixteen may be multiplied before a logarithm is due.
double sum_of_squares(const Stream& stream, std::uint64_t first, std::uint64_t count) {
  double sum = 0.0, product = 1.0;
  for (std::uint64_t i = 0; i < count; ++i) {
    product *= stream.uniform(first + i);
    if (i % 16 == 15 || i + 1 == count) {
      sum -= 2.0 * std::log(product);
      product = 1.0;
    }
  }
  return sum;
}

/// 1 − z/√(z² + R).
double gap_of(double along, double across) {
  const double length = std::sqrt(along * along + across);
  return along > 0.0 ? across / (length * (length + along)) : (length - along) / length;
}

/// The integrand of rest() and its logarithm up to the normalisation.
struct TiltedAngle {
  double power;  // d − 2
  double tilt;   // λ
  double first;  // ϑ_c

  [[nodiscard]] double excess(double y) const {
    return 2.0 * std::sin(0.5 * y) * std::sin(first + 0.5 * y);
  }
  [[nodiscard]] double log(double y) const { return log(y, excess(y)); }
  [[nodiscard]] double log(double y, double x) const {
    const double surface = power == 0.0 ? 0.0 : power * std::log(std::sin(first + y));
    return surface - tilt * x;
  }
  [[nodiscard]] double room() const { return std::numbers::pi - first; }

  /// Where log() is largest: d/dx of λx − b log t(2 − t), b = (d − 2)/2, is a quadratic in the gap
  /// t, with the root 2b/(λ + b + √(λ² + b²)).
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
                      (slope + std::sqrt(slope * slope + 2.0 * kSphereRestDrop * curvature));
    while (distance < most && log(at + direction * distance) > highest - kSphereRestDrop) {
      distance *= 2.0;
    }
    return std::min(distance, most);
  }
};

struct TiltedSums {
  double mass = 0.0, first = 0.0, second = 0.0;  // of 1, x/x_m and its square

  void add(double weight, double relative) {
    mass += weight;
    first += weight * relative;
    second += weight * relative * relative;
  }
};

/// The three integrals over [lower, upper], relative to the integrand at the peak and to x at the
/// upper end.
TiltedSums integrate(const TiltedAngle& integrand, double lower, double upper, double top) {
  using Rule = boost::math::quadrature::gauss<double, 20>;
  constexpr int panels = 4;
  const double half = 0.5 * (upper - lower) / panels, unit = integrand.excess(upper);
  TiltedSums sums;
  for (int panel = 0; panel < panels; ++panel) {
    const double middle = lower + (2 * panel + 1) * half;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
      for (const double sign : {-1.0, 1.0}) {
        const double y = middle + sign * half * Rule::abscissa()[k], x = integrand.excess(y);
        sums.add(half * Rule::weights()[k] * std::exp(integrand.log(y, x) - top), x / unit);
      }
    }
  }
  return sums;
}

}  // namespace

SphereLaw::SphereLaw(int dimension)
    : SphereLaw(std::make_shared<SphereGap>(checked_dimension(dimension))) {}

SphereLaw::SphereLaw(std::shared_ptr<const SphereGap> gap)
    : TailLaw(gap),
      gap_(std::move(gap)),
      log_normalisation_(0.5 * std::log(std::numbers::pi) +
                         std::log(boost::math::tgamma_delta_ratio(gap_->exponent(), 0.5))) {}

std::string SphereLaw::name() const { return fmt::format("sphere:d={}", gap_->dimension()); }

std::vector<double> SphereLaw::sample(std::size_t count, const Stream& stream) const {
  const auto others = static_cast<std::uint64_t>(gap_->dimension() - 1), pairs = others / 2;
  std::vector<double> depths(count);
  for (std::uint64_t j = 0; j < count; ++j) {
    std::array<double, 2> normals{};
    stream.normals(2 * j, normals);
    const double odd = others % 2 == 1 ? normals[1] * normals[1] : 0.0;
    depths[j] = gap_of(normals[0], odd + sum_of_squares(stream, kFirstUniform + j * pairs, pairs));
  }
  return depths;
}

TiltedDepth SphereLaw::rest(double cut, double tilt) const {
  DEWPOINT_EXPECTS(0.0 <= cut && cut < 2.0 && tilt >= 0.0);
  const TiltedAngle integrand{gap_->dimension() - 2.0, tilt, 2.0 * std::asin(std::sqrt(0.5 * cut))};
  const double peak = integrand.peak(), top = integrand.log(peak);
  const double lower = peak - integrand.reach(peak, -1.0, peak);
  const double upper = peak + integrand.reach(peak, 1.0, integrand.room() - peak);
  const TiltedSums sums = integrate(integrand, lower, upper, top);
  const double unit = integrand.excess(upper);
  return {top + std::log(sums.mass) - log_normalisation_ - gap_->log_survival(cut),
          unit * (sums.first / sums.mass), unit * std::sqrt(sums.second / sums.mass)};
}

double SphereLaw::most_log_scores() const {
  constexpr double least_log_double = -744.0, least_log_exponential = -37.0;
  return least_log_exponential - gap_->exponent() * least_log_double -
         std::log(gap_->local_constant());
}

}  // namespace dewpoint::scores
