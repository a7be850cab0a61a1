#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stop_token>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/kernels.hpp"
#include "training/optimiser_cases.hpp"

namespace dewpoint::training {
namespace {

using test::Case;
using test::largest_difference;
using test::loss_at;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

enum class Kind { single_, double_, plain };

std::unique_ptr<Trainer> make(Kind kind, const TokenLoss& loss, const Parameters<double>& start,
                              const AdamOptions& options) {
  if (kind == Kind::plain) return plain_adam(loss, start, options);
  return adam(loss, start, options,
              kind == Kind::single_ ? Precision::single_ : Precision::double_);
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::single_ ? "Single" : info.param == Kind::double_ ? "Double" : "Plain";
}

// An epsilon far above the gradient makes a step Lipschitz: |du/dg| ≤ 1/epsilon, where rounding in
// a gradient near 0 could otherwise turn the sign of a whole step.
constexpr AdamOptions kSmooth{.rate = 1e-3, .epsilon = 0.1};

// How far two runs in double may part in `steps` smooth steps. A gradient entry is a sum of at most
// 2m + d² + d products of products; with the roundings of Φ, M and the exponentials, fewer than
// 2(2m + d² + d) + 100 roundings of ε/2 of a quantity below `scale`. It reaches the weights times
// rate/epsilon; a weight is rounded itself by ε/2 per step, and its moments and quotient by fewer
// than ten more of the step. A difference δ in the weights grows in one step by at most rate
// K/epsilon, K the largest curvature; moments carry differences on, but the sum of their weights is
// (1 − β₁)/(1 − β₁ᵗ)·Σβ₁ⁿ = 1 for the first, and the second only makes the denominator larger or
// smaller by its own relative difference, which doubles the bound.
double parting(const Case& c, int steps) {
  const auto d = static_cast<double>(c.start.vocabulary());
  const auto m = static_cast<double>(c.start.width());
  const double curvature = 2.0 * test::largest_curvature(*c.loss, c.start);
  const double gain = kSmooth.rate / kSmooth.epsilon;
  const double scale = 1.0 + test::largest_entry(c.start) * m;
  const double gradient = (2.0 * (2.0 * m + d * d + d) + 100.0) * kEpsilon / 2.0 * scale;
  const double per_step = 2.0 * gain * gradient + kEpsilon * scale;
  return steps * per_step * std::pow(1.0 + 2.0 * gain * curvature, steps);
}

TEST(FusedAdam, IsPlainAdamToRounding) {
  const RunContext run;
  for (const auto& [d, m] : test::sizes()) {
    const Case c = test::population_case(d, m);
    const double bound = parting(c, 50);
    ASSERT_LT(bound, 1e-9) << "d = " << d << ", m = " << m;
    const auto fused = make(Kind::double_, *c.loss, c.start, kSmooth);
    const auto plain = make(Kind::plain, *c.loss, c.start, kSmooth);
    for (const int step : {1, 2, 50}) {
      ASSERT_TRUE(fused->advance(step, run) && plain->advance(step, run));
      EXPECT_LE(largest_difference(fused->parameters(), plain->parameters()), bound)
          << "d = " << d << ", m = " << m << ", step " << step;
    }
    EXPECT_GT(largest_difference(plain->parameters(), c.start), 1e3 * bound);
  }
}

TEST(FusedAdam, IsTheSameToRoundingOnEveryInstructionSet) {
  const RunContext run;
  const Case c = test::population_case(4, 21);
  const auto plain = make(Kind::plain, *c.loss, c.start, kSmooth);
  ASSERT_TRUE(plain->advance(20, run));
  for (const std::string& target : simd_targets()) {
    force_simd_target(target);
    const auto fused = make(Kind::double_, *c.loss, c.start, kSmooth);
    EXPECT_TRUE(fused->advance(20, run));
    EXPECT_LE(largest_difference(fused->parameters(), plain->parameters()), parting(c, 20))
        << target;
  }
  force_simd_target("");
}

// Rounding of float32 in Φ, M and the slopes is 6e-8 of quantities of order one, and steps carry it
// on. Ten times what was measured at m = 256 and 100,000 sequences, where L differed by 7e-9, 5e-8
// and 1.9e-7 after 50, 100 and 200 steps (one seed, AVX2, 2026-11-16).
constexpr double kEmpiricalSingleDifference = 2e-6;

TEST(FusedAdam, InSinglePrecisionFollowsTheDoubleOne) {
  const RunContext run;
  const Case c = test::sampled_case(64);
  const auto single = make(Kind::single_, *c.loss, c.start, {});
  const auto wide = make(Kind::double_, *c.loss, c.start, {});
  const double first = loss_at(*c.loss, *wide);
  for (const int step : {20, 100, 200}) {
    ASSERT_TRUE(single->advance(step, run) && wide->advance(step, run));
    EXPECT_NEAR(loss_at(*c.loss, *single), loss_at(*c.loss, *wide), kEmpiricalSingleDifference);
  }
  EXPECT_LT(loss_at(*c.loss, *wide), first - 1e-3);
}

class AdamOfEveryKind : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] bool single() const { return GetParam() == Kind::single_; }
  const RunContext run_;
};

// After one step m/(1 − β₁) = g and √(v/(1 − β₂)) = |g|: θ − rate g/(|g| + ε). The difference of
// two gradients, δ, enters as at most rate δ/ε; six roundings of a step, and one of θ, remain.
TEST_P(AdamOfEveryKind, TakesAFirstStepOfRateTimesSign) {
  const Case c = test::population_case(4, 6);
  const AdamOptions options{.rate = 0.01, .epsilon = 1e-3};
  const auto trainer = make(GetParam(), *c.loss, c.start, options);
  const Parameters<double> before = trainer->parameters();
  const Parameters<double> gradient = test::gradient_at(*c.loss, before);
  ASSERT_TRUE(trainer->advance(1, run_));
  const Parameters<double> after = trainer->parameters();
  const double unit = single() ? 0x1p-23 : 0x1p-52;
  const double bound =
      options.rate / options.epsilon * 200.0 * unit + 6.0 * options.rate * unit + unit;
  test::for_each_weight(before, [&](auto entry, std::size_t n) {
    const double g = entry(gradient)[n];
    const double expected = entry(before)[n] - options.rate * g / (std::abs(g) + options.epsilon);
    EXPECT_NEAR(entry(after)[n], expected, bound);
  });
}

// Numbers of a separate program in NumPy: the published formulas on one vector of all weights,
// gradient of the population loss by complex step (h = 1e-30). d = 3, m = 2, π = (.6, .3, .1),
// λ = .5, weight n (W0, W1, WQ, WK row by row) 0.4 sin(1 + 1.7 n), rate 0.01. At ε = 1e-8 the
// smallest first gradient is 2e-4, so that no step turns on its rounding: 1e-15/2e-4 per step in
// double, 1e-6/2e-4 in float of a step of 0.01, times 30 steps.
struct Golden {
  double epsilon;
  int step;
  double loss, embedding, unembedding, query, key;  // L; W0(0,0), W1(0,1), WQ(0,0), WK(1,1)
};
constexpr Golden kGolden[] = {{1e-8, 1, 1.1297744641681493, 0.32658839469910034,
                               0.12098979704960261, 0.21292633159393043, 0.39053099467171154},
                              {1e-8, 2, 1.1255436827147522, 0.31660114638449005, 0.1110209663679977,
                               0.20320667462680447, 0.4004147876090625},
                              {1e-8, 30, 1.0529472403964508, 0.0623554362434099,
                               0.046673550376409176, 0.177051619046327, 0.631766764472147},
                              {0.05, 1, 1.1319046636192645, 0.3293836317391415, 0.13013487646230415,
                               0.2228619591873219, 0.38057126737637714},
                              {0.05, 2, 1.129583810750926, 0.32219842459141274, 0.12929531064744387,
                               0.22279971945416444, 0.38061026169782447},
                              {0.05, 30, 1.0850514753589697, 0.13368111298436702,
                               0.11501183505037595, 0.2217463684610158, 0.3814182369568534}};

TEST_P(AdamOfEveryKind, FollowsTheConventionsOfPyTorch) {
  const Case c = test::sine_case();
  const double bound = single() ? 30 * 0.01 * 1e-6 / 2e-4 : 30 * 0.01 * 1e-15 / 2e-4 + 1e-14;
  for (const Golden& golden : kGolden) {
    const auto trainer =
        make(GetParam(), *c.loss, c.start, {.rate = 0.01, .epsilon = golden.epsilon});
    ASSERT_TRUE(trainer->advance(golden.step, run_));
    const Parameters<double> now = trainer->parameters();
    EXPECT_NEAR(loss_at(*c.loss, *trainer), golden.loss, bound);
    EXPECT_NEAR(now.embedding(0, 0), golden.embedding, bound);
    EXPECT_NEAR(now.unembedding(0, 1), golden.unembedding, bound);
    EXPECT_NEAR(now.query(0, 0), golden.query, bound);
    EXPECT_NEAR(now.key(1, 1), golden.key, bound);
  }
}

TEST_P(AdamOfEveryKind, DoesNotDependOnWhereAdvanceIsCalled) {
  const Case c = test::population_case(3, 10);
  const auto once = make(GetParam(), *c.loss, c.start, {});
  const auto twice = make(GetParam(), *c.loss, c.start, {});
  ASSERT_TRUE(once->advance(20, run_));
  ASSERT_TRUE(twice->advance(10, run_) && twice->advance(10, run_) && twice->advance(20, run_));
  EXPECT_EQ(once->time(), 20.0);
  EXPECT_EQ(once->state(), twice->state());
}

TEST_P(AdamOfEveryKind, GoesOnFromAStateWithTheSameBytes) {
  const Case c = test::population_case(5, 9);
  const auto straight = make(GetParam(), *c.loss, c.start, {});
  ASSERT_TRUE(straight->advance(7, run_));
  const auto saved = straight->state();
  ASSERT_TRUE(straight->advance(15, run_));
  const auto resumed = make(GetParam(), *c.loss, test::population_case(5, 9).start, {});
  ASSERT_TRUE(resumed->advance(3, run_));
  resumed->restore(saved);
  EXPECT_EQ(resumed->time(), 7.0);
  ASSERT_TRUE(resumed->advance(15, run_));
  EXPECT_EQ(straight->state(), resumed->state());
}

TEST_P(AdamOfEveryKind, RefusesBytesThatAreNotItsState) {
  const Case c = test::population_case(3, 4);
  const auto trainer = make(GetParam(), *c.loss, c.start, {});
  ASSERT_TRUE(trainer->advance(2, run_));
  const auto good = trainer->state();
  for (const auto& bad : test::spoiled(good)) {
    EXPECT_TRUE(test::is_malformed([&] { trainer->restore(bad); }));
  }
  const Case other = test::population_case(3, 5);
  EXPECT_TRUE(test::is_malformed(
      [&] { trainer->restore(make(GetParam(), *other.loss, other.start, {})->state()); }));
  for (const Kind kind : {Kind::single_, Kind::double_, Kind::plain}) {
    if (kind == GetParam()) continue;
    EXPECT_TRUE(
        test::is_malformed([&] { trainer->restore(make(kind, *c.loss, c.start, {})->state()); }));
  }
  EXPECT_EQ(trainer->state(), good);
}

// Weights of 1e100 (1e15): Φ, a product of four, is beyond double (float).
TEST_P(AdamOfEveryKind, NoticesThatItDiverges) {
  const Case c = test::population_case(4, 8);
  const auto trainer = make(GetParam(), *c.loss, c.start, {.rate = single() ? 1e15 : 1e100});
  EXPECT_FALSE(trainer->advance(1000, run_));
  EXPECT_EQ(trainer->time(), 1.0);
}

TEST_P(AdamOfEveryKind, StopsOnRequestBetweenSteps) {
  const Case c = test::population_case(3, 4);
  const auto trainer = make(GetParam(), *c.loss, c.start, {});
  ASSERT_TRUE(trainer->advance(5, run_));
  std::stop_source source;
  source.request_stop();
  RunContext stopping;
  stopping.stop = source.get_token();
  EXPECT_TRUE(test::is_stopped([&] { static_cast<void>(trainer->advance(9, stopping)); }));
  EXPECT_EQ(trainer->time(), 5.0);
  ASSERT_TRUE(trainer->advance(9, run_));
  const auto straight = make(GetParam(), *c.loss, c.start, {});
  ASSERT_TRUE(straight->advance(9, run_));
  EXPECT_EQ(trainer->state(), straight->state());
}

INSTANTIATE_TEST_SUITE_P(Kinds, AdamOfEveryKind,
                         testing::Values(Kind::single_, Kind::double_, Kind::plain), name_of);

}  // namespace
}  // namespace dewpoint::training
