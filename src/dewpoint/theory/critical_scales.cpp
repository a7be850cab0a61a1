#include "dewpoint/theory/critical_scales.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/depth_panels.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kLogTolerance = 1e-11;
constexpr double kBracketStep = 0.75;

/// Where to look: at the edge, unless that lies where the law has no keys.
double first_guess(const DepthDistribution& law, double log_n) {
  const double quartiles = law.quantile(std::log(0.75)) - law.quantile(std::log(0.25));
  return std::max(edge_beta(law, log_n), 1.0 / quartiles);
}

/// The root in log β of a function that increases from negative to positive, bracketed from a
/// guess.
template <class Function>
double increasing_root(const Function& function, double guess) {
  double lower = std::log(guess), upper = lower;
  double below = function(guess), above = below;
  while (below > 0.0) {
    upper = lower, above = below;
    lower -= kBracketStep, below = function(std::exp(lower));
  }
  while (above < 0.0) {
    lower = upper, below = above;
    upper += kBracketStep, above = function(std::exp(upper));
  }
  if (below == 0.0) return std::exp(lower);
  if (above == 0.0) return std::exp(upper);
  std::uintmax_t iterations = 100;
  const auto [left, right] = boost::math::tools::toms748_solve(
      [&](double log_beta) { return function(std::exp(log_beta)); }, lower, upper, below, above,
      [](double x, double y) { return std::abs(x - y) < kLogTolerance; }, iterations);
  return std::exp(0.5 * (left + right));
}

/// The law P_β ∝ e^{−βx} P.
struct Tilted {
  double log_mean;  // log E e^{−β(x−x_0)}
  double mean;      // E_β (x − x_0)
};

/// x_0 is the lowest depth, or where the panels begin if there is none.
class TiltedLaw {
 public:
  TiltedLaw(const DepthDistribution& law, double log_n) : panels_(law, -2.0 * log_n - 42.0) {
    DEWPOINT_EXPECTS(0.0 < log_n && log_n <= kMostFiniteLogScores);
  }

  [[nodiscard]] double origin() const {
    return std::isinf(panels_.law().lowest()) ? panels_.cuts().front() : panels_.law().lowest();
  }

  [[nodiscard]] Tilted at(double beta) const {
    std::vector<DepthNode> nodes = panels_.nodes({beta, origin(), origin()});
    double largest = -std::numeric_limits<double>::infinity();
    for (DepthNode& node : nodes) {
      node.log_density -= beta * (node.depth - origin());
      largest = std::max(largest, node.log_density);
    }
    double sum = 0.0, first = 0.0;
    for (const DepthNode& node : nodes) {
      const double mass = node.weight * std::exp(node.log_density - largest);
      sum += mass;
      first += mass * (node.depth - origin());
    }
    return {largest + std::log(sum), first / sum};
  }

  /// KL(P_β ‖ P) = −β E_β x − log E e^{−βx}.
  [[nodiscard]] double divergence(double beta) const {
    const Tilted tilted = at(beta);
    return -beta * tilted.mean - tilted.log_mean;
  }

 private:
  DepthPanels panels_;
};

}  // namespace

std::optional<double> unit_beta(const DepthDistribution& law, double log_n) {
  DEWPOINT_EXPECTS(log_n > 0.0);
  if (std::isinf(law.lowest())) return {};
  return 1.0 / (law.quantile(-log_n) - law.lowest());
}

double edge_beta(const DepthDistribution& law, double log_n) {
  DEWPOINT_EXPECTS(log_n > 0.0);
  return std::exp(log_n + law.log_density(law.quantile(-log_n)));
}

double participation_beta(const DepthDistribution& law, double log_n) {
  DEWPOINT_EXPECTS(log_n > std::log(2.99));
  const auto excess = [&](double beta) {
    return finite_score_means(law, {log_n, beta}).participation - 0.5;
  };
  return increasing_root(excess, 1.5 * first_guess(law, log_n));
}

std::optional<double> annealed_beta(const DepthDistribution& law, double log_n) {
  if (std::isinf(law.lowest())) return {};
  const TiltedLaw tilted(law, log_n);
  return increasing_root([&](double beta) { return -log_n - tilted.at(beta).log_mean; },
                         first_guess(law, log_n));
}

double information_beta(const DepthDistribution& law, double log_n) {
  const TiltedLaw tilted(law, log_n);
  return increasing_root([&](double beta) { return tilted.divergence(beta) - log_n; },
                         first_guess(law, log_n));
}

std::optional<double> tilted_mean_beta(const DepthDistribution& law, double log_n) {
  const TiltedLaw tilted(law, log_n);
  const double edge = law.quantile(-log_n) - tilted.origin(), guess = first_guess(law, log_n);
  if (tilted.at(1e-9 * guess).mean <= edge) return {};
  return increasing_root([&](double beta) { return edge - tilted.at(beta).mean; }, guess);
}

// ---- the simplex ----------------------------------------------------------------------------

namespace {

double log_others(double log_n) { return log_n + std::log1p(-std::exp(-log_n)); }  // log(n − 1)

}  // namespace

double simplex_annealed_beta(double log_n, double gap) {
  DEWPOINT_EXPECTS(log_n > std::log(2.99) && gap > 0.0);
  return log_others(log_n) / gap;
}

double simplex_participation_beta(double log_n, double gap) {
  DEWPOINT_EXPECTS(log_n > std::log(2.99) && gap > 0.0);
  const double others = log_others(log_n);
  return (others + std::log1p(std::sqrt(2.0 - 2.0 * std::exp(-others)))) / gap;
}

}  // namespace dewpoint::theory
