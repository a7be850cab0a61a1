#include "dewpoint/theory/finite_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/depth_panels.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kGumbelVariance = std::numbers::pi * std::numbers::pi / 6.0;

// What integrals leave out on either side: e^{−42} is 6e-19.
constexpr double kReach = 42.0;
const double kVanishing = std::exp(-kReach);

// Beyond β(x − c) = −5 on the near side of a step, e^{−z} is below 1e-64.
constexpr double kEdge = 5.0;

constexpr int kOuterNodes = 16;
constexpr double kMostGrowth = 6.0;

// A panel of the outer integral is not cut below this; integrands in y have the scale 1 or more.
constexpr double kLeastPanel = 0.5;

void expect_domain([[maybe_unused]] const DepthDistribution& law,
                   [[maybe_unused]] const FiniteScores& question) {
  DEWPOINT_EXPECTS(kLeastFiniteLogScores <= question.log_n &&
                   question.log_n <= kMostFiniteLogScores);
  DEWPOINT_EXPECTS(question.inverse_temperature > 0.0 &&
                   question.inverse_temperature * std::abs(law.quantile(-question.log_n)) <=
                       kMostScaledDepth);
}

/// Rows with a depth less probable than this contribute less than e^{−42} of n^{1−p}, the least
/// that E Σw^p can be.
double log_least_probability(const FiniteScores& question, double power) {
  return -power * question.log_n - kReach;
}

/// −log (1 − m)^{n−1} from nm.
double spent(double log_n, double count) {
  if (log_n > 36.0) return count;
  const double n = std::exp(log_n);
  return -(n - 1.0) * std::log1p(-std::min(count / n, 1.0));
}

/// A measure of where an integrand nm' (1 − m)^{n−1} is: −∞ to its left, +∞ to its right.
double progress(double log_n, double count) { return std::log(count) + spent(log_n, count); }

/// The depth below which all n keys lie deeper with probability e^{−loss}: 1 − F = e^{−loss/n}.
double depth_at_loss(const DepthPanels& panels, double log_n, double loss) {
  const double probability = -std::expm1(-loss * std::exp(-log_n));
  if (probability == 1.0) return panels.cuts().back();
  return std::min(panels.law().quantile(std::log(probability)), panels.cuts().back());
}

// ---- the outer integral ---------------------------------------------------------------------

/// Doubling distances from an end of the law, none if it is infinitely far.
template <class Add>
void for_doubling(double least, double most, const Add& add) {
  if (std::isinf(most)) return;
  double distance = least;
  while (distance < most) {
    add(distance);
    distance *= 2.0;
  }
}

/// Sorted from the first to the last, without cuts that follow another too closely.
std::vector<double> thinned(std::vector<double> cuts, double least_distance) {
  std::sort(cuts.begin(), cuts.end());
  std::vector<double> kept = {cuts.front()};
  for (const double cut : cuts) {
    if (cut - kept.back() >= least_distance) kept.push_back(cut);
  }
  if (kept.back() < cuts.back()) kept.push_back(cuts.back());
  return kept;
}

/// The integral over y, its range found and cut by the function nm(y).
class OuterIntegral {
 public:
  OuterIntegral(const DepthPanels& panels, const FiniteScores& question, double power)
      : panels_(panels), question_(question), power_(power) {
    const std::vector<double> cuts = first_cuts();
    double lower_count = count(cuts.front());
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      const double upper_count = count(cuts[i]);
      cut(cuts[i - 1], lower_count, cuts[i], upper_count);
      lower_count = upper_count;
    }
  }

  /// Calls visit(x, z, density) with density = (node weight) n f(x) z e^{−z}; returns nm(y).
  template <class Visit>
  double inner(double y, const Visit& visit) const {
    const double beta = question_.inverse_temperature, centre = y / beta;
    const double from = (y - kEdge) / beta;
    double count = std::exp(question_.log_n + panels_.log_cdf(from));
    for (const DepthNode& node : panels_.nodes({beta, centre, from, power_})) {
      const double log_z = y - beta * node.depth, z = std::exp(log_z);
      const double linear = node.weight * std::exp(question_.log_n + node.log_density + log_z);
      count += z > 1e-8 ? linear * -std::expm1(-z) / z : linear * (1.0 - 0.5 * z);
      visit(node.depth, z, linear * std::exp(-z));
    }
    return count;
  }

  /// Calls visit(y, weight) on the nodes of the outer sum.
  template <class Visit>
  void for_nodes(const Visit& visit) const {
    for (std::size_t i = 0; i < lower_.size(); ++i) {
      const QuadratureRule rule = on_interval(rule_, lower_[i], upper_[i]);
      for (std::size_t k = 0; k < rule.nodes.size(); ++k) visit(rule.nodes[k], rule.weights[k]);
    }
  }

 private:
  [[nodiscard]] double count(double y) const {
    return inner(y, [](double, double, double) {});
  }

  /// A range that holds everything, cut where the law does something.
  [[nodiscard]] std::vector<double> first_cuts() const {
    const double beta = question_.inverse_temperature;
    const double lowest = beta * panels_.law().lowest(), highest = beta * panels_.law().highest();
    const double typical = beta * panels_.law().quantile(-question_.log_n);
    const double deepest = depth_at_loss(panels_, question_.log_n, 2.0 * kReach);
    double first = typical - 1.0, last = beta * deepest + kEdge;
    for (double step = 1.0; count(first) >= kVanishing; step *= 2.0) first -= step;
    std::vector<double> cuts = {first, last};
    const auto add = [&](double y) {
      if (first < y && y < last) cuts.push_back(y);
    };
    for (const double cut : panels_.cuts()) add(beta * cut);
    for_doubling(1.0, last - lowest, [&](double distance) { add(lowest + distance); });
    for_doubling(1.0, highest - first, [&](double distance) { add(highest - distance); });
    for (const double y : {lowest - 2.0, lowest, highest, highest + 2.0}) add(y);
    return thinned(cuts, kLeastPanel);
  }

  void cut(double lower, double lower_count, double upper, double upper_count) {
    const double log_n = question_.log_n;
    if (upper_count < kVanishing || spent(log_n, lower_count) > kReach) return;
    const double growth = progress(log_n, upper_count) - progress(log_n, lower_count);
    if (growth <= kMostGrowth || upper - lower < kLeastPanel) {
      lower_.push_back(lower);
      upper_.push_back(upper);
      return;
    }
    const double middle = 0.5 * (lower + upper), middle_count = count(middle);
    cut(lower, lower_count, middle, middle_count);
    cut(middle, middle_count, upper, upper_count);
  }

  const DepthPanels& panels_;
  FiniteScores question_;
  double power_;
  QuadratureRule rule_ = gauss_legendre(kOuterNodes);
  std::vector<double> lower_, upper_;
};

/// Sums over one depth, and their integrals over y. All with z e^{−z}.
struct DepthSums {
  double one = 0.0;
  double depth = 0.0;
  double square_depth = 0.0;
  double square = 0.0;  // with z² e^{−z} from here on
  double participating_depth = 0.0;
  double participating_square = 0.0;
  double log_one = 0.0;  // z e^{−z} (log z + γ_E): the derivative of z^p/Γ(p) at p = 1

  void add(const DepthSums& other, double factor) {
    one += factor * other.one;
    depth += factor * other.depth;
    square_depth += factor * other.square_depth;
    square += factor * other.square;
    participating_depth += factor * other.participating_depth;
    participating_square += factor * other.participating_square;
    log_one += factor * other.log_one;
  }
};

}  // namespace

double finite_score_average(const DepthDistribution& law, const FiniteScores& question,
                            double power, const std::function<double(double)>& function) {
  expect_domain(law, question);
  DEWPOINT_EXPECTS(1.0 <= power && power <= 16.0);
  const DepthPanels panels(law, log_least_probability(question, power));
  const OuterIntegral outer(panels, question, power);
  double total = 0.0;
  outer.for_nodes([&](double y, double weight) {
    double sum = 0.0;
    const double count = outer.inner(y, [&](double x, double z, double density) {
      sum += density * std::pow(z, power - 1.0) * function(x);
    });
    total += weight * std::exp(-spent(question.log_n, count)) * sum;
  });
  return total / std::tgamma(power);
}

FiniteScoreMeans finite_score_means(const DepthDistribution& law, const FiniteScores& question) {
  expect_domain(law, question);
  const double beta = question.inverse_temperature;
  const DepthPanels panels(law, log_least_probability(question, 2.0));
  const OuterIntegral outer(panels, question, 2.0);
  const double origin = beta * law.quantile(-question.log_n);
  DepthSums total;
  double first = 0.0, second = 0.0;  // moments of y − origin
  outer.for_nodes([&](double y, double weight) {
    DepthSums sums;
    const double count = outer.inner(y, [&](double x, double z, double density) {
      const double log_z = y - beta * x + std::numbers::egamma;
      sums.add({1.0, x, x * x, z, z * x, z * x * x, log_z}, density);
    });
    const double factor = weight * std::exp(-spent(question.log_n, count));
    total.add(sums, factor);
    first += factor * sums.one * (y - origin);
    second += factor * sums.one * (y - origin) * (y - origin);
  });
  return {total.one,
          total.depth,
          total.square_depth,
          total.square,
          total.participating_depth,
          total.participating_square,
          -total.log_one,
          -origin - first - std::numbers::egamma,
          second - first * first - kGumbelVariance};
}

FiniteSphereOutput finite_sphere_output(const FiniteScoreMeans& means) {
  return {means.depth, 2.0 * means.participating_depth - means.participating_square};
}

// ---- the largest weight ---------------------------------------------------------------------

namespace {

// |Γ(1 + 2πi/h)|, the error of trapezoidal sums over log s, is 1e-13 at h = 0.3.
constexpr double kLogStep = 0.3;

// Panels of the winner's depth end where log nF is a multiple of this.
constexpr double kWinnerStep = 4.0;

// When the integral over the winner's depth may end. A winner nearer by δ has at most e^{βδ} times
// the weight, and winners nearer than t exist with probability nF(t) at most.
constexpr double kNegligibleRest = 1e-13;

/// The keys beyond a winner at depth t, on nodes that serve every s.
class OtherDepths {
 public:
  OtherDepths(const DepthPanels& panels, const FiniteScores& question, double winner)
      : log_n_(question.log_n), nearer_(std::exp(log_n_ + panels.log_cdf(winner))) {
    const double beta = question.inverse_temperature;
    for (const DepthNode& node : panels.nodes({beta, winner, winner})) {
      count_.push_back(node.weight * std::exp(log_n_ + node.log_density));
      factor_.push_back(std::exp(-beta * (node.depth - winner)));
    }
    linear_.resize(count_.size() + 1);
    quadratic_.resize(count_.size() + 1);
    for (std::size_t k = count_.size(); k-- > 0;) {
      linear_[k] = linear_[k + 1] + count_[k] * factor_[k];
      quadratic_[k] = quadratic_[k + 1] + count_[k] * factor_[k] * factor_[k];
    }
  }

  /// The mean weight of the winner, ∫ ds e^{−s} (1 − F − C(s))^{n−1}, upwards in σ = log s from
  /// where s or the others' share, at most linear in s, is e^{−42}.
  [[nodiscard]] double mean_weight() const {
    const double first = std::min(0.0, -std::log(linear_.front())) - kReach;
    double total = 0.0;
    for (int i = 0;; ++i) {
      const double sigma = first + i * kLogStep, s = std::exp(sigma);
      const double loss = s + spent(log_n_, nearer_ + others(s));
      total += std::exp(sigma - loss);
      if (loss > kReach) break;
    }
    return kLogStep * total;
  }

 private:
  /// nC(s). Factors fall from node to node, and for small ones two terms of the series do.
  [[nodiscard]] double others(double s) const {
    double sum = 0.0;
    std::size_t k = 0;
    for (; k < count_.size() && s * factor_[k] > kSmall; ++k) {
      sum -= count_[k] * std::expm1(-s * factor_[k]);
    }
    return sum + s * (linear_[k] - 0.5 * s * quadratic_[k]);
  }

  static constexpr double kSmall = 3e-6;  // x³/6 is 1.5e-12 of x

  double log_n_;
  double nearer_;  // n F(t)
  std::vector<double> count_, factor_;
  std::vector<double> linear_, quadratic_;  // Σ count · factor and count · factor² from a node on
};

/// Depths of the winner between which to integrate, decreasing: where nF is a given number, where
/// the law is cut, and at doubling distances from its end.
std::vector<double> winner_cuts(const DepthPanels& panels, const FiniteScores& question) {
  const DepthDistribution& law = panels.law();
  std::vector<double> cuts;
  for (const double tail : {kReach, 31.0, 22.0, 15.0, 10.0, 6.0, 3.0, 1.5}) {
    cuts.push_back(depth_at_loss(panels, question.log_n, tail));
  }
  const auto levels = static_cast<int>(std::ceil((question.log_n + kReach) / kWinnerStep));
  for (int k = 0; k < levels; ++k) {
    cuts.push_back(law.quantile(-kWinnerStep * k - question.log_n));
  }
  std::sort(cuts.begin(), cuts.end());
  const double first = cuts.front(), last = cuts.back(), unit = 1.0 / question.inverse_temperature;
  const auto add = [&](double cut) {
    if (first < cut && cut < last) cuts.push_back(cut);
  };
  for (const double cut : panels.cuts()) add(cut);
  for_doubling(0.5 * unit, last - law.lowest(), [&](double x) { add(law.lowest() + x); });
  for_doubling(0.5 * unit, law.highest() - first, [&](double x) { add(law.highest() - x); });
  std::sort(cuts.begin(), cuts.end(), std::greater<>());
  return cuts;
}

}  // namespace

double finite_largest_weight(const DepthDistribution& law, const FiniteScores& question) {
  expect_domain(law, question);
  const DepthPanels panels(law, log_least_probability(question, 1.0));
  const std::vector<double> cuts = winner_cuts(panels, question);
  double total = 0.0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    double bound = 1.0;  // of the weight of a winner beyond this panel
    for (const DepthNode& node : panels.nodes_between(cuts[i], cuts[i - 1])) {
      const double weight = OtherDepths(panels, question, node.depth).mean_weight();
      total += node.weight * std::exp(question.log_n + node.log_density) * weight;
      const double nearer = question.inverse_temperature * (node.depth - cuts.back());
      bound = std::min(bound, std::numbers::e * weight * std::exp(nearer));
    }
    const double rest = std::exp(question.log_n + panels.log_cdf(cuts[i]));  // nF
    if (rest < 1.0 && rest * bound < kNegligibleRest * total) break;
  }
  return total;
}

}  // namespace dewpoint::theory
