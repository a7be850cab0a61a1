#include "dewpoint/core/distributions/sphere_mixture_gap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- angles ---------------------------------------------------------------------------------

double angle_of(double gap) {
  return gap <= 1.0 ? 2.0 * std::asin(std::sqrt(0.5 * gap))
                    : kPi - 2.0 * std::asin(std::sqrt(0.5 * (2.0 - gap)));
}

double gap_of(double angle) {
  const double sine = std::sin(0.5 * angle);
  return 2.0 * sine * sine;
}

std::vector<SphereComponent> seen_from_the_opposite_pole(std::vector<SphereComponent> components) {
  for (SphereComponent& component : components) component.angle = kPi - component.angle;
  return components;
}

// ---- Chebyshev polynomials on one panel -----------------------------------------------------

template <std::size_t kCount>
struct Chebyshev {
  using Values = std::array<double, kCount>;
  static constexpr double kDegree = kCount - 1;

  Values nodes;                          // on [0, 1], increasing, both ends included
  std::array<Values, kCount> slope;      // derivatives at the nodes from values at the nodes
  std::array<Values, kCount> transform;  // coefficients from values

  Chebyshev() {
    const auto end = [](std::size_t j) { return j == 0 || j + 1 == kCount ? 2.0 : 1.0; };
    for (std::size_t j = 0; j < kCount; ++j) {
      const double sine = std::sin(0.5 * kPi * static_cast<double>(j) / kDegree);
      nodes[j] = sine * sine;
      for (std::size_t k = 0; k < kCount; ++k) {
        const double angle = kPi * static_cast<double>(j * k % (2 * (kCount - 1))) / kDegree;
        const double sign = j % 2 == 0 ? 1.0 : -1.0;  // the nodes increase
        transform[j][k] = 2.0 * sign * std::cos(angle) / (kDegree * end(j) * end(k));
      }
    }
    for (std::size_t j = 0; j < kCount; ++j) {
      slope[j].fill(0.0);
      for (std::size_t k = 0; k < kCount; ++k) {
        if (k == j) continue;
        const double sign = (j + k) % 2 == 0 ? 1.0 : -1.0;
        slope[j][k] = sign * end(j) / (end(k) * (nodes[j] - nodes[k]));
        slope[j][j] -= slope[j][k];  // a constant has no slope
      }
    }
  }

  [[nodiscard]] Values coefficients(const Values& values) const {
    Values result{};
    for (std::size_t j = 0; j < kCount; ++j)
      for (std::size_t k = 0; k < kCount; ++k) result[j] += transform[j][k] * values[k];
    return result;
  }

  /// Clenshaw's sum at a place in [0, 1].
  [[nodiscard]] static double at(const Values& coefficients, double place) {
    const double x = 2.0 * place - 1.0;
    double next = 0.0, after = 0.0;
    for (std::size_t j = kCount - 1; j > 0; --j) {
      after = std::exchange(next, coefficients[j] + 2.0 * x * next - after);
    }
    return coefficients[0] + x * next - after;
  }

  /// Whether the last coefficients have fallen to `rounding`.
  [[nodiscard]] static bool resolved(const Values& coefficients, double rounding) {
    return std::abs(coefficients[kCount - 1]) + std::abs(coefficients[kCount - 2]) <= rounding;
  }
};

/// Solves matrix · x = right by elimination with pivots; x replaces right.
template <std::size_t kCount>
void solve(std::array<std::array<double, kCount>, kCount>& matrix,
           std::array<double, kCount>& right) {
  for (std::size_t k = 0; k < kCount; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < kCount; ++i)
      if (std::abs(matrix[i][k]) > std::abs(matrix[pivot][k])) pivot = i;
    std::swap(matrix[k], matrix[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = k + 1; i < kCount; ++i) {
      const double factor = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k + 1; j < kCount; ++j) matrix[i][j] -= factor * matrix[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (std::size_t k = kCount; k-- > 0;) {
    for (std::size_t j = k + 1; j < kCount; ++j) right[k] -= matrix[k][j] * right[j];
    right[k] /= matrix[k][k];
  }
}

template <std::size_t kCount>
double largest_size(const std::array<double, kCount>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// A bound on the polynomial with these coefficients.
template <std::size_t kCount>
double largest_value(const std::array<double, kCount>& coefficients) {
  double bound = coefficients[0];
  for (std::size_t j = 1; j < kCount; ++j) bound += std::abs(coefficients[j]);
  return bound;
}

// ---- the equation of R on one panel ---------------------------------------------------------

/// c ρ' + 1 = e^{λ − ρ} with ρ = log R, λ = log h and c = F_d/F_d'. Every equation is divided by
/// max(1, c), because c grows beyond any double towards the far pole.
template <std::size_t kCount>
struct CapEquation {
  using Values = std::array<double, kCount>;
  double width;
  Values enrichment{}, log_c{};  // λ and log c at the nodes

  CapEquation(const Chebyshev<kCount>& basis, const SphereGap& sphere,
              const SphereEnrichment& density, double begin, double end)
      : width(end - begin) {
    for (std::size_t j = 0; j < kCount; ++j) {
      const double angle = begin + width * basis.nodes[j], gap = gap_of(angle);
      enrichment[j] = density.log(angle);
      log_c[j] = angle == 0.0 ? -kInfinity
                              : sphere.log_cdf(gap) - sphere.log_density(gap) -
                                    std::log(std::max(1e-300, std::sin(angle)));
    }
  }

  /// Backward Euler from node to node: positive, and near enough for Newton's method.
  [[nodiscard]] Values first_guess(const Chebyshev<kCount>& basis, double start) const {
    Values mean{};
    mean[0] = start;
    for (std::size_t j = 1; j < kCount; ++j) {
      const double weight = log_c[j] - std::log(width * (basis.nodes[j] - basis.nodes[j - 1]));
      const double larger = std::max(weight, 0.0);
      const double old = weight + mean[j - 1], top = std::max(old, enrichment[j]);
      mean[j] = top + std::log(std::exp(old - top) + std::exp(enrichment[j] - top)) - larger -
                std::log(std::exp(weight - larger) + std::exp(-larger));
    }
    return mean;
  }

  /// ρ at the nodes given its first value, or nothing when Newton's method does not settle.
  [[nodiscard]] std::optional<Values> solution(const Chebyshev<kCount>& basis, double start) const {
    Values mean = first_guess(basis, start);
    for (int iteration = 0; iteration < 12; ++iteration) {
      std::array<Values, kCount> matrix{};
      Values change{};
      matrix[0][0] = 1.0;
      for (std::size_t j = 1; j < kCount; ++j) {
        const double log_scale = std::max(0.0, log_c[j]);
        const double drift = std::exp(log_c[j] - log_scale) / width;
        const double source = std::exp(enrichment[j] - mean[j] - log_scale);
        double slope = 0.0;
        for (std::size_t k = 0; k < kCount; ++k) {
          slope += basis.slope[j][k] * (mean[k] - mean[j]);
          matrix[j][k] = drift * basis.slope[j][k];
        }
        matrix[j][j] += source;
        change[j] = source - std::exp(-log_scale) - drift * slope;
      }
      solve(matrix, change);
      double largest = 0.0;
      for (std::size_t j = 0; j < kCount; ++j) {
        mean[j] += change[j];
        largest = std::max(largest, std::abs(change[j]));
      }
      if (!std::isfinite(largest)) return std::nullopt;
      if (largest < 1e-8 + 1e3 * kEpsilon * largest_size(mean)) return mean;
    }
    return std::nullopt;
  }
};

}  // namespace

// The narrowest panel is taken as it is. A polynomial is at most the sum of the sizes of its
// coefficients, which bounds log R.
SphereMixtureGap::Caps::Caps(const SphereGap& sphere,
                             const std::vector<SphereComponent>& components) {
  static const Chebyshev<kNodes> basis;
  constexpr double widest = 0.25, narrowest = 1e-6;
  const SphereEnrichment enrichment(sphere.dimension(), components);
  double begin = 0.0, width = widest, start = enrichment.log(0.0);
  for (double log_probability = -kInfinity; log_probability < std::log(0.75) && begin < kPi;) {
    const double end = begin + width < kPi - narrowest ? begin + width : kPi;
    const CapEquation<kNodes> equation(basis, sphere, enrichment, begin, end);
    const auto solution = equation.solution(basis, start);
    const Coefficients mean = solution.value_or(equation.first_guess(basis, start));
    const Panel panel{begin, end, basis.coefficients(equation.enrichment),
                      basis.coefficients(mean)};
    const double rounding =
        4.0 * enrichment.rounding() + 16.0 * kEpsilon * (1.0 + largest_size(equation.enrichment));
    const bool good = solution && basis.resolved(panel.enrichment, rounding) &&
                      basis.resolved(panel.mean, rounding + 16.0 * kEpsilon * largest_size(mean));
    if (!good && width > narrowest) {
      width *= 0.5;
      continue;
    }
    panels_.push_back(panel);
    highest_log_mean_ = std::max(highest_log_mean_, largest_value(panel.mean));
    start = mean.back();
    log_probability = sphere.log_cdf(gap_of(end)) + start;
    begin = end;
    width = std::min(widest, 2.0 * width);
  }
}

const SphereMixtureGap::Panel& SphereMixtureGap::Caps::panel_at(double angle) const {
  const auto panel = std::lower_bound(panels_.begin(), panels_.end() - 1, angle,
                                      [](const Panel& p, double a) { return p.end < a; });
  return *panel;
}

double SphereMixtureGap::Caps::log_enrichment(double angle) const {
  const Panel& panel = panel_at(angle);
  return Chebyshev<kNodes>::at(panel.enrichment, (angle - panel.begin) / (panel.end - panel.begin));
}

double SphereMixtureGap::Caps::log_mean(double angle) const {
  const Panel& panel = panel_at(angle);
  return Chebyshev<kNodes>::at(panel.mean, (angle - panel.begin) / (panel.end - panel.begin));
}

SphereMixtureGap::SphereMixtureGap(int dimension, const std::vector<SphereComponent>& components)
    : sphere_(std::make_shared<SphereGap>(dimension)),
      near_(*sphere_, components),
      far_(*sphere_, seen_from_the_opposite_pole(components)) {
  DEWPOINT_EXPECTS(!components.empty());
  for (const Panel& panel : near_.panels()) piece_ends_.push_back(panel.end);
  for (std::size_t i = far_.panels().size(); i-- > 0;) {
    const double end = kPi - far_.panels()[i].begin;
    if (end > near_.reach()) piece_ends_.push_back(end);
  }
}

double SphereMixtureGap::log_enrichment(double angle) const {
  DEWPOINT_EXPECTS(0.0 <= angle && angle <= kPi);
  return angle <= near_.reach() ? near_.log_enrichment(angle) : far_.log_enrichment(kPi - angle);
}

double SphereMixtureGap::log_cap(const Caps& caps, double gap) const {
  return sphere_->log_cdf(gap) + caps.log_mean(angle_of(gap));
}

// Each pole answers for its own half of the probability.
double SphereMixtureGap::log_cdf(double gap) const {
  DEWPOINT_EXPECTS(0.0 <= gap && gap <= 2.0);
  if (angle_of(gap) <= near_.reach()) {
    const double log_near = log_cap(near_, gap);
    if (log_near <= -std::numbers::ln2) return log_near;
  }
  return std::log1p(-std::exp(log_cap(far_, 2.0 - gap)));
}

double SphereMixtureGap::log_survival(double gap) const {
  DEWPOINT_EXPECTS(0.0 <= gap && gap <= 2.0);
  if (angle_of(2.0 - gap) <= far_.reach()) {
    const double log_far = log_cap(far_, 2.0 - gap);
    if (log_far <= -std::numbers::ln2) return log_far;
  }
  return std::log1p(-std::exp(log_cap(near_, gap)));
}

double SphereMixtureGap::log_density(double gap) const {
  return sphere_->log_density(gap) + log_enrichment(angle_of(gap));
}

// Below a gap of e^{−64} the mean is that at the pole: its first correction is κ² gap. A step of
// Newton's method is taken if it stays between the bounds and is less than half the one before it;
// otherwise they are halved.
double SphereMixtureGap::log_cap_quantile(const Caps& caps, double log_probability) const {
  const auto bound = [&](double log_mean) {
    return sphere_->log_quantile(std::min(0.0, log_probability - log_mean));
  };
  if (const double at_pole = bound(caps.log_mean(0.0)); at_pole < -64.0) return at_pole;
  double lower = bound(caps.highest_log_mean()), upper = std::log(gap_of(caps.reach()));
  double log_gap = lower, change = kInfinity;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double gap = std::exp(log_gap), log_cdf = log_cap(caps, gap);
    const double slope = std::exp(log_gap + sphere_->log_density(gap) +
                                  caps.log_enrichment(angle_of(gap)) - log_cdf);
    (log_cdf < log_probability ? lower : upper) = log_gap;
    const double step = (log_probability - log_cdf) / slope, next = log_gap + step;
    const bool good = lower <= next && next <= upper && std::abs(step) < 0.5 * std::abs(change);
    change = good ? step : 0.5 * (lower + upper) - log_gap;
    log_gap += change;
    if (std::abs(change) <= 1e-12 || upper - lower <= 1e-15) break;
  }
  return log_gap;
}

double SphereMixtureGap::quantile(double log_probability) const {
  DEWPOINT_EXPECTS(-1e8 <= log_probability && log_probability <= 0.0);
  if (log_probability <= -std::numbers::ln2) {
    return std::exp(log_cap_quantile(near_, log_probability));
  }
  const double log_complement = std::log(-std::expm1(log_probability));
  return std::isinf(log_complement) ? 2.0 : 2.0 - std::exp(log_cap_quantile(far_, log_complement));
}

}  // namespace dewpoint
