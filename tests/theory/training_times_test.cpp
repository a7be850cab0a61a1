// Times of the first stages: closed forms, an equation solved exactly, and the population flow.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/training_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/ode.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "dewpoint/theory/training_origin.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/population_loss.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

using test::Population;
using test::Weights;

struct Groups {
  double top;
  std::size_t tokens;
};
const std::vector<Groups> kGroups{{0.6, 3}, {0.75, 4}, {0.5, 10}, {0.9, 2}};

double c_pi(const Groups& groups) {
  const double d = static_cast<double>(groups.tokens);
  return ray_of(two_group_law(groups.top, groups.tokens)).length * std::sqrt(d / (d - 1.0));
}

// ---- any saddle ------------------------------------------------------------------------------

/// x' = μx + x² from ε, solved: εe^{μt}/(1 − ε(e^{μt} − 1)/μ).
double bernoulli(double rate, double start, double time) {
  const double growth = rate > 0.0 ? std::expm1(rate * time) / rate : time;
  return start * std::exp(rate * time) / (1.0 - start * growth);
}

// Properties (1) and (2). The curvature of x² is 1 everywhere; the radius is a free choice.
TEST(LinearError, BoundsAnEquationSolvedExactly) {
  for (const double rate : {0.0, 0.3, 1.0}) {
    const Saddle saddle{rate, 1.0, 0.5};
    for (const double start : {1e-5, 1e-3, 1e-2}) {
      const double window = linear_window(saddle, start);
      for (const double share : {0.1, 0.5, 0.9, 1.0}) {
        const double time = share * window;
        const double error = bernoulli(rate, start, time) - start * std::exp(rate * time);
        EXPECT_GT(error, 0.0);
        EXPECT_LE(error, linear_error(saddle, start, time)) << rate << ' ' << start;
      }
    }
  }
}

TEST(LinearError, GrowsWithTimeAtASaddleWithoutGrowth) {
  const Saddle flat{0.0, 2.0, 1.0};
  EXPECT_DOUBLE_EQ(linear_error(flat, 1e-3, 50.0), 4.0 * 2.0 * 1e-6 * 50.0);
}

// Property (1) of the window; log1p leaves a relative rest of 4εL/μ.
TEST(LinearWindow, GrowsByTheSameTimeForEveryTenfoldSmallerStart) {
  for (const Saddle& saddle : {Saddle{0.4, 1.0, 1e-3}, Saddle{0.4, 10.0, 1.0}}) {
    const double gain = linear_window(saddle, 1e-9) - linear_window(saddle, 1e-8);
    EXPECT_NEAR(gain, std::log(10.0) / 0.4, 4.0 * 1e-8 * 10.0 / 0.4 / 0.4 + 1e-13);
  }
}

// ---- to the second critical point ------------------------------------------------------------

TEST(CriticalProduct, PredictsTheLaw) {
  for (const Groups& g : kGroups) {
    const double z = critical_product(g.top, g.tokens);
    const double others = static_cast<double>(g.tokens - 1) * std::exp(-c_pi(g) * z);
    EXPECT_NEAR(1.0 / (1.0 + others), g.top, 1e-15);
  }
}

/// ∫ dz/(zG) by Simpson's rule in log z on a fine grid, straight from the definition of G.
double direct_integral(const Groups& g, double from, double to) {
  constexpr int kPanels = 200000;
  const double d = static_cast<double>(g.tokens), step = std::log(to / from) / kPanels;
  double sum = 0.0;
  for (int k = 0; k <= kPanels; ++k) {
    const double z = from * std::exp(step * k);
    const double gap = g.top - 1.0 / (1.0 + (d - 1.0) * std::exp(-c_pi(g) * z));
    sum += (k == 0 || k == kPanels ? 1.0 : k % 2 == 1 ? 4.0 : 2.0) / gap;
  }
  return sum * step / 3.0;
}

// Simpson's truncation is (step⁴/180) f''' with step 7e-5 and f ≈ 3/x at a distance x > 0.1 from
// the pole: below 1e-13. Summing 2e5 terms rounds by 1e-12 at most.
TEST(CondensationIntegral, IsTheIntegralOfItsDefinition) {
  for (const Groups& g : kGroups) {
    const double d = static_cast<double>(g.tokens), delta = 0.1;
    const double end = std::log((d - 1.0) * (g.top - delta) / (1.0 - g.top + delta)) / c_pi(g);
    const double direct = direct_integral(g, 1e-6, end);
    EXPECT_NEAR(condensation_integral(g.top, g.tokens, 1e-6, delta), direct,
                kCondensationError * direct);
    EXPECT_DOUBLE_EQ(condensation_time(g.top, g.tokens, 1e-6, delta),
                     condensation_integral(g.top, g.tokens, 1e-6, delta) / (2.0 * c_pi(g)));
  }
}

// Property (1). The correction is linear in z_0.
TEST(CondensationIntegral, GrowsAsTheLogarithmOfTheStart) {
  for (const Groups& g : kGroups) {
    const double slope = (condensation_integral(g.top, g.tokens, 1e-12, 0.01) -
                          condensation_integral(g.top, g.tokens, 1e-11, 0.01)) /
                         std::log(10.0);
    const double limit = 1.0 / (g.top - 1.0 / static_cast<double>(g.tokens));
    EXPECT_NEAR(slope, limit, 1e-10 * limit);
  }
}

// Properties (1) and (2) of the constant. The approach is linear in z_0 and in δ log δ.
TEST(CondensationConstant, IsTheLimitOfWhatTheLogarithmsLeave) {
  for (const Groups& g : kGroups) {
    const double z = 1e-10, delta = 1e-10;
    const double rest = condensation_integral(g.top, g.tokens, z, delta) -
                        condensation_logarithms(g.top, g.tokens, z, delta);
    EXPECT_NEAR(condensation_constant(g.top, g.tokens), rest, 1e-7);
  }
  EXPECT_NEAR(condensation_constant(0.75, 4), -1.1774, 0.5e-4);
  EXPECT_NEAR(condensation_constant(0.6, 3), -4.292, 0.5e-3);
}

// Both properties: n drops out, and the rate is the eigenvalue of the second critical point.
TEST(ArrivalTime, IsTheSumOfThePublishedTimes) {
  const double size = 1e-5, delta = 1e-3;
  for (const Groups& g : kGroups) {
    const std::vector<double> law = two_group_law(g.top, g.tokens);
    const double d = static_cast<double>(g.tokens), theta = critical_product(g.top, g.tokens);
    for (const double n : {4.0, 9.0}) {
      const double second = (2.0 / (n * (g.top - 1.0 / d)) * std::log(1.0 / size) +
                             std::log(1.0 / delta) / (theta * c_pi(g) * g.top * (1.0 - g.top))) /
                            (2.0 * c_pi(g));
      EXPECT_NEAR(arrival_time(g.top, g.tokens, size, delta), plateau_time(law, size, n) + second,
                  1e-11);
    }
    EXPECT_NEAR(arrival_time(g.top, g.tokens, size, delta),
                std::log(1.0 / size) / origin_growth(law).rate -
                    std::log(1.0 / delta) / two_group_decay(g.top, g.tokens).along,
                1e-11);
  }
}

// ---- the population flow ---------------------------------------------------------------------

/// Times at which the flow from one draw of weights, scaled by ε, passes G = 0.1 and then
/// max|Φ| = 0.05; and the start's amplitude.
struct Passage {
  double predicted_law, focused, amplitude;
};
Matrix<double> scores(const Weights<double>& w) {
  return test::times(test::times(w.w0, w.wq), test::transposed(test::times(w.w0, w.wk)));
}
Passage passage(const Groups& groups, double size, const std::string& name) {
  const std::vector<double> law = two_group_law(groups.top, groups.tokens);
  const Population data(law, persistent_chain(law, 0.8));
  const Weights<double> start = test::random_weights(groups.tokens, 2, size, name);
  Weights<double> w = start;
  OdeProblem problem;
  problem.slope = test::flow_slope(data, start);
  problem.roots = [&](double, std::span<const double> y, std::span<double> values) {
    w.assign(y);
    const auto prediction = test::population_state(data, w).prediction;
    values[0] = groups.top - inner(data.law, test::column(prediction, 0)) - 0.1;
    values[1] = test::largest(scores(w)) - 0.05;
  };
  problem.root_directions = {-1, 1};
  OdeSolver solver(problem, 0.0, start.flat(),
                   {.relative_tolerance = 1e-11, .absolute_tolerance = 1e-16});
  Passage times{};
  solver.advance(1e4);
  times.predicted_law = solver.time();
  solver.advance(1e4);
  times.focused = solver.time();

  times.amplitude = condensate(law, start.w0, start.w1).amplitude;
  return times;
}

double squared_length(const Groups& groups, double size, const std::string& name) {
  const double whole = test::length(test::random_weights(groups.tokens, 2, size, name).flat());
  return whole * whole;
}

// Property (2) of the integral: the whole time, not only its growth with log 1/ε. The loss is even
// in the weights, so what does not condense changes the growth rate of z by its squared length, and
// the time T by T times that. The integration adds 1e-11 of T.
TEST(CondensationTime, IsThatOfThePopulationFlow) {
  const std::string name = "CondensationTime";
  for (const Groups& g : {Groups{0.6, 3}, Groups{0.75, 4}}) {
    for (const double size : {1e-3, 1e-4}) {
      const Passage measured = passage(g, size, name);
      const double predicted =
          condensation_time(g.top, g.tokens, measured.amplitude * measured.amplitude, 0.1);
      const double tolerance = predicted * (squared_length(g, size, name) + 1e-9);
      EXPECT_NEAR(measured.predicted_law, predicted, tolerance) << size;
    }
  }
}

// Waiting for attention takes (1/c) log 1/ε. Directions in which nothing moves keep their N(0, ε²)
// displacement through the wait T; one of them is that of κ₁, and c ∝ κ₁⁴.
TEST(AttentionTime, IsThatOfThePopulationFlow) {
  const std::string name = "AttentionTime";
  const double coarse_size = 1e-5, fine_size = 1e-6;
  for (const Groups& g : {Groups{0.6, 3}, Groups{0.75, 4}}) {
    const std::vector<double> law = two_group_law(g.top, g.tokens);
    const double rate = attention_rate(law, persistent_chain(law, 0.8));
    const Passage coarse = passage(g, coarse_size, name), fine = passage(g, fine_size, name);
    const double longer =
        (fine.focused - fine.predicted_law) - (coarse.focused - coarse.predicted_law);
    const double tolerance =
        4.0 / second_critical_point(law).amplitude * coarse_size * test::kSigmas * coarse.focused;
    EXPECT_NEAR(longer, attention_time(rate, fine_size, coarse_size), tolerance);
  }
}

}  // namespace
}  // namespace dewpoint::theory
