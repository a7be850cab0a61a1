// Drawn condensation against exact means at finite N and against printed reference values.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "dewpoint/theory/gaussian_extremes.hpp"
#include "dewpoint/theory/random_energy.hpp"
#include "experiments/condense_cells.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Reference values are compared at one fixed seed, so that 4 standard errors are a sharp statement
// and not a false alarm of fresh seeds.
constexpr std::uint64_t kReferenceSeed = 1;
constexpr double kReferenceErrors = 4.0;

void expect_near(const Estimate& estimate, double value, double own_error,
                 const std::string& what) {
  EXPECT_NEAR(estimate.mean, value,
              kReferenceErrors * std::hypot(estimate.standard_error, own_error))
      << what;
}

// Property (4): every mean at every N from 1e3 to 1e300 against quadrature.
TEST(Condense, ReproducesTheExactMeans) {
  Condense asked =
      question({1e3, 1e4, 1e6, 1e12, 1e30, 1e300}, {0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0}, 3000);
  asked.seed = kReferenceSeed;
  const Frame frame = condense(asked);
  for (std::size_t n = 0; n < asked.n.size(); ++n) {
    for (std::size_t t = 0; t < asked.loads.size(); ++t) {
      const double log_n = std::log(asked.n[n]), load = asked.loads[t];
      // Where rare draws carry a mean the sample does not know its own error.
      if (load < 0.9 && log_n > 30.0) continue;
      const std::string what = std::to_string(log_n) + " " + std::to_string(load);
      const double beta = load * std::sqrt(2.0 * log_n);
      const theory::RandomEnergyMeans exact = theory::random_energy_means(log_n, beta);
      expect_near(cell(frame, "participation", {n, t}), exact.participation, 0.0, what);
      expect_near(cell(frame, "entropy", {n, t}), exact.entropy, 0.0, what);
      expect_near(cell(frame, "log_partition", {n, t}), exact.log_partition, 0.0, what);
      expect_near(cell(frame, "log_partition_deviation", {n, t}),
                  std::sqrt(exact.log_partition_variance), 0.0, what);
      if (load > 2.5 || log_n > 640.0) continue;
      expect_near(cell(frame, "largest_weight", {n, t}), theory::mean_largest_weight(log_n, beta),
                  0.0, what);
    }
  }
}

// Below freezing the sample sees E Z: log E Z = L(1 + t²).
TEST(Condense, ReproducesTheAnnealedFreeEnergy) {
  const Condense asked = question({1e3, 1e6, 1e30}, {0.2, 0.4}, 3000);
  const Frame frame = condense(asked);
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t t = 0; t < 2; ++t) {
      const Estimate& annealed = cell(frame, "log_mean_partition", {n, t});
      const double exact = theory::annealed_free_energy(std::log(asked.n[n]), asked.loads[t]);
      EXPECT_NEAR(annealed.mean, exact,
                  test::kSigmas * annealed.standard_error + 16.0 * kEpsilon * exact);
    }
  }
}

// E w_max at t = 1, printed to three decimals from a sample: as many draws as here are assumed, so
// its error is ours.
TEST(Condense, ReproducesThePrintedWeightsAtFreezing) {
  Condense asked = question({1e4, 1e6, 1e12, 1e30, 1e100, 1e300}, {1.0}, 5000);
  asked.seed = kReferenceSeed;
  const Frame frame = condense(asked);
  constexpr double kPrinted[] = {0.350, 0.309, 0.242, 0.179, 0.110, 0.076};
  for (std::size_t n = 0; n < asked.n.size(); ++n) {
    const Estimate& weight = cell(frame, "largest_weight", {n, 0});
    expect_near(weight, kPrinted[n], std::hypot(weight.standard_error, 5e-4),
                std::to_string(asked.n[n]));
  }
  // Q − A at t = 1 with printed errors, on its way to −log 2.
  constexpr double kGaps[][3] = {
      {0, -0.67, 0.01}, {1, -0.66, 0.01}, {3, -0.675, 0.007}, {5, -0.690, 0.004}};
  for (const auto& [index, gap, error] : kGaps) {
    const auto n = static_cast<std::size_t>(index);
    Estimate measured = cell(frame, "log_partition", {n, 0});
    measured.mean -= 2.0 * std::log(asked.n[n]);
    expect_near(measured, gap, error, std::to_string(asked.n[n]));
  }
}

// The thresholds as printed, with the same assumption, and a printed deviation.
TEST(Condense, ReproducesThePrintedThresholds) {
  Condense asked = question({1e4, 1e6, 1e30, 1e300}, {0.4, 0.7, 1.0, 1.5, 2.0, 3.0}, 3000);
  asked.seed = kReferenceSeed;
  const Frame frame = condense(asked);
  struct Printed {
    std::size_t n, t;
    double signal, half_digit;
  };
  constexpr Printed kPrinted[] = {{0, 0, 1.4497, 5e-5}, {1, 0, 1.4500, 5e-5}, {2, 0, 1.4500, 5e-5},
                                  {0, 1, 1.055, 5e-4},  {1, 1, 1.061, 5e-4},  {2, 1, 1.0643, 5e-5},
                                  {0, 2, 0.954, 5e-4},  {1, 2, 0.970, 5e-4},  {2, 2, 0.994, 5e-4},
                                  {3, 2, 0.9995, 5e-5}, {0, 3, 0.912, 5e-4},  {1, 3, 0.935, 5e-4},
                                  {2, 3, 0.982, 5e-4},  {3, 3, 0.997, 5e-4},  {0, 5, 0.890, 5e-4},
                                  {1, 5, 0.922, 5e-4},  {2, 5, 0.979, 5e-4},  {3, 5, 0.997, 5e-4}};
  for (const Printed& row : kPrinted) {
    const Estimate& half = cell(frame, "retrieval_signal", {row.n, row.t});
    EXPECT_NEAR(half.mean, row.signal,
                kReferenceErrors * std::numbers::sqrt2 * half.standard_error + row.half_digit)
        << asked.n[row.n] << ' ' << asked.loads[row.t];
  }
  const Estimate& deviation = cell(frame, "log_partition_deviation", {2, 4});
  expect_near(deviation, 2.315, deviation.standard_error, "N = 1e30, t = 2");
}

// Property (6). The printed loads are multiples of 0.025 from a sample of their own; half a span at
// one standard error is about two standard errors of the best argument, so 4 of both samples are
// √2 · 2 half-spans.
TEST(Condense, FindsThePrintedBestLoads) {
  std::vector<double> loads;
  for (int k = 12; k <= 64; ++k) loads.push_back(0.025 * k);
  Condense asked = question({1e6, 1e30, 1e300}, loads, 1000);
  asked.seed = kReferenceSeed;
  asked.signals = {0.4, 0.7, 0.9};
  const Frame frame = condense(asked);
  constexpr double kPrinted[3][3] = {{0.4, 0.725, 1.35}, {0.4, 0.7, 0.925}, {0.4, 0.7, 0.9}};
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t s = 0; s < 3; ++s) {
      const Estimate& best = cell(frame, "best_typical_load", {n, s});
      EXPECT_NEAR(best.mean, kPrinted[n][s],
                  0.026 + 2.0 * std::numbers::sqrt2 * best.standard_error)
          << asked.n[n] << ' ' << asked.signals[s];
    }
  }
}

}  // namespace
}  // namespace dewpoint::experiments
