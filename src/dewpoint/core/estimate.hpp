// A number never travels without its error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace dewpoint {

/// A measured mean, the standard error of that mean, and how many samples stand behind it.
/// The error is NaN when it is unknown (fewer than two samples).
struct Estimate {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double standard_error = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t samples = 0;
};

/// "0.5010 ± 0.0045", the digits that the error deserves; "0.501 ± ?" without one; or "undefined".
[[nodiscard]] std::string to_string(const Estimate& estimate);

/// Mean and spread of a sequence, one value at a time [Welford 1962], joined in pieces
/// [Chan, Golub, LeVeque 1979].
///
///   Properties  (1) merge(a, b) equals adding b's values after a's, up to rounding.
///               (2) the result depends on the order of additions and merges only through
///                   rounding: merging in index order gives the same bytes on any machine layout.
class RunningMoments {
 public:
  RunningMoments() = default;
  /// Goes on from what samples(), mean() and squared_deviations() said earlier, bit for bit.
  RunningMoments(std::uint64_t samples, double mean, double squared_deviations)
      : samples_(samples), mean_(mean), squared_deviations_(squared_deviations) {}

  void add(double value);
  void merge(const RunningMoments& other);

  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// Σ (x − mean)².
  [[nodiscard]] double squared_deviations() const { return squared_deviations_; }
  /// Unbiased sample variance; NaN for fewer than two values.
  [[nodiscard]] double variance() const;
  [[nodiscard]] Estimate estimate() const;

 private:
  std::uint64_t samples_ = 0;
  double mean_ = 0.0;
  double squared_deviations_ = 0.0;
};

}  // namespace dewpoint
