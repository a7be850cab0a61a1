#include "dewpoint/training/ergodicity.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dewpoint::training {
namespace {

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

// Fewest arrows from token 0 to every token, or, backward, from every token to token 0.
std::vector<std::size_t> distances(const Matrix<double>& transition, bool backward) {
  std::vector<std::size_t> steps(transition.rows(), kNever);
  std::vector<std::size_t> reached{0};
  steps[0] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::size_t i = reached[next];
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const double arrow = backward ? transition(j, i) : transition(i, j);
      if (arrow <= 0.0 || steps[j] != kNever) continue;
      steps[j] = steps[i] + 1;
      reached.push_back(j);
    }
  }
  return steps;
}

std::optional<std::size_t> first_unreached(const std::vector<std::size_t>& steps) {
  const auto found = std::find(steps.begin(), steps.end(), kNever);
  if (found == steps.end()) return std::nullopt;
  return static_cast<std::size_t>(found - steps.begin());
}

}  // namespace

std::optional<Gap> find_gap(const Matrix<double>& transition) {
  if (const auto to = first_unreached(distances(transition, false))) return Gap{0, *to};
  if (const auto from = first_unreached(distances(transition, true))) return Gap{*from, 0};
  return std::nullopt;
}

std::size_t period(const Matrix<double>& transition) {
  const std::vector<std::size_t> steps = distances(transition, false);
  std::size_t divisor = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = 0; j < steps.size(); ++j) {
      // A token is at most one arrow farther than the one before it: never negative.
      if (transition(i, j) > 0.0) divisor = std::gcd(divisor, steps[i] + 1 - steps[j]);
    }
  }
  return divisor;
}

}  // namespace dewpoint::training
