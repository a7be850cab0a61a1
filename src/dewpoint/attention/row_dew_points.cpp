#include "dewpoint/attention/row_dew_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dewpoint::attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = 1e-100;

// Constants named kEmpirical were chosen by trial on the laws of tests/conformance/
// row_dew_points_test, November 2026.

// Largest fifth term of the expansion, the first that is left out, with which a root stands.
constexpr double kEmpiricalFifthTerm = 2e-7;

// How far the gamma law is followed, as a factor of β, and how closely the root of an expansion is
// found.
constexpr double kEmpiricalReach = 16.0;
constexpr double kRootStep = 1e-9;

// Logarithm of the factor beyond which a gamma law fitted at m = 1 is as good a start as any.
constexpr double kEmpiricalFar = 1.0;

// A bracket is narrow enough while it still holds several float32 numbers, at one of which the next
// pass would be.
constexpr double kNarrowest = 1e-6;

// ---- the crowd ------------------------------------------------------------------------------

// Σ e^{−β(c − s)} over the crowd around one β; c is the score of the third best key.
struct Crowd {
  double beta = 1.0;
  double log_mass = -kInfinity;          // nobody
  std::array<double, 4> cumulants = {};  // of β(c − s)
};

struct Expansion {
  double log_mass;
  double slope;  // −d log mass / d log β
};

// Close to the pass: the series.
struct Series {
  static Expansion of(const Crowd& crowd, double beta) {
    const double t = beta / crowd.beta - 1.0;
    const auto [k1, k2, k3, k4] = crowd.cumulants;
    return {crowd.log_mass - t * (k1 - t / 2.0 * (k2 - t / 3.0 * (k3 - t / 4.0 * k4))),
            (1.0 + t) * (k1 - t * (k2 - t / 2.0 * (k3 - t / 3.0 * k4)))};
  }
};

// Further away: the mass falls like that of a gamma law of exponents with the same mean and
// variance, mass ∝ (1 + t κ₂/κ₁)^{−κ₁²/κ₂}, which stays convex and falling as the truth does.
struct GammaLaw {
  static Expansion of(const Crowd& crowd, double beta) {
    const double t = beta / crowd.beta - 1.0;
    const auto [k1, k2, k3, k4] = crowd.cumulants;
    const double growth = std::max(1.0 + t * k2 / std::max(k1, kTiny), kTiny);
    const double fall = k2 > 0.0 ? k1 * k1 / k2 * std::log(growth) : k1 * t;
    return {crowd.log_mass - fall, (1.0 + t) * k1 / growth};
  }
};

// From Σ y^k e^{−y}, k = 0..4.
Crowd crowd_of(double beta, const std::array<double, 5>& sums) {
  if (sums[0] <= 0.0) return {beta, -kInfinity, {}};
  std::array<double, 4> m{};
  for (std::size_t k = 0; k < m.size(); ++k) m[k] = sums[k + 1] / sums[0];
  const double mean = m[0], variance = m[1] - mean * mean;
  const double third = m[2] - mean * (3.0 * m[1] - 2.0 * mean * mean);
  const double fourth = m[3] - mean * (4.0 * m[2] - mean * (6.0 * m[1] - 3.0 * mean * mean));
  return {beta, std::log(sums[0]), {mean, variance, third, fourth - 3.0 * variance * variance}};
}

// ---- one equation ---------------------------------------------------------------------------

// Winner, runner-up and others: with the first key among them or without. Gaps are from the winner.
struct Contest {
  double competitors;           // n − 1
  double mean_gap;              // of them
  double runner_up;             // T
  std::array<double, 2> known;  // of others that are known beside the crowd; +∞: there is none
  double crowd;                 // of the crowd's reference
};

struct Balance {
  double log_ratio;    // of what the others hold to what the runner-up lacks; falls with β
  double slope;        // −d log_ratio / d log β ≥ 1
  double crowd_share;  // of what the others hold
};

template <class Law>
Balance balance(const Contest& contest, const Crowd& crowd, double beta) {
  const Expansion around = Law::of(crowd, beta);
  const std::array<double, 3> logs = {around.log_mass - beta * contest.crowd,
                                      -beta * contest.known[0], -beta * contest.known[1]};
  const double top = *std::max_element(logs.begin(), logs.end());
  std::array<double, 3> weights{};
  for (std::size_t k = 0; k < 3; ++k) weights[k] = std::exp(logs[k] - top);
  const double mass = weights[0] + weights[1] + weights[2];
  double exponent = weights[0] > 0.0 ? weights[0] * (around.slope + beta * contest.crowd) : 0.0;
  for (std::size_t k = 0; k < 2; ++k) {
    if (weights[k + 1] > 0.0) exponent += weights[k + 1] * beta * contest.known[k];
  }
  const double lag = beta * contest.runner_up;
  return {top + std::log(mass) - std::log(-std::expm1(-lag)),
          exponent / mass + lag / std::expm1(lag), weights[0] / mass};
}

struct Bracket {
  double lower, upper;
};

// Property (5) of observables::dew_point, with room for the roundings of the sum of gaps.
Bracket outer_bracket(const Contest& contest) {
  const double log_competitors = std::log(contest.competitors);
  return {log_competitors / contest.mean_gap * (1.0 - 1e-5),
          log_competitors / contest.runner_up * (1.0 + 1e-5)};
}

double middle(const Bracket& bracket) {
  return std::sqrt(bracket.lower) * std::sqrt(bracket.upper);
}

struct Root {
  double beta;
  bool inside;  // else beta is the end that lies towards it
};

// The root of the equation on an expansion, between two temperatures.
template <class Law>
Root expanded_root(const Contest& contest, const Crowd& crowd, const Bracket& within) {
  auto [lower, upper] = within;
  if (balance<Law>(contest, crowd, lower).log_ratio <= 0.0) return {lower, false};
  if (balance<Law>(contest, crowd, upper).log_ratio >= 0.0) return {upper, false};
  double beta = std::clamp(crowd.beta, lower, upper);
  while (upper > lower * (1.0 + kRootStep)) {
    const Balance now = balance<Law>(contest, crowd, beta);
    const double step = now.log_ratio / now.slope;
    if (std::abs(step) <= kRootStep) return {beta * std::exp(step), true};
    (now.log_ratio > 0.0 ? lower : upper) = beta;
    const double next = beta * std::exp(step);
    beta = lower < next && next < upper ? next : middle({lower, upper});
  }
  return {beta, true};
}

// Where the series is as good as the answer must be: where its first missing term, the fifth, is
// small. The cumulants of an exponential law of scale r are (k−1)! r^k; the largest r of three
// cumulants stands for that of the fifth, since any one may vanish by chance.
Bracket trusted(const Contest& contest, const Crowd& crowd) {
  const double r = std::max({std::sqrt(std::abs(crowd.cumulants[1])),
                             std::cbrt(std::abs(crowd.cumulants[2]) / 2.0),
                             std::sqrt(std::sqrt(std::abs(crowd.cumulants[3]) / 6.0))});
  const double share = balance<Series>(contest, crowd, crowd.beta).crowd_share;
  const double fifth_power = 5.0 * kEmpiricalFifthTerm / std::max(share, kTiny);
  const double t = std::min(0.5, std::pow(fifth_power, 0.2) / std::max(r, kTiny));
  return {crowd.beta * (1.0 - t), crowd.beta * (1.0 + t)};
}

// Where the gamma law is worth following.
Bracket within_reach(const Crowd& crowd, const Bracket& bracket) {
  return {std::clamp(crowd.beta / kEmpiricalReach, bracket.lower, bracket.upper),
          std::clamp(crowd.beta * kEmpiricalReach, bracket.lower, bracket.upper)};
}

// ---- a row ----------------------------------------------------------------------------------

class Row {
 public:
  explicit Row(const RestOfRow& rest) : rest_(rest), best_(kernels::three_largest(rest.scores)) {}

  [[nodiscard]] Contest without_first() const {
    const auto n = static_cast<double>(rest_.scores.size());
    const double crowd = below(best_[0], best_[2]);
    return {
        n - 1.0, rest_.plain.gap / (n - 1.0), below(best_[0], best_[1]), {crowd, kInfinity}, crowd};
  }

  [[nodiscard]] Contest with_first(float first) const {
    const auto n = static_cast<double>(rest_.scores.size());
    std::array<float, 4> known = {best_[0], best_[1], best_[2], first};
    std::sort(known.begin(), known.end(), std::greater<>());
    const double raised = below(known[0], best_[0]);
    const double all_gaps = rest_.plain.gap + n * raised + below(known[0], first);
    return {n,
            all_gaps / n,
            below(known[0], known[1]),
            {below(known[0], known[2]), below(known[0], known[3])},
            below(known[0], best_[2])};
  }

  double solve(const Contest& contest) {
    if (contest.runner_up < kTiedGap) return kInfinity;
    Bracket bracket = outer_bracket(contest);
    for (int tries = 0; bracket.upper > bracket.lower * (1.0 + kNarrowest); ++tries) {
      double next = 0.0;
      if (passed_) {
        const Root root = expanded_root<Series>(contest, crowd_, trusted(contest, crowd_));
        if (root.inside) return root.beta;
        narrow(bracket, contest);
        next = expanded_root<GammaLaw>(contest, crowd_, within_reach(crowd_, bracket)).beta;
        const bool far = std::abs(std::log(next / crowd_.beta)) > kEmpiricalFar;
        if (tries == 0 && far) next = guess(contest);  // the passes so far were for another contest
      } else {
        next = guess(contest);
      }
      // Halving now and then ends the search whatever the expansions say.
      if (tries % 4 == 3 || !std::isfinite(next)) next = middle(bracket);
      crowd_ = pass(std::clamp(next, bracket.lower, bracket.upper));
      passed_ = true;
    }
    return middle(bracket);
  }

 private:
  static double below(float upper, float lower) {
    return static_cast<double>(upper) - static_cast<double>(lower);
  }

  void narrow(Bracket& bracket, const Contest& contest) const {
    if (crowd_.beta <= bracket.lower || crowd_.beta >= bracket.upper) return;
    const bool below_root = balance<Series>(contest, crowd_, crowd_.beta).log_ratio > 0.0;
    (below_root ? bracket.lower : bracket.upper) = crowd_.beta;
  }

  // The three best keys count 1 each in the sum, exactly: see power_sums.
  [[nodiscard]] Crowd pass(double beta) const {
    const auto rate = static_cast<float>(beta);
    if (rest_.scores.size() <= 3) return {static_cast<double>(rate), -kInfinity, {}};
    std::array<double, 5> sums = kernels::power_sums(rest_.scores, best_[2], rate);
    sums[0] -= 3.0;
    return crowd_of(static_cast<double>(rate), sums);
  }

  // From the moments at `rate` if they say anything about the crowd and the root is near, else as
  // if gaps were normal: log R = log n − βμ + β²σ²/2, or where that is smallest if it has no root.
  [[nodiscard]] double guess(const Contest& contest) const {
    const RowMoments& moments = rest_.moments;
    std::array<double, 3> sums = {moments.partition, moments.gap, moments.squared_gap};
    for (const float score : best_) {
      const double gap = rest_.rate * below(best_[0], score), weight = std::exp(-gap);
      for (std::size_t k = 0; k < 3; ++k) sums[k] -= std::pow(gap, k) * weight;
    }
    if (sums[0] > kFaintest * moments.partition) {
      const double mean = sums[1] / sums[0], square = sums[2] / sums[0];
      const double lag = rest_.rate * below(best_[0], best_[2]);
      const Crowd crowd{rest_.rate, std::log(sums[0]) + lag, {mean - lag, square - mean * mean}};
      const Root root =
          expanded_root<GammaLaw>(contest, crowd, within_reach(crowd, {0.0, kInfinity}));
      if (root.inside) return root.beta;
    }
    return guess_of_normal_gaps(contest);
  }

  [[nodiscard]] double guess_of_normal_gaps(const Contest& contest) const {
    const auto n = static_cast<double>(rest_.scores.size());
    const double log_competitors = std::log(contest.competitors);
    const double mean = rest_.plain.gap / n;
    const double variance = rest_.plain.squared_gap / n - mean * mean;
    const double inside = mean * mean - 2.0 * variance * log_competitors;
    return inside > 0.0 ? 2.0 * log_competitors / (mean + std::sqrt(inside)) : mean / variance;
  }

  // Below this share of the weight, what the crowd holds is rounding of what the best three do.
  static constexpr double kFaintest = 1e-4;

  const RestOfRow& rest_;
  std::array<float, 3> best_;
  Crowd crowd_;
  bool passed_ = false;
};

}  // namespace

RowDewPoints row_dew_points(const RestOfRow& rest, std::optional<float> first) {
  RowDewPoints points{kUndefined, kUndefined};
  Row row(rest);
  if (rest.scores.size() >= 3) points.without_first = row.solve(row.without_first());
  if (!first) {
    points.all = points.without_first;
  } else if (rest.scores.size() >= 2) {
    points.all = row.solve(row.with_first(*first));
  }
  return points;
}

}  // namespace dewpoint::attention
