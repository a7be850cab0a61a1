#include "dewpoint/theory/critical_sphere.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::theory {

namespace {

// What sums leave out on either side: e^{−42} is 6e-19.
constexpr double kReach = 42.0;

// z^p e^{−z} at z = e^5 is below 1e-41 for p ≤ 16.
constexpr double kEdge = 5.0;

void expect_domain([[maybe_unused]] const CriticalSphere& law) {
  DEWPOINT_EXPECTS(kLeastExponent <= law.exponent && law.exponent <= kMostExponent);
  DEWPOINT_EXPECTS(kLeastTheta * law.exponent <= law.theta && law.theta <= kMostTheta);
  DEWPOINT_EXPECTS(law.step > 0.0);
}

double log_rate(const CriticalSphere& law) { return -law.exponent * std::log(law.theta); }  // log λ

double log_mean_partition(const CriticalSphere& law) {  // log E Z
  return log_rate(law) + std::lgamma(law.exponent + 1.0);
}

/// Beyond this energy v^a e^{y−v} is below e^{−42} of its largest value on v ≥ y: with m = max(y,
/// a) and v = m + δ the loss is δ − a log(1 + δ/m) at least, 46 or more at the δ below.
double last_energy(const CriticalSphere& law, double y) {
  return std::max(y, law.exponent) + kReach + std::sqrt(2.0 * kReach * law.exponent);
}

// ---- the inner sum: one Poisson process of energies -----------------------------------------

/// Calls visit(v, z, density) on nodes of the energies v = θΓ^{1/a}, which have the density
/// λ a v^{a−1}, where z = e^{y−v} and density = (node weight) λ a v^{a−1} z e^{−z}. The nodes
///
///     v = log(1 + e^x),        x = step · integer,
///
/// crowd towards the end at 0 and are evenly spaced beyond 1.
template <class Visit>
void for_energies(const CriticalSphere& law, double y, const Visit& visit) {
  const double log_factor = log_rate(law) + std::log(law.exponent * law.step);
  const double begin = y > kEdge ? y - kEdge : -kReach / law.exponent;
  const auto end = static_cast<std::int64_t>(last_energy(law, y) / law.step);
  for (auto k = static_cast<std::int64_t>(begin / law.step) - 1; k <= end; ++k) {
    const double x = static_cast<double>(k) * law.step, v = softplus(x);
    const double log_z = y - v, z = std::exp(log_z);
    const double log_density = log_factor + (law.exponent - 1.0) * std::log(v) - softplus(-x);
    visit(v, z, std::exp(log_density + log_z - z));
  }
}

// ---- the outer sum --------------------------------------------------------------------------

/// Σ f(y) dy over the line where e^{−Ψ(y)} Ψ'(y) lives, on nodes y = κ sinh(x/κ): evenly spaced up
/// to κ, growing with |y| beyond, where the integrand varies on the scale y/a.
template <class Integrand>
void for_outer(const CriticalSphere& law, const Integrand& integrand) {
  const double scale = 8.0 + 4.0 * law.exponent;
  const double smallest = std::min(0.0, -log_mean_partition(law)) - kReach;
  const double largest = law.theta * std::pow(1.2 * kReach, 1.0 / law.exponent) + 0.25 * kReach;
  const auto index = [&](double y) {
    return static_cast<int>(scale * std::asinh(y / scale) / law.step);
  };
  for (int k = index(smallest) - 1; k <= index(largest) + 1; ++k) {
    const double x = k * law.step / scale;
    integrand(scale * std::sinh(x), law.step * std::cosh(x));
  }
}

/// Sums over energies at one y, and their sums over y.
struct EnergySums {
  double one = 0.0;            // Σ z e^{−z}
  double square = 0.0;         // Σ z² e^{−z}
  double energy = 0.0;         // Σ v z e^{−z}
  double square_energy = 0.0;  // Σ v z² e^{−z}
  double log_one = 0.0;        // Σ z e^{−z} (log z + γ_E): the derivative of z^p/Γ(p) at p = 1

  void add(const EnergySums& other, double factor) {
    one += factor * other.one;
    square += factor * other.square;
    energy += factor * other.energy;
    square_energy += factor * other.square_energy;
    log_one += factor * other.log_one;
  }
};

EnergySums energy_sums(const CriticalSphere& law, double y) {
  EnergySums sums;
  for_energies(law, y, [&](double v, double z, double density) {
    sums.add({1.0, z, v, v * z, y - v + std::numbers::egamma}, density);
  });
  return sums;
}

// ---- the largest weight ---------------------------------------------------------------------

struct Node {
  double value;
  double weight;
};

/// Energies g above the winner's, as in for_energies.
std::vector<Node> excess_nodes(const CriticalSphere& law) {
  std::vector<Node> nodes;
  const auto count = static_cast<int>((last_energy(law, 0.0) + kReach) / law.step) + 1;
  for (int k = 0; k < count; ++k) {
    const double x = -kReach + k * law.step;
    nodes.push_back({softplus(x), law.step * std::exp(-softplus(-x))});
  }
  return nodes;
}

/// λ[(v+g)^a − v^a] e^{−log_unit}: how many keys lie within g of a winner at v.
double keys_within(const CriticalSphere& law, double log_winner, double excess, double log_unit) {
  const double winner = std::exp(log_winner), a = law.exponent;
  const double log_factor = log_rate(law) - log_unit;
  if (excess > winner) {
    return std::exp(log_factor + a * std::log(winner + excess)) -
           std::exp(log_factor + a * log_winner);
  }
  return std::exp(log_factor + a * log_winner) * std::expm1(a * std::log1p(excess / winner));
}

/// log λ∫[(v+g)^a − v^a] e^{−g} dg, the mean mass of the others relative to a winner at v.
double log_mean_mass(const CriticalSphere& law, double log_winner,
                     const std::vector<Node>& excesses) {
  const double log_unit = std::max(0.0, log_mean_partition(law));
  double sum = 0.0;
  for (const Node& excess : excesses) {
    sum += excess.weight * std::exp(-excess.value) *
           keys_within(law, log_winner, excess.value, log_unit);
  }
  return log_unit + std::log(sum);
}

/// The integral over s = e^σ for a winner at v, with the factors of the integral over g that do not
/// depend on v made once.
class LaplaceOfOthers {
 public:
  LaplaceOfOthers(const CriticalSphere& law, double log_largest_winner)
      : law_(law), excesses_(excess_nodes(law)) {
    log_unit_ =
        std::max({0.0, log_mean_partition(law), log_mean_mass(law, log_largest_winner, excesses_)});
    const double last = std::log(kReach);
    const auto count = static_cast<int>((last + log_unit_ + kReach) / law.step) + 1;
    for (int i = 0; i < count; ++i) {
      const double sigma = last - i * law.step;
      sigmas_.push_back(sigma);
      for (const Node& excess : excesses_) {
        const double log_z = sigma - excess.value;
        kernel_.push_back(excess.weight * std::exp(log_z + log_unit_ - std::exp(log_z)));
      }
    }
  }

  [[nodiscard]] double mean_weight(double log_winner) const {
    std::vector<double> within;
    for (const Node& excess : excesses_) {
      within.push_back(keys_within(law_, log_winner, excess.value, log_unit_));
    }
    double total = 0.0;
    for (std::size_t i = 0; i < sigmas_.size(); ++i) {
      const double* row = kernel_.data() + i * within.size();
      double loss = 0.0;
      for (std::size_t k = 0; k < within.size(); ++k) loss += row[k] * within[k];
      total += std::exp(sigmas_[i] - std::exp(sigmas_[i]) - loss);
    }
    return law_.step * total;
  }

 private:
  CriticalSphere law_;
  std::vector<Node> excesses_;
  double log_unit_;  // e^{log_unit} multiplies the kernel and divides the counts
  std::vector<double> sigmas_;
  std::vector<double> kernel_;  // σ × g
};

}  // namespace

double sphere_unit(double log_n, int dimension) {
  DEWPOINT_EXPECTS(log_n >= 0.0);
  const SphereGap gap(dimension);
  return std::exp((std::log(gap.local_constant()) + log_n) / gap.exponent());
}

double critical_sphere_laplace(const CriticalSphere& law, double y) {
  expect_domain(law);
  return energy_sums(law, y).energy / law.exponent;
}

double critical_sphere_average(const CriticalSphere& law, double power,
                               const std::function<double(double)>& function) {
  expect_domain(law);
  DEWPOINT_EXPECTS(1.0 <= power && power <= 16.0);
  double total = 0.0;
  for_outer(law, [&](double y, double weight) {
    double energy = 0.0, sum = 0.0;
    for_energies(law, y, [&](double v, double z, double density) {
      energy += v * density;
      sum += density * std::pow(z, power - 1.0) * function(v / law.theta);
    });
    total += weight * std::exp(-energy / law.exponent) * sum;
  });
  return total / std::tgamma(power);
}

CriticalSphereMeans critical_sphere_means(const CriticalSphere& law) {
  expect_domain(law);
  EnergySums total;
  for_outer(law, [&](double y, double weight) {
    const EnergySums sums = energy_sums(law, y);
    total.add(sums, weight * std::exp(-sums.energy / law.exponent));
  });
  return {total.one, total.square, -total.log_one, total.energy / law.theta,
          2.0 * total.square_energy / law.theta};
}

double critical_sphere_largest_weight(const CriticalSphere& law) {
  expect_domain(law);
  // x = e^ξ, the number of keys nearer than v, is exponential for the winner.
  const double last = std::log(kReach);
  const auto log_winner = [&law](double xi) { return std::log(law.theta) + xi / law.exponent; };
  const LaplaceOfOthers others(law, log_winner(last));
  double total = 0.0;
  const auto count = static_cast<int>((last + kReach) / law.step) + 1;
  for (int i = 0; i < count; ++i) {
    const double xi = last - i * law.step;
    total += std::exp(xi - std::exp(xi)) * others.mean_weight(log_winner(xi));
  }
  return law.step * total;
}

double half_participation_theta(double exponent) {
  const auto excess = [exponent](double log_theta) {
    return critical_sphere_means({std::exp(log_theta), exponent}).participation - 0.5;
  };
  std::uintmax_t iterations = 100;
  const auto [lower, upper] = boost::math::tools::toms748_solve(
      excess, std::log(0.1 * exponent), std::log(6.0 * exponent + 4.0),
      [](double x, double y) { return std::abs(x - y) < 1e-10; }, iterations);
  return std::exp(0.5 * (lower + upper));
}

}  // namespace dewpoint::theory
