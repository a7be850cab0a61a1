#include "dewpoint/theory/critical_sphere.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

// e^{−42} is 6e-19: what sums leave out on either side.
constexpr double kReach = 42.0;

// z e^{−z} at z = e^{4} is 1e-22.
constexpr double kEdge = 4.0;

void expect_domain(const CriticalSphere& law) {
  DEWPOINT_EXPECTS(kLeastExponent <= law.exponent && law.exponent <= kMostExponent);
  DEWPOINT_EXPECTS(kLeastTheta <= law.theta && law.theta <= kMostTheta);
  DEWPOINT_EXPECTS(law.step > 0.0);
}

double log_rate(const CriticalSphere& law) { return -law.exponent * std::log(law.theta); }  // log λ

/// The energies v = θΓ^{1/a} of the keys: a Poisson process of density λ a v^{a−1}, on nodes
///
///     v = log(1 + e^x),        x = step · integer,
///
/// that crowd towards the end at 0 and are evenly spaced beyond 1.
class Energies {
 public:
  Energies(const CriticalSphere& law, double largest)
      : step_(law.step),
        first_(std::floor(-kReach / (law.exponent * law.step))),
        size_(static_cast<std::size_t>(largest / law.step - first_) + 2) {
    const double log_factor = log_rate(law) + std::log(law.exponent * law.step);
    for (std::size_t i = 0; i < size_; ++i) {
      const double x = (first_ + static_cast<double>(i)) * step_;
      const double v = softplus(x);
      value_.push_back(v);
      log_weight_.push_back(log_factor + (law.exponent - 1.0) * std::log(v) - softplus(-x));
    }
  }

  /// Calls visit(v, z, density), where z = e^{y−v} and density = (node weight) λ a v^{a−1} z e^{−z},
  /// for every node that counts.
  template <class Visit>
  void around(double y, const Visit& visit) const {
    const double x = y > 2.0 * kEdge ? y - kEdge - 1.0 : first_ * step_;
    const auto begin = static_cast<std::size_t>(std::max(0.0, std::floor(x / step_) - first_));
    for (std::size_t i = begin; i < size_ && value_[i] < std::max(y, 0.0) + kReach + tail_; ++i) {
      const double z = std::exp(y - value_[i]);
      visit(value_[i], z, std::exp(log_weight_[i] + (y - value_[i]) - z));
    }
  }

  void set_tail(double tail) { tail_ = tail; }

 private:
  double step_;
  double first_;  // x/step of the first node
  std::size_t size_;
  double tail_ = 0.0;
  std::vector<double> value_;
  std::vector<double> log_weight_;
};

/// How far beyond y + kReach the factor v^a still lifts e^{−v}: v^a e^{−v} peaks at a.
double tail_of(const CriticalSphere& law) { return 4.0 * law.exponent; }

/// Where ∫ dy e^{−Ψ(y)} ... lives, on nodes y = κ sinh(x/κ) that grow with |y| once |y| > κ.
struct Outer {
  explicit Outer(const CriticalSphere& law) : step(law.step), scale(8.0 + 4.0 * law.exponent) {
    const double log_mean = log_rate(law) + std::lgamma(law.exponent + 1.0);  // log E Z
    const double largest =
        law.theta * std::pow(1.2 * kReach, 1.0 / law.exponent) + 0.25 * kReach;
    first = std::floor(scale * std::asinh((std::min(0.0, -log_mean) - kReach) / scale) / step);
    last = std::ceil(scale * std::asinh(largest / scale) / step);
  }

  /// Σ f(y) dy.
  double sum(const auto& integrand) const {
    double total = 0.0;
    for (double k = first; k <= last; ++k) {
      const double x = k * step / scale;
      total += std::cosh(x) * integrand(scale * std::sinh(x));
    }
    return step * total;
  }

  [[nodiscard]] double largest() const { return scale * std::sinh(last * step / scale); }

  double step, scale;
  double first, last;  // x/step
};

Energies energies_up_to(const CriticalSphere& law, double y) {
  Energies energies(law, std::max(y, 0.0) + kReach + tail_of(law));
  energies.set_tail(tail_of(law));
  return energies;
}

}  // namespace

double sphere_unit(double log_n, int dimension) {
  DEWPOINT_EXPECTS(log_n >= 0.0);
  const SphereGap gap(dimension);
  return std::exp((std::log(gap.local_constant()) + log_n) / gap.exponent());
}

double critical_sphere_laplace(const CriticalSphere& law, double y) {
  expect_domain(law);
  double sum = 0.0;
  energies_up_to(law, y).around(y, [&](double v, double, double density) { sum += v * density; });
  return sum / law.exponent;
}

double critical_sphere_average(const CriticalSphere& law, double power,
                               const std::function<double(double)>& function) {
  expect_domain(law);
  DEWPOINT_EXPECTS(0.5 <= power && power <= 64.0);
  const Outer outer(law);
  const Energies energies = energies_up_to(law, outer.largest());
  const double total = outer.sum([&](double y) {
    double laplace = 0.0, sum = 0.0;
    energies.around(y, [&](double v, double z, double density) {
      laplace += v * density;
      sum += density * std::pow(z, power - 1.0) * function(v / law.theta);
    });
    return std::exp(-laplace / law.exponent) * sum;
  });
  return total / std::tgamma(power);
}

/// The entropy is minus the derivative in p at p = 1: z^p/Γ(p) has the derivative z (log z + γ_E).
CriticalSphereMeans critical_sphere_means(const CriticalSphere& law) {
  expect_domain(law);
  const Outer outer(law);
  const Energies energies = energies_up_to(law, outer.largest());
  CriticalSphereMeans means{};
  means.normalisation = outer.sum([&](double y) {
    double first = 0.0, second = 0.0, energy = 0.0, second_energy = 0.0, entropy = 0.0;
    energies.around(y, [&](double v, double z, double density) {
      first += density;
      second += z * density;
      energy += v * density;
      second_energy += v * z * density;
      entropy -= density * (y - v + std::numbers::egamma);
    });
    return first;
  });
  return means;
}

}  // namespace dewpoint::theory
