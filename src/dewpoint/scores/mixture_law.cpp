#include "dewpoint/scores/mixture_law.hpp"

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::scores {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The integrand of rest() up to its normalisation.
struct TiltedAngle {
  const SphereMixtureGap& gap;
  double tilt;   // λ
  double first;  // ϑ_c

  [[nodiscard]] double excess(double y) const {
    return 2.0 * std::sin(0.5 * y) * std::sin(first + 0.5 * y);
  }
  /// The two factors of the integrand, (d − 2) log sin ϑ and log h − λx.
  [[nodiscard]] double log_surface(double y) const {
    const double power = gap.dimension() - 2.0;
    return power == 0.0 ? 0.0 : power * std::log(std::sin(std::min(first + y, std::numbers::pi)));
  }
  [[nodiscard]] double log_weight(double y, double x) const {
    return gap.log_enrichment(std::min(first + y, std::numbers::pi)) - tilt * x;
  }

  /// sin^{d−2} is left to the quadrature as it is, a power that twenty nodes integrate.
  [[nodiscard]] bool has_plain_surface() const { return gap.dimension() <= 10; }
};

/// The logarithm over a stretch of y, from five places inside it: its largest value, the range of
/// what is not integrated as it is, and whether that is monotone.
struct Variation {
  double most = -kInfinity, range = 0.0;
  bool monotone = false;

  Variation(const TiltedAngle& integrand, double begin, double end) {
    std::array<double, 5> counted{0.01, 0.25, 0.5, 0.75, 0.99};
    for (double& place : counted) {
      const double y = begin + place * (end - begin);
      const double weight = integrand.log_weight(y, integrand.excess(y));
      const double value = integrand.log_surface(y) + weight;
      most = std::max(most, value);
      place = integrand.has_plain_surface() ? weight : value;
    }
    const auto [least, largest] = std::minmax_element(counted.begin(), counted.end());
    range = *largest - *least;
    monotone = std::is_sorted(counted.begin(), counted.end()) ||
               std::is_sorted(counted.rbegin(), counted.rend());
  }

  /// What it does not exceed between the places either.
  [[nodiscard]] double bound() const { return most + (monotone ? 0.1 : 1.0) * range; }

  /// Twenty nodes integrate e^{−az²} over [−1, 1] to 1e-14 for a ≤ 6. A maximum inside shows the
  /// whole of a as its range; one at an end or beyond shows 4a.
  [[nodiscard]] bool smooth() const { return range <= (monotone ? 2.0 : 1.0) * kMixtureRestRange; }
};

struct Stretch {
  double begin, end;
};

/// Stretches on which the integrand is smooth and worth integrating, and its maximum over what was
/// looked at.
struct Panels {
  std::vector<Stretch> stretches;
  double top = -kInfinity;

  explicit Panels(const TiltedAngle& integrand) {
    std::vector<Stretch> open;  // the nearest last, so that the top is found early
    double begin = 0.0;
    for (const double end : integrand.gap.piece_ends()) {
      if (end <= integrand.first) continue;
      open.push_back({begin, end - integrand.first});
      begin = open.back().end;
    }
    std::reverse(open.begin(), open.end());
    while (!open.empty()) {
      const auto [from, to] = open.back();
      open.pop_back();
      const Variation variation(integrand, from, to);
      top = std::max(top, variation.most);
      if (variation.bound() < top - kMixtureRestDrop) continue;
      const double middle = 0.5 * (from + to);
      if (variation.smooth() || middle <= from || middle >= to) {
        stretches.push_back({from, to});
      } else {
        open.push_back({middle, to});
        open.push_back({from, middle});
      }
    }
  }
};

struct TiltedSums {
  double mass = 0.0, first = 0.0, second = 0.0;  // of 1, x/unit and its square

  void add(const TiltedAngle& integrand, const Stretch& stretch, double top, double unit) {
    using Rule = boost::math::quadrature::gauss<double, 20>;
    const double half = 0.5 * (stretch.end - stretch.begin), middle = stretch.begin + half;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
      for (const double sign : {-1.0, 1.0}) {
        const double y = middle + sign * half * Rule::abscissa()[k], x = integrand.excess(y);
        const double log_value = integrand.log_surface(y) + integrand.log_weight(y, x);
        const double weight = half * Rule::weights()[k] * std::exp(log_value - top);
        mass += weight;
        first += weight * (x / unit);
        second += weight * (x / unit) * (x / unit);
      }
    }
  }
};

/// |q − k|²/2 of a unit vector k.
double gap_of(std::span<const double> key) {
  const std::span<const double> others = key.subspan(1);
  const double across = inner(others, others), along = key[0];
  const double length = std::sqrt(along * along + across);
  return along > 0.0 ? across / (length * (length + along)) : (length - along) / length;
}

}  // namespace

MixtureLaw::MixtureLaw(int dimension, const std::vector<SphereComponent>& components)
    : MixtureLaw(VonMisesFisherKeys(dimension, components)) {}

MixtureLaw::MixtureLaw(const VonMisesFisherKeys& keys)
    : MixtureLaw(keys, std::make_shared<SphereMixtureGap>(static_cast<int>(keys.dimension()),
                                                          keys.components())) {}

MixtureLaw::MixtureLaw(const VonMisesFisherKeys& keys, std::shared_ptr<const SphereMixtureGap> gap)
    : TailLaw(gap), keys_(keys), gap_(std::move(gap)) {}

std::vector<double> MixtureLaw::sample(std::size_t count, const Stream& stream) const {
  constexpr std::size_t most_rows = 256;
  std::vector<double> depths(count);
  Matrix<double> block(std::min(count, most_rows), keys_.dimension());
  for (std::size_t begin = 0; begin < count; begin += most_rows) {
    const std::size_t rows = std::min(most_rows, count - begin);
    keys_.draw(begin, block.view().row_range({0, rows}), stream);
    for (std::size_t i = 0; i < rows; ++i) depths[begin + i] = gap_of(block.row(i));
  }
  return depths;
}

TiltedDepth MixtureLaw::rest(double cut, double tilt) const {
  DEWPOINT_EXPECTS(0.0 <= cut && cut < 2.0 && tilt >= 0.0);
  const TiltedAngle integrand{*gap_, tilt, 2.0 * std::asin(std::sqrt(0.5 * cut))};
  const Panels panels(integrand);
  const double unit = integrand.excess(panels.stretches.back().end);
  TiltedSums sums;
  for (const Stretch& stretch : panels.stretches) sums.add(integrand, stretch, panels.top, unit);
  const double exponent = 0.5 * (gap_->dimension() - 1.0);
  const double log_beta =
      0.5 * std::log(std::numbers::pi) + std::log(boost::math::tgamma_delta_ratio(exponent, 0.5));
  return {panels.top + std::log(sums.mass) - log_beta - gap_->log_survival(cut),
          unit * (sums.first / sums.mass), unit * std::sqrt(sums.second / sums.mass)};
}

double MixtureLaw::most_log_scores() const {
  constexpr double least_log_double = -744.0, least_log_exponential = -37.0;
  const SphereGap sphere(gap_->dimension());
  return least_log_exponential - sphere.exponent() * least_log_double -
         std::log(sphere.local_constant()) - gap_->log_enrichment(0.0);
}

}  // namespace dewpoint::scores
