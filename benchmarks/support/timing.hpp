// Timing on a noisy machine: contestants in turns, minima compared, spread shown.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dewpoint::bench {

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Contestant {
  std::string name;
  std::function<void()> work;
  std::vector<double> seconds = {};

  [[nodiscard]] double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
  /// Median over minimum: 1 on a quiet machine.
  [[nodiscard]] double spread() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2] / sorted.front();
  }
};

/// Runs all contestants in turns, `rounds` times, after one warm-up each.
inline void race(std::vector<Contestant>& contestants, int rounds) {
  for (Contestant& c : contestants) c.work();
  for (int r = 0; r < rounds; ++r) {
    for (Contestant& c : contestants) c.seconds.push_back(seconds_of(c.work));
  }
}

inline void print(const Contestant& c) {
  fmt::print("  {:<44} {:>10.3f} ms   median/min {:.2f}\n", c.name, 1e3 * c.best(), c.spread());
}

/// "claim: ... measured ...: holds".
inline void claim(const std::string& what, double measured, double at_least) {
  fmt::print("  {}: {:.2f}, claimed at least {:.2f}: {}\n", what, measured, at_least,
             measured >= at_least ? "holds" : "DOES NOT HOLD");
}

}  // namespace dewpoint::bench
