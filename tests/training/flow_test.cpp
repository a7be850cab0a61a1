// Gradient flow against solutions in closed form, against itself and against what it conserves.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/training/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/flow_system.hpp"
#include "support/test_seed.hpp"
#include "training/flow_cases.hpp"

namespace dewpoint::training {
namespace {

using namespace test_flow;

// A loss of M alone, given by its gradient.
class ValueLoss : public TokenLoss {
 public:
  using Gradient = std::function<void(const Matrix<double>& value, Matrix<double>& slope)>;
  ValueLoss(std::size_t vocabulary, Gradient gradient)
      : vocabulary_(vocabulary), gradient_(std::move(gradient)) {}

  [[nodiscard]] std::size_t vocabulary() const override { return vocabulary_; }
  double slope(std::uint64_t /*step*/, const TokenMaps& at, TokenMaps& slope) const override {
    slope = TokenMaps(vocabulary_);
    gradient_(at.value, slope.value);
    return 0.0;
  }
  void slope_change(const TokenMaps& /*at*/, const TokenMaps& /*along*/,
                    TokenMaps& change) const override {
    change = TokenMaps(vocabulary_);  // right for a linear loss; BDF is asked for no other
  }
  [[nodiscard]] std::vector<double> group_losses(const TokenMaps& /*at*/) const override {
    return {};
  }
  [[nodiscard]] std::vector<double> group_weights() const override { return {}; }

 private:
  std::size_t vocabulary_;
  Gradient gradient_;
};

// L = −c tr M: W0' = c W1ᵀ and W1' = c W0ᵀ, so W0(t) = cosh(ct) W0 + sinh(ct) W1ᵀ, while WQ and WK
// rest. An error made at time s is at most √n (relative max|y(s)| + absolute) long and grows by
// e^{c(t−s)}; |y(s)| ≤ 2 e^{cs} max|y(0)|.
TEST(GradientFlow, FollowsALinearLossAsTheHyperbolicFunctionsDo) {
  constexpr double kRate = 0.5;
  constexpr double kUntil = 10.0;
  const ValueLoss loss(3, [](const Matrix<double>& value, Matrix<double>& slope) {
    for (std::size_t i = 0; i < value.rows(); ++i) slope(i, i) = -kRate;
  });
  const auto start = initial_parameters(3, 5, 1.0, test::seed(), 0);
  const auto size = numbers_of(start);
  const double largest = std::abs(*std::max_element(
      size.begin(), size.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  for (const FlowMethod method : {FlowMethod::adams, FlowMethod::bdf}) {
    const FlowOptions options{.method = method};
    const auto flow = followed(loss, start, options, kUntil);
    const double allowance =
        static_cast<double>(flow->work().steps + 1) * std::sqrt(static_cast<double>(size.size())) *
        std::exp(kRate * kUntil) *
        (2.0 * options.relative_tolerance * largest + options.absolute_tolerance);
    const auto end = flow->parameters();
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(end.embedding(i, k),
                    std::cosh(kRate * kUntil) * start.embedding(i, k) +
                        std::sinh(kRate * kUntil) * start.unembedding(k, i),
                    allowance);
      }
    }
    EXPECT_EQ(end.query(4, 4), start.query(4, 4));
  }
}

// L = (M_00 − c)²/2 from W0 = a e_0 αᵀ, W1 = a α e_0ᵀ with |α| = 1: x = a² = M_00 follows
// x' = 2x(c − x), a logistic curve. The rate of parting is 2c at most, before x reaches c/2; after
// that solutions draw together.
TEST(GradientFlow, FollowsAQuadraticLossAlongALogisticCurve) {
  constexpr double kGoal = 1.5;
  constexpr double kStart = 0.01;
  const ValueLoss loss(2, [](const Matrix<double>& value, Matrix<double>& slope) {
    slope(0, 0) = value(0, 0) - kGoal;
  });
  Parameters<double> start(2, 2);
  start.embedding(0, 0) = start.unembedding(0, 0) = std::sqrt(kStart) * 0.6;
  start.embedding(0, 1) = start.unembedding(1, 0) = std::sqrt(kStart) * 0.8;
  const FlowOptions options{.method = FlowMethod::adams};
  auto flow = gradient_flow(loss, start, options);
  for (const double t : {0.5, 1.0, 2.0, 4.0}) {
    ASSERT_TRUE(flow->advance(t, {}));
    const double grown = kStart * std::exp(2.0 * kGoal * t);
    const double exact = kGoal * grown / (kGoal - kStart + grown);
    const double growth = std::min(grown, kGoal / 2.0) / kStart;
    const double allowance =
        static_cast<double>(flow->work().steps + 1) * std::sqrt(16.0) * growth *
        (options.relative_tolerance * std::sqrt(kGoal) + options.absolute_tolerance);
    EXPECT_NEAR(token_maps(flow->parameters()).value(0, 0), exact, allowance) << t;
  }
}

Parameters<double> descended(const TokenLoss& loss, Parameters<double> at, double until,
                             long steps) {
  TokenMaps slope(loss.vocabulary());
  for (long i = 0; i < steps; ++i) {
    loss.slope(0, token_maps(at), slope);
    const auto gradient = weight_gradient(at, slope);
    for (auto part : {&Parameters<double>::embedding, &Parameters<double>::unembedding,
                      &Parameters<double>::query, &Parameters<double>::key}) {
      for (std::size_t k = 0; k < (at.*part).size(); ++k) {
        (at.*part).data()[k] -= until / static_cast<double>(steps) * (gradient.*part).data()[k];
      }
    }
  }
  return at;
}

Parameters<double> extrapolated(const Parameters<double>& coarse, Parameters<double> fine) {
  for (auto part : {&Parameters<double>::embedding, &Parameters<double>::unembedding,
                    &Parameters<double>::query, &Parameters<double>::key}) {
    for (std::size_t k = 0; k < (fine.*part).size(); ++k) {
      (fine.*part).data()[k] += (fine.*part).data()[k] - (coarse.*part).data()[k];
    }
  }
  return fine;
}

// Descent with step h differs from the flow by C h + D h² + ...; extrapolation from h and h/2
// removes C h, and the rest falls fourfold when h is halved, up to a relative error of order h.
TEST(GradientFlow, IsTheLimitOfGradientDescent) {
  constexpr double kUntil = 8.0;
  const auto loss = population();
  const auto start = initial_parameters(4, 3, 0.3, test::seed(), 0);
  const auto flow =
      followed(*loss, start, {.relative_tolerance = 1e-11, .absolute_tolerance = 1e-13}, kUntil);
  const auto first = descended(*loss, start, kUntil, 400);
  const auto second = descended(*loss, start, kUntil, 800);
  const auto third = descended(*loss, start, kUntil, 1600);
  const double error = largest_difference(flow->parameters(), extrapolated(first, second));
  const double halved = largest_difference(flow->parameters(), extrapolated(second, third));
  EXPECT_LT(error, 0.1 * largest_difference(flow->parameters(), second));
  EXPECT_NEAR(error / halved, 4.0, 0.2);
}

TEST(FlowSystem, SumsUpAnEmbeddingByItsLargestSingularValue) {
  const auto loss = population();
  FlowSystem system(*loss, 2);
  Parameters<double> weights(4, 2);
  std::vector<double> y(system.size());
  system.to_vector(weights, y);
  EXPECT_EQ(system.rank_one_fraction(y), 0.0);
  weights.embedding(1, 0) = 3.0;
  weights.embedding(2, 1) = -4.0;
  system.to_vector(weights, y);
  EXPECT_NEAR(system.rank_one_fraction(y), 16.0 / 25.0, 1e-15);
  EXPECT_EQ(numbers_of(system.to_parameters(y)), y);
}

// Differences over h and h/2, extrapolated: truncation of order h⁴ = 1e-12, rounding of order
// ε/h = 2e-13 of the values, which are of order 1, as are the derivatives.
TEST(FlowSystem, DifferentiatesItsSignalsAlongTheFlowAndItsSlope) {
  constexpr double kStep = 1e-3;
  constexpr double kAllowance = 1e-10;
  const auto loss = population();
  FlowSystem system(*loss, 5);
  const auto at = initial_parameters(4, 5, 0.5, test::seed(), 1);
  const auto y = numbers_of(at);
  std::vector<double> slope(y.size());
  system.slope(y, slope);
  const auto moved = [&](double step) {
    std::vector<double> point = y;
    for (std::size_t i = 0; i < y.size(); ++i) point[i] += step * slope[i];
    return point;
  };
  const auto rate = [&](double step) {
    return (system.focus(moved(step)) - system.focus(moved(-step))) / (2.0 * step);
  };
  EXPECT_NEAR(system.focus_rate(y), (4.0 * rate(kStep / 2) - rate(kStep)) / 3.0, kAllowance);

  std::vector<double> change(y.size()), ahead(y.size()), behind(y.size()), wide(y.size());
  system.slope_change(y, slope, change);
  const auto difference = [&](double step) {
    system.slope(moved(step), ahead);
    system.slope(moved(-step), behind);
    for (std::size_t i = 0; i < y.size(); ++i) ahead[i] = (ahead[i] - behind[i]) / (2.0 * step);
    return ahead;
  };
  wide = difference(kStep);
  const std::vector<double> narrow = difference(kStep / 2);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(change[i], (4.0 * narrow[i] - wide[i]) / 3.0, kAllowance);
  }
}

// What is conserved says how good the path is: at a relative tolerance of 1e-10 both matrices stay
// within 1e-8 over the whole first cycle and beyond.
TEST(GradientFlow, KeepsTheConservedMatrices) {
  const auto loss = population();
  const FlowOptions options{.relative_tolerance = 1e-10, .absolute_tolerance = 1e-14};
  const auto flow = followed(*loss, small_start(test::seed()), options, 200.0);
  EXPECT_LT(flow->conserved_drift(), 1e-8);
  const auto loose = followed(*loss, small_start(test::seed()),
                              {.relative_tolerance = 1e-5, .absolute_tolerance = 1e-9}, 200.0);
  EXPECT_GT(loose->conserved_drift(), 10.0 * flow->conserved_drift());
}

// The matrices themselves, entry by entry from their definition.
TEST(Conserved, AreTheTwoDifferencesOfProducts) {
  const auto p = initial_parameters(3, 4, 1.0, test::seed(), 2);
  const Conserved matrices = conserved(p);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      double outer = 0.0;
      double inner = 0.0;
      for (std::size_t i = 0; i < 3; ++i) {
        outer += p.embedding(i, a) * p.embedding(i, b) - p.unembedding(a, i) * p.unembedding(b, i);
      }
      for (std::size_t k = 0; k < 4; ++k) {
        outer -= p.query(a, k) * p.query(b, k) + p.key(a, k) * p.key(b, k);
        inner += p.query(k, a) * p.query(k, b) - p.key(k, a) * p.key(k, b);
      }
      // Fourteen products of numbers below 5, each rounded, and as many sums.
      EXPECT_NEAR(matrices.outer(a, b), outer, 14 * 14 * 25 * 2.3e-16);
      EXPECT_NEAR(matrices.inner(a, b), inner, 14 * 14 * 25 * 2.3e-16);
    }
  }
}

// |A − B| ≤ |A − A'| + |A' − B'| + |B' − B|, where A' and B' have tolerances a hundred times
// tighter and are, say, ten times better: their difference is a tenth of the rest.
TEST(GradientFlow, IsTheSamePathByAdamsAndByBdf) {
  const auto loss = population();
  const auto start = initial_parameters(4, 6, 1e-2, test::seed(), 0);
  const auto end = [&](FlowMethod method, double tolerance) {
    return followed(*loss, start, {tolerance, 1e-4 * tolerance, method}, 50.0)->parameters();
  };
  const auto adams = end(FlowMethod::adams, 1e-7);
  const auto bdf = end(FlowMethod::bdf, 1e-7);
  const double own_errors = largest_difference(adams, end(FlowMethod::adams, 1e-9)) +
                            largest_difference(bdf, end(FlowMethod::bdf, 1e-9));
  EXPECT_LT(own_errors, 1e-3);
  EXPECT_LT(largest_difference(adams, bdf), 1.2 * own_errors);
}

TEST(GradientFlow, TakesTheSamePathWhereverItIsAsked) {
  const auto loss = population();
  const auto start = small_start(test::seed());
  const auto once = followed(*loss, start, {}, 90.0);
  auto often = gradient_flow(*loss, start, {});
  for (int i = 1; i <= 900; ++i) ASSERT_TRUE(often->advance(0.1 * i, {}));
  EXPECT_EQ(numbers_of(once->parameters()), numbers_of(often->parameters()));
  EXPECT_EQ(once->work().evaluations, often->work().evaluations);
  EXPECT_NEAR(*once->events().focus_peak, *often->events().focus_peak, 1e-9);
}

TEST(GradientFlow, ExchangesAdamsForBdfAfterTheFirstCycle) {
  const auto loss = population();
  const auto start = small_start(test::seed());
  const auto usual = followed(*loss, start, {}, 90.0);
  EXPECT_EQ(usual->work().exchanged, std::ceil(usual->events().half_dilution.value()));
  EXPECT_GT(usual->work().hessian_products, 0);
  const auto early = followed(*loss, start, {.adams_until = 20.0}, 30.0);
  EXPECT_EQ(early->work().exchanged, 20.0);
  const auto never = followed(*loss, start, {.method = FlowMethod::adams}, 90.0);
  EXPECT_FALSE(never->work().exchanged);
  EXPECT_EQ(never->work().hessian_products, 0);
}

// The restored flow begins with short steps, so it makes errors of its own. Early errors are
// relative to small weights and grow with them, so all that either flow makes is at most about the
// number of steps times the tolerance times the largest weight.
TEST(GradientFlow, GoesOnFromASavedState) {
  const auto loss = population();
  const auto start = small_start(test::seed());
  for (const double saved_at : {30.0, 64.0, 100.0}) {
    const auto saved = followed(*loss, start, {}, saved_at);
    const auto bytes = saved->state();
    auto restored = gradient_flow(*loss, small_start(test::seed(), 7), {});
    restored->restore(bytes);
    EXPECT_EQ(restored->time(), saved_at);
    EXPECT_EQ(restored->state(), bytes);
    EXPECT_EQ(restored->conserved_drift(), saved->conserved_drift());
    ASSERT_TRUE(restored->advance(160.0, {}));

    const auto straight = followed(*loss, start, {}, 160.0);
    const auto weights = numbers_of(straight->parameters());
    const double allowance = static_cast<double>(straight->work().steps + restored->work().steps) *
                             FlowOptions{}.relative_tolerance *
                             *std::max_element(weights.begin(), weights.end());
    EXPECT_LT(largest_difference(restored->parameters(), straight->parameters()), allowance);
    const auto expected = moments(straight->events());
    const auto found = moments(restored->events());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-3);
    EXPECT_EQ(restored->work().exchanged, straight->work().exchanged);
  }
}

void expect_malformed(GradientFlow& flow, std::span<const std::byte> bytes) {
  try {
    flow.restore(bytes);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::malformed_file);
  }
}

TEST(GradientFlow, RefusesTheStateOfSomethingElse) {
  const auto loss = population();
  auto flow = gradient_flow(*loss, small_start(test::seed()), {});
  auto bytes = flow->state();
  expect_malformed(*flow, {});
  expect_malformed(*flow, std::span(bytes).first(bytes.size() - 1));
  expect_malformed(*flow, gradient_flow(*loss, initial_parameters(4, 8, 1e-3, 1, 0), {})->state());
  bytes[7] ^= std::byte{1};
  expect_malformed(*flow, bytes);
  EXPECT_TRUE(flow->advance(1.0, {}));
}

TEST(GradientFlow, StopsOnRequestAndCanGoOn) {
  const auto loss = population();
  auto flow = gradient_flow(*loss, small_start(test::seed()), {});
  ASSERT_TRUE(flow->advance(20.0, {}));
  std::stop_source source;
  source.request_stop();
  try {
    (void)flow->advance(80.0, {1, source.get_token(), {}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::stopped);
  }
  EXPECT_GE(flow->time(), 20.0);
  EXPECT_LT(flow->time(), 80.0);
  ASSERT_TRUE(flow->advance(80.0, {}));
  const auto straight = followed(*loss, small_start(test::seed()), {}, 80.0);
  EXPECT_NEAR(flow->events().focus_peak.value(), straight->events().focus_peak.value(), 1e-3);
}

TEST(GradientFlow, SaysWhenTheWeightsAreNoLongerFinite) {
  const auto good = population();
  auto start = small_start(test::seed());
  start.query(3, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(gradient_flow(*good, start, {})->advance(1.0, {}));

  // M_00 grows like e^t / 100 until the slope is lost at M_00 = 1, t = log 100.
  const ValueLoss lost(2, [](const Matrix<double>& value, Matrix<double>& slope) {
    slope(0, 0) = value(0, 0) < 1.0 ? -0.5 : std::numeric_limits<double>::quiet_NaN();
  });
  Parameters<double> balanced(2, 1);
  balanced.embedding(0, 0) = balanced.unembedding(0, 0) = 0.1;
  auto flow = gradient_flow(lost, balanced, {});
  EXPECT_FALSE(flow->advance(10.0, {}));
  EXPECT_NEAR(flow->time(), std::log(100.0), 1e-3);
  EXPECT_FALSE(std::isnan(flow->parameters().embedding(0, 0)));
}

TEST(GradientFlow, RefusesTolerancesThatAreNone) {
  const auto loss = population();
  for (const double tolerance : {0.0, -1e-8, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)gradient_flow(*loss, small_start(1), {.relative_tolerance = tolerance}),
                 Error);
  }
}

}  // namespace
}  // namespace dewpoint::training
