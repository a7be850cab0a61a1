// What the claims about keys on the sphere share: a question to the sampler of one query, columns
// of its answer, Kolmogorov's distance, and how far a finite length is from the limit law.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/query.hpp"
#include "dewpoint/theory/critical_sphere.hpp"

namespace dewpoint::claims {

/// The local exponent a of uniform keys on S^{d−1}.
[[nodiscard]] inline double local_exponent(int dimension) { return 0.5 * (dimension - 1.0); }

/// Keys of a draw where draws are compared with a limit law.
inline constexpr double kLongest = 1e15;

/// β* of n uniform keys.
[[nodiscard]] inline double unit_of(double n, int dimension) {
  return theory::sphere_unit(std::log(n), dimension);
}

/// n uniform keys on S^{d−1} at temperatures θ = β/β*.
[[nodiscard]] inline experiments::Query key_query(int dimension, double n,
                                                  std::vector<double> thetas,
                                                  std::size_t quick_draws, const Setting& setting) {
  experiments::Query question;
  question.dimension = dimension;
  question.n = {n};
  question.temperatures = std::move(thetas);
  question.draws = draws_of(setting, quick_draws);
  question.seed = setting.seed;
  return question;
}

/// A value for each draw at the temperature of this number.
[[nodiscard]] inline std::vector<double> drawn_values(const Frame& draws, const char* name,
                                                      std::size_t temperature) {
  const std::size_t count = draws.dimension("draw").coordinates.size();
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(draws.variable(name).cells[temperature * count + i].mean);
  }
  return values;
}

// ---- Kolmogorov's distance ------------------------------------------------------------------

/// The largest distance between the shares of values below x and a law's probability.
[[nodiscard]] inline double distance_to_law(std::vector<double> values,
                                            const std::function<double(double)>& cdf) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double below = static_cast<double>(i) / count, probability = cdf(values[i]);
    largest = std::max({largest, probability - below, below + 1.0 / count - probability});
  }
  return largest;
}

/// The same between two samples.
[[nodiscard]] inline double distance_of_samples(std::vector<double> values,
                                                std::vector<double> others) {
  std::sort(others.begin(), others.end());
  return distance_to_law(std::move(values), [&others](double x) {
    const auto below = std::upper_bound(others.begin(), others.end(), x) - others.begin();
    return static_cast<double>(below) / static_cast<double>(others.size());
  });
}

/// What the distance of so many draws to their own law exceeds with the probability that kSigmas
/// leaves: 2e^{−2Nx²} = 2e-8 [Massart 1990]. Two samples of one law are at most the sum apart.
[[nodiscard]] inline double distance_bound(std::size_t draws) {
  return std::sqrt(0.5 * std::log(1e8) / static_cast<double>(draws));
}

// ---- finite lengths -------------------------------------------------------------------------

/// Relative error of the limit law at n keys, for means of weights at θ around a or above. As
/// F(t) = c t^a (1 − a(a−1)/(2(a+1)) t + ...), the key at u in units of 1/β* sits at
/// u + (a−1)/(2(a+1)) u²/β*. Around the mean ū = E Σ w u that is a change of log θ by
/// (a−1)/(a+1) ū/β*, to which means of weights respond by a factor of max(1, a) at most; n draws
/// instead of a Poisson process add 1/n. Twice that covers the next orders.
[[nodiscard]] inline double length_error(const theory::CriticalSphere& law, double unit, double n) {
  const double a = law.exponent, gap = theory::critical_sphere_means(law).bias;
  return 2.0 * std::max(1.0, a) * (std::abs(a - 1.0) / (a + 1.0) * gap / unit + 1.0 / n);
}

}  // namespace dewpoint::claims
