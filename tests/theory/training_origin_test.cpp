// The origin: printed values, the spectrum of the whole Hessian, and the population flow leaving
// it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/training_origin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/ode.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "support/dense_algebra.hpp"
#include "support/population_loss.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

using test::length;
using test::Population;
using test::Weights;

const std::vector<double> kExperiment{0.75, 0.19, 0.05, 0.01};
const std::vector<double> kDyadic{8.0 / 15, 4.0 / 15, 2.0 / 15, 1.0 / 15};

/// The population flow from `start` to time t, or to the time at which ‖W0‖ reaches `norm`.
Weights<double> flowed(const Population& data, const Weights<double>& start, double time,
                       double norm = 1e300) {
  Weights<double> w = start;
  OdeProblem problem;
  problem.slope = test::flow_slope(data, start);
  problem.roots = [&](double, std::span<const double> y, std::span<double> value) {
    w.assign(y);
    value[0] = length(w.w0) - norm;
  };
  problem.root_directions = {1};
  OdeSolver solver(problem, 0.0, start.flat(),
                   {.relative_tolerance = 1e-12, .absolute_tolerance = 1e-16});
  solver.advance(time);
  w.assign(solver.value());
  return w;
}

// Ten printed digits.
TEST(OriginGrowth, ReproducesPrintedRates) {
  EXPECT_NEAR(origin_growth(kExperiment).rate, 0.4595012949, 5e-11);
  EXPECT_NEAR(origin_growth(kDyadic).rate, 0.2197079993, 5e-11);
  EXPECT_NEAR(origin_growth(two_group_law(0.6, 3)).rate, 0.2166410241, 5e-11);
  EXPECT_NEAR(origin_growth(two_group_law(0.75, 4)).rate, 0.4409585518, 5e-11);
}

// Properties (1) and (2).
TEST(OriginGrowth, HasTheClosedFormsOfTheHeader) {
  for (const std::size_t d : {2, 3, 7, 50}) {
    const double top = 0.6, n = static_cast<double>(d);
    const std::vector<double> law = two_group_law(top, d);
    const OriginGrowth growth = origin_growth(law);
    double squares = 0.0;
    for (const double p : law) squares += p * p;
    const double away = std::sqrt(squares - 1.0 / n);
    EXPECT_NEAR(growth.rate, std::sqrt(squares * n / (n - 1.0)) * (top - 1.0 / n),
                kOriginGrowthError / away);
    EXPECT_NEAR(growth.rate * growth.rate, squares * (squares - 1.0 / n), 2 * kOriginGrowthError);
  }
}

TEST(OriginGrowth, OfTheUniformLawIsNothing) {
  for (const std::size_t d : {2, 3, 10, 255}) {
    const std::vector<double> law(d, 1.0 / static_cast<double>(d));
    const OriginGrowth growth = origin_growth(law);
    EXPECT_EQ(growth.rate, 0.0);
    for (const double u : growth.output_direction) EXPECT_EQ(u, 0.0);
  }
}

// Property (3). With W0 = 0 the gradient by W0 is (∂L/∂M) W1ᵀ, so W1 = I shows ∂L/∂M.
TEST(OriginGrowth, IsTheSizeOfTheGradientByM) {
  const Population data(kExperiment, persistent_chain(kExperiment, 0.8));
  Weights<double> w(4, 4);
  for (std::size_t i = 0; i < 4; ++i) w.w1(i, i) = 1.0;
  const Matrix<double> by_m = test::population_gradient(data, w).w0;
  const OriginGrowth growth = origin_growth(kExperiment);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const double expected =
          -growth.rate * growth.embedding_direction[i] * growth.output_direction[j];
      EXPECT_NEAR(by_m(i, j), expected, 1e-15);
    }
  }
}

// Both properties. A symmetric eigenvalue is found within n units in the last place of the norm.
TEST(OriginSpectrum, IsThatOfTheWholeHessian) {
  for (const auto& [law, width] : {std::pair{kExperiment, 2UL}, {two_group_law(0.6, 3), 4UL}}) {
    const Population data(law, persistent_chain(law, 0.8));
    const Weights<double> zero(data.law.size(), width);
    const std::vector<double> found = symmetric_eigenvalues(test::flow_jacobian(data, zero));
    std::vector<double> expected;
    for (const auto& group : origin_spectrum(law, width)) {
      expected.insert(expected.end(), group.multiplicity, group.value);
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(expected.size(), zero.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(found[k], expected[k], 1e-16 * static_cast<double>(zero.size()));
    }
  }
}

/// ‖W0/‖W0‖ − qα₁ᵀ‖ when ‖W0‖ has grown to 1/5, from one draw of weights scaled by ε.
double distance_from_condensate(double size) {
  const std::vector<double> law = kExperiment;
  const Population data(law, persistent_chain(law, 0.8));
  const Weights<double> start = test::random_weights(4, 3, size, "Condensate/Flow");
  const Condensate condensed = condensate(law, start.w0, start.w1);
  const OriginGrowth growth = origin_growth(law);
  Matrix<double> w = flowed(data, start, 200.0, 0.2).w0;
  const double size_reached = length(w);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      w(i, k) = w(i, k) / size_reached - growth.embedding_direction[i] * condensed.direction[k];
    }
  }
  return length(w);
}

// Property (2). The weights across qα₁ᵀ keep their size ε while ‖W0‖ grows to 1/5, so the distance
// is linear in ε; the next order is smaller by the distance itself.
TEST(Condensate, IsReachedByTheFlowUpToTheSizeOfTheStart) {
  const double coarse = distance_from_condensate(1e-3), fine = distance_from_condensate(1e-4);
  EXPECT_LT(coarse, 1e-3 * std::sqrt(24.0) * test::kSigmas / 0.2);
  EXPECT_NEAR(coarse / fine, 10.0, 10.0 * 3.0 * coarse);
}

TEST(Condensate, HasTheAmplitudeOfTheGrowingHalf) {
  const std::vector<double> law = two_group_law(0.6, 3);
  const OriginGrowth growth = origin_growth(law);
  Matrix<double> w0(3, 2), w1(2, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    w0(i, 0) = 3e-3 * growth.embedding_direction[i];
    w0(i, 1) = 4e-3 * growth.embedding_direction[i];
    w1(0, i) = 3e-3 * growth.output_direction[i];
    w1(1, i) = 4e-3 * growth.output_direction[i];
  }
  const Condensate condensed = condensate(law, w0, w1);
  EXPECT_NEAR(condensed.amplitude, 5e-3, 1e-17);
  EXPECT_NEAR(condensed.direction[0], 0.6, 1e-15);
  EXPECT_NEAR(condensed.direction[1], 0.8, 1e-15);
}

// The loss is even in the weights: halving the start divides the error of the linear flow by 8. The
// next order is quintic, smaller by the square of the weights, here below 30 · 0.01².
TEST(OriginGrowth, LinearFlowIsWrongByACubicTermOnly) {
  const Population data(kExperiment, persistent_chain(kExperiment, 0.8));
  const Matrix<double> jacobian = test::flow_jacobian(data, Weights<double>(4, 2));
  const double time = 3.0;
  const auto error = [&](double size) {
    const Weights<double> start = test::random_weights(4, 2, size, "OriginGrowth/Cubic");
    std::vector<double> difference = flowed(data, start, time).flat();
    const std::vector<double> linear = symmetric_exponential(jacobian, time, start.flat());
    for (std::size_t k = 0; k < linear.size(); ++k) difference[k] -= linear[k];
    return length(difference);
  };
  EXPECT_NEAR(error(1e-2) / error(5e-3), 8.0, 8.0 * 30.0 * 1e-4);
}

}  // namespace
}  // namespace dewpoint::theory
