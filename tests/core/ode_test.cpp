// What the solver promises, against solutions in closed form.
//
// Tolerances. CVODE keeps the estimated error of a step, divided by relative |y| + absolute and
// taken as a root mean square over the components, below 1. Where the flow does not let two
// solutions part, the errors of the steps only add: `allowance` is that sum.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/core/ode.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

using std::numbers::pi;
using Numbers = std::vector<double>;

void decay(double /*t*/, std::span<const double> y, std::span<double> slope) { slope[0] = -y[0]; }

void rotate(double /*t*/, std::span<const double> y, std::span<double> slope) {
  slope[0] = y[1];
  slope[1] = -y[0];
}

// For components of size up to 1; one more for the interpolation at the end.
double allowance(const OdeSolver& solver, const OdeOptions& options) {
  const double per_component = options.relative_tolerance + options.absolute_tolerance;
  return static_cast<double>(solver.steps() + 1) * per_component *
         std::sqrt(static_cast<double>(solver.value().size()));
}

constexpr std::array kMethods = {OdeMethod::adams, OdeMethod::bdf};

TEST(OdeSolver, FollowsAnExponentialDecay) {
  for (const OdeMethod method : kMethods) {
    const OdeOptions options{.method = method};
    OdeSolver solver({.slope = decay}, 0.0, Numbers{1.0}, options);
    for (const double t : {0.5, 1.0, 5.0}) {
      EXPECT_TRUE(solver.advance(t).empty());
      EXPECT_EQ(solver.time(), t);
      EXPECT_NEAR(solver.value()[0], std::exp(-t), allowance(solver, options));
    }
    EXPECT_GT(solver.evaluations(), solver.steps());
  }
}

// A rotation keeps distances, so the energy is as good as the solution.
TEST(OdeSolver, KeepsTheEnergyOfAnOscillator) {
  for (const double tolerance : {1e-6, 1e-9}) {
    const OdeOptions options{.relative_tolerance = tolerance, .absolute_tolerance = tolerance};
    OdeSolver solver({.slope = rotate}, 0.0, Numbers{1.0, 0.0}, options);
    EXPECT_TRUE(solver.advance(20.0 * pi).empty());
    const auto y = solver.value();
    EXPECT_NEAR((y[0] * y[0] + y[1] * y[1]) / 2.0, 0.5, allowance(solver, options));
    EXPECT_NEAR(y[0], 1.0, allowance(solver, options));
  }
}

// Three reactions with rates from 0.04 to 3e7. The values at t = 1e11 are those of the test set for
// initial value problem solvers (Mazzia and Magherini, problem ROBER), to its 16 digits. Solutions
// with the same total mass draw together, so the allowance holds, relative to each component.
TEST(OdeSolver, SolvesRobertsonsReactionsOverElevenDecades) {
  const auto reactions = [](double, std::span<const double> y, std::span<double> slope) {
    slope[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    slope[2] = 3e7 * y[1] * y[1];
    slope[1] = -slope[0] - slope[2];
  };
  const OdeOptions options{
      .method = OdeMethod::bdf, .relative_tolerance = 1e-9, .absolute_tolerance = 1e-22};
  OdeSolver solver({.slope = reactions}, 0.0, Numbers{1.0, 0.0, 0.0}, options);
  EXPECT_TRUE(solver.advance(1e11).empty());
  const std::array published = {0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(solver.value()[i] / published[i], 1.0, allowance(solver, options)) << i;
  }
  EXPECT_LT(solver.steps(), 100'000);
}

// y' = −k (y − cos t) − sin t has the solution cos t, and others fall on it at rate k = 1e6.
void stiff(double t, std::span<const double> y, std::span<double> slope) {
  slope[0] = -1e6 * (y[0] - std::cos(t)) - std::sin(t);
  slope[1] = -y[1];
}

void stiff_jacobian(double, std::span<const double>, std::span<const double> v,
                    std::span<double> product) {
  product[0] = -1e6 * v[0];
  product[1] = -v[1];
}

TEST(OdeSolver, UsesTheCallersJacobianProductsForTheSameAnswer) {
  const OdeOptions options{.method = OdeMethod::bdf};
  const Numbers start = {1.0, 1.0};
  OdeSolver by_differences({.slope = stiff}, 0.0, start, options);
  OdeSolver by_products({.slope = stiff, .jacobian_product = stiff_jacobian}, 0.0, start, options);
  for (OdeSolver* solver : {&by_differences, &by_products}) {
    EXPECT_TRUE(solver->advance(10.0).empty());
    EXPECT_NEAR(solver->value()[0], std::cos(10.0), allowance(*solver, options));
    EXPECT_NEAR(solver->value()[1], std::exp(-10.0), allowance(*solver, options));
    EXPECT_LT(solver->steps(), 10'000);  // Euler's method would need 5e6 to stay bounded
  }
  EXPECT_EQ(by_differences.jacobian_products(), 0);
  EXPECT_GT(by_products.jacobian_products(), by_products.steps());
  EXPECT_LT(by_products.evaluations(), by_differences.evaluations());
}

// cos t and sin t: every root function has slope 1 at its roots, so a root is as good as y there.
TEST(OdeSolver, FindsRootsInTheDirectionAskedFor) {
  const OdeOptions options;
  const OdeRoots first_twice = [](double, std::span<const double> y, std::span<double> values) {
    values[0] = values[1] = y[0];
    values[2] = y[1];
  };
  OdeSolver solver({.slope = rotate, .roots = first_twice, .root_directions = {-1, +1, 0}}, 0.0,
                   Numbers{std::cos(0.25), -std::sin(0.25)}, options);
  struct Root {
    double phase;
    std::size_t which;
  };
  for (const Root expected :
       {Root{0.5 * pi, 0}, Root{pi, 2}, Root{1.5 * pi, 1}, Root{2.0 * pi, 2}, Root{2.5 * pi, 0}}) {
    EXPECT_EQ(solver.advance(9.0), std::vector{expected.which});
    EXPECT_NEAR(solver.time(), expected.phase - 0.25, allowance(solver, options));
  }
  EXPECT_TRUE(solver.advance(9.0).empty());
  EXPECT_EQ(solver.time(), 9.0);
}

TEST(OdeSolver, DoesNotReportARootBeyondTheTimeAskedFor) {
  const OdeRoots root = [](double, std::span<const double> y, std::span<double> values) {
    values[0] = y[0];
  };
  OdeSolver solver({.slope = rotate, .roots = root, .root_directions = {0}}, 0.0, Numbers{1.0, 0.0},
                   {});
  EXPECT_TRUE(solver.advance(0.5 * pi - 1e-5).empty());
  EXPECT_EQ(solver.advance(0.5 * pi + 1e-5), std::vector<std::size_t>{0});
}

TEST(OdeSolver, TakesTheSameStepsWhereverItIsAsked) {
  for (const OdeMethod method : kMethods) {
    const OdeOptions options{.method = method, .first_step = 1e-5};
    OdeSolver seldom({.slope = rotate}, 0.0, Numbers{1.0, 0.0}, options);
    OdeSolver often({.slope = rotate}, 0.0, Numbers{1.0, 0.0}, options);
    EXPECT_TRUE(seldom.advance(10.0).empty());
    for (int i = 1; i <= 1000; ++i) EXPECT_TRUE(often.advance(0.01 * i).empty());
    EXPECT_EQ(seldom.value()[0], often.value()[0]);
    EXPECT_EQ(seldom.evaluations(), often.evaluations());
  }
}

TEST(OdeSolver, GoesOnFromAnyTimeAndValue) {
  const OdeOptions options;
  OdeSolver first({.slope = rotate}, 0.0, Numbers{1.0, 0.0}, options);
  EXPECT_TRUE(first.advance(3.0).empty());
  OdeSolver second({.slope = rotate}, first.time(), first.value(), options);
  EXPECT_EQ(second.time(), 3.0);
  EXPECT_TRUE(second.advance(3.0).empty());
  EXPECT_EQ(second.value()[0], first.value()[0]);
  EXPECT_TRUE(second.advance(7.0).empty());
  EXPECT_NEAR(second.value()[0], std::cos(7.0),
              allowance(first, options) + allowance(second, options));
}

// What is left is a value that belongs to its time, from which another solver could go on.
TEST(OdeSolver, PassesOnAnExceptionOfTheCaller) {
  const auto late = [](double t) {
    if (t > 1.0) throw std::domain_error("beyond 1");
  };
  const OdeSlope slope = [&](double t, std::span<const double> y, std::span<double> out) {
    late(t);
    stiff(t, y, out);
  };
  const OdeJacobianProduct product = [&](double t, std::span<const double> y,
                                         std::span<const double> v, std::span<double> out) {
    late(t);
    stiff_jacobian(t, y, v, out);
  };
  const OdeRoots roots = [&](double t, std::span<const double> y, std::span<double> values) {
    late(t);
    values[0] = y[1];
  };
  const OdeOptions options{.method = OdeMethod::bdf};
  for (const OdeProblem& problem :
       {OdeProblem{.slope = slope}, OdeProblem{.slope = stiff, .jacobian_product = product},
        OdeProblem{.slope = stiff, .roots = roots, .root_directions = {0}}}) {
    OdeSolver solver(problem, 0.0, Numbers{1.0, 1.0}, options);
    EXPECT_THROW(solver.advance(5.0), std::domain_error);
    EXPECT_LE(solver.time(), 1.0);
    EXPECT_NEAR(solver.value()[1], std::exp(-solver.time()), allowance(solver, options));
  }
}

// One line with the time and the reason, and not a word on the terminal.
void expect_refusal(OdeSolver& solver, double target, const std::string& reason) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  std::string message;
  try {
    solver.advance(target);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    message = error.what();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_NE(message.find(reason), std::string::npos) << message;
  EXPECT_NE(message.find("t = "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(OdeSolver, SaysSoWhenTolerancesAreImpossible) {
  OdeSolver below_rounding({.slope = rotate}, 0.0, Numbers{1.0, 0.0},
                           {.relative_tolerance = 1e-30, .absolute_tolerance = 1e-30});
  expect_refusal(below_rounding, 1.0, "below rounding");
  OdeSolver few_steps({.slope = rotate}, 0.0, Numbers{1.0, 0.0}, {.most_steps = 10});
  expect_refusal(few_steps, 100.0, "too many steps");
}

// y' = y² from 1 is 1/(1 − t): no solver passes t = 1. An error e of y made on the way moves the
// end by e/y², so by no more than the allowance.
TEST(OdeSolver, StopsBeforeASolutionEnds) {
  const OdeSlope square = [](double, std::span<const double> y, std::span<double> slope) {
    slope[0] = y[0] * y[0];
  };
  OdeSolver solver({.slope = square}, 0.0, Numbers{1.0}, {});
  expect_refusal(solver, 2.0, "too short to move t");
  EXPECT_NEAR(solver.time(), 1.0, allowance(solver, {}));
  EXPECT_TRUE(std::isfinite(solver.value()[0]));
}

// y' = √(1 − t) is not a number beyond t = 1; its solution is (2/3)(1 − (1 − t)^1.5).
TEST(OdeSolver, StaysWhereTheSlopeIsFinite) {
  const OdeSlope root = [](double t, std::span<const double>, std::span<double> slope) {
    slope[0] = std::sqrt(1.0 - t);
  };
  OdeSolver solver({.slope = root}, 0.0, Numbers{0.0}, {});
  EXPECT_THROW(solver.advance(2.0), Error);
  EXPECT_GT(solver.time(), 0.5);
  EXPECT_LE(solver.time(), 1.0);
  EXPECT_NEAR(solver.value()[0], 2.0 / 3.0 * (1.0 - std::pow(1.0 - solver.time(), 1.5)),
              allowance(solver, {}));
  OdeSolver outside({.slope = root}, 1.5, Numbers{0.0}, {});
  expect_refusal(outside, 2.0, "not finite");
  EXPECT_EQ(outside.time(), 1.5);
}

TEST(OdeSolver, RefusesTolerancesThatAreNone) {
  for (const double tolerance : {0.0, -1e-3, std::nan("")}) {
    EXPECT_THROW(OdeSolver({.slope = decay}, 0.0, Numbers{1.0}, {.relative_tolerance = tolerance}),
                 Error);
    EXPECT_THROW(OdeSolver({.slope = decay}, 0.0, Numbers{1.0}, {.absolute_tolerance = tolerance}),
                 Error);
  }
}

}  // namespace
}  // namespace dewpoint
