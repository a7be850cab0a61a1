#include "dewpoint/theory/critical_line.hpp"

#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"
#include "dewpoint/theory/sphere_average.hpp"
#include "dewpoint/theory/token_angle.hpp"

namespace dewpoint::theory {

namespace {

/// The zero of a decreasing function between two points of opposite sign, to a relative width of
/// 2^-bits [Alefeld, Potra, Shi 1995].
template <typename Function>
double zero_between(const Function& function, double lower, double upper, int bits) {
  const double at_lower = function(lower), at_upper = function(upper);
  if (at_lower <= 0.0) return lower;
  if (at_upper >= 0.0) return upper;
  std::uintmax_t evaluations = 100;
  const auto [left, right] = boost::math::tools::toms748_solve(
      function, lower, upper, at_lower, at_upper, boost::math::tools::eps_tolerance<double>(bits),
      evaluations);
  return 0.5 * (left + right);
}

/// The annealed log odds as a function of β, with all that does not depend on β prepared.
class AnnealedLogOdds {
 public:
  AnnealedLogOdds(double log_n, int dimension, double correlation, int nodes)
      : log_others_(log_subtract(log_n, 0.0)),
        law_(token_angle_law(dimension, correlation, nodes, kTruncationDepth + log_n)),
        average_(dimension - 1) {
    for (const double angle : law_.nodes) sines_.push_back(std::sin(angle));
  }

  /// E_i log((n − 1) E_j e^{−β(1 − G_ij)}).
  [[nodiscard]] double operator()(double inverse_temperature) const {
    const std::vector<double> kernel = log_kernel(inverse_temperature);
    double sum = 0.0;
    for (std::size_t i = 0; i < size(); ++i)
      sum += law_.weights[i] * log_mean(std::span(kernel).subspan(i * size(), size()));
    return log_others_ + sum;
  }

 private:
  /// The kernel is at most 1 and at the root averages 1/(n − 1): what the law leaves out,
  /// e^{−depth}, is then e^{−35} of the mean.
  static constexpr double kTruncationDepth = 35.0;

  [[nodiscard]] std::size_t size() const { return sines_.size(); }

  /// The matrix of −β(1 − cos θ_i cos θ_j) + log Λ(k) = −β(1 − cos(θ_i − θ_j)) + log(e^{−k} Λ(k)),
  /// k = β sin θ_i sin θ_j.
  [[nodiscard]] std::vector<double> log_kernel(double inverse_temperature) const {
    std::vector<double> kernel(size() * size());
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const double half = std::sin(0.5 * (law_.nodes[i] - law_.nodes[j]));
        kernel[i * size() + j] = kernel[j * size() + i] =
            average_.log(inverse_temperature * sines_[i] * sines_[j]) -
            2.0 * inverse_temperature * half * half;
      }
    return kernel;
  }

  /// log Σ_j weight_j e^{row_j}; rows of untypical tokens may lie wholly below the range of e^x.
  [[nodiscard]] double log_mean(std::span<const double> row) const {
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0.0;
    for (std::size_t j = 0; j < row.size(); ++j)
      sum += law_.weights[j] * std::exp(row[j] - largest);
    return largest + std::log(sum);
  }

  double log_others_;
  QuadratureRule law_;
  SphereAverage average_;
  std::vector<double> sines_;
};

/// Larger tilts need more nodes; most roots are found with few.
constexpr std::array kTilts = {1.0, 4.0, 16.0, 64.0, kAnnealedLargestTilt};

/// Nodes per standard deviation of the integrand. A Gaussian asks for one and a half where the
/// nodes are sparsest; low dimensions have wider laws but are as accurate. Against half as many
/// nodes again, over n = 3..1e9, d = 2..4096, ρ = 0..0.99, the scale moves by 1e-12 with this
/// value, 5e-8 with 0.7 of it and 2e-4 with half of it (2026-11-15).
constexpr double kEmpiricalNodesPerDeviation = 1.57;

/// Nodes that resolve the kernel up to a tilt β(1−ρ)/d. The law of the angle is kept over about
/// 2√(2(35 + log n)) standard deviations, and the integrand is narrower by at most √(1 + tilt).
int nodes_for(double tilt, double log_n, const AnnealedQuadrature& quadrature) {
  const double deviations = 2.0 * std::sqrt(2.0 * (35.0 + log_n) * (1.0 + tilt));
  return static_cast<int>(
      std::ceil(quadrature.refinement * kEmpiricalNodesPerDeviation * deviations));
}

}  // namespace

double critical_gamma(double correlation) {
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation < 1.0);
  return 1.0 / (1.0 - correlation);
}

std::optional<double> gaussian_critical_scale(double log_n, int dimension, double correlation) {
  DEWPOINT_EXPECTS(log_n > 0.0 && dimension >= 1);
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation < 1.0);
  const double variance = (1.0 + correlation - 0.5 * correlation * correlation) / dimension;
  const double discriminant = 1.0 - 2.0 * variance * log_n;
  if (discriminant <= 0.0) return std::nullopt;
  return 2.0 / (1.0 + std::sqrt(discriminant));
}

std::optional<double> annealed_critical_scale(double log_n, int dimension, double correlation,
                                              const AnnealedQuadrature& quadrature) {
  DEWPOINT_EXPECTS(1.098 <= log_n && dimension >= 2);
  DEWPOINT_EXPECTS(0.0 <= correlation && correlation <= 0.99);
  const double unit = dimension / (1.0 - correlation);
  double lower = 0.0;
  for (const double tilt : kTilts) {
    const AnnealedLogOdds log_odds(log_n, dimension, correlation,
                                   nodes_for(tilt, log_n, quadrature));
    const double upper = tilt * unit;
    if (log_odds(upper) <= 0.0)
      return zero_between(log_odds, lower, upper, 40) * (1.0 - correlation) / log_n;
    lower = upper;
  }
  return std::nullopt;
}

double sphere_critical_inverse_temperature(double log_n, int dimension) {
  DEWPOINT_EXPECTS(dimension >= 2);
  DEWPOINT_EXPECTS(1.098 <= log_n && log_n <= 170.0 * (dimension - 1));
  const SphereAverage average(dimension);
  const double log_others = log_subtract(log_n, 0.0);
  const auto log_odds = [&](double log_beta) {
    return log_others + average.log(std::exp(log_beta));
  };
  const double lower = std::log(log_others);
  double upper = lower + 1.0;
  while (log_odds(upper) > 0.0) upper += 2.0;
  return std::exp(zero_between(log_odds, lower, upper, 50));
}

double sphere_critical_power_law(double log_n, int dimension) {
  DEWPOINT_EXPECTS(log_n > 0.0 && dimension >= 2);
  const double log_constant = std::lgamma(0.5 * dimension) +
                              0.5 * (dimension - 3) * std::numbers::ln2 -
                              0.5 * std::log(std::numbers::pi);
  return std::exp(2.0 / (dimension - 1) * (log_n + log_constant));
}

}  // namespace dewpoint::theory
