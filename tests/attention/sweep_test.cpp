#include "dewpoint/attention/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dewpoint/tokens/equicorrelated.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

struct Fixture {
  tokens::EquicorrelatedNoise noise{150, 12, tokens::Common::random, test::seed(), 0};
  TokenCloud cloud = noise.cloud(0.4, tokens::Norm::unit);
  tokens::EquicorrelatedGaps gaps{noise, 0.4};
};

bool same_bytes(const SweepCell& a, const SweepCell& b) {
  return a.gamma == b.gamma &&
         std::memcmp(a.directions.offsets().data(), b.directions.offsets().data(),
                     a.directions.size() * a.directions.dimension() * sizeof(float)) == 0 &&
         std::memcmp(a.moments.data(), b.moments.data(), a.moments.size() * sizeof(RowMoments)) ==
             0;
}

TEST(Rung, IsExactOrNothing) {
  EXPECT_EQ(rung(0.0), 0);
  EXPECT_EQ(rung(0.25), 1);
  EXPECT_EQ(rung(8.0), 32);
  EXPECT_EQ(rung(0.125), std::nullopt);
  EXPECT_EQ(rung(-0.25), std::nullopt);
}

// Property (1), on and between rungs, across anchors, whatever the order.
TEST(Sweep, ACellDependsOnItsOwnGammaOnly) {
  const Fixture f;
  const std::vector<double> many = {3.0, 0.25, 3.9, 4.0, 3.75, 0.0, 4.25, 0.3, 7.75};
  const auto together = sweep(f.cloud, f.gaps, many, {0.25, NormOptions{}});
  for (std::size_t g = 0; g < many.size(); ++g) {
    const auto alone = sweep(f.cloud, f.gaps, {&many[g], 1}, {0.25, NormOptions{}});
    EXPECT_TRUE(same_bytes(together[g], alone[0])) << many[g];
  }
}

// kLadderUlp: the partition of a row on the ladder against direct exponentials in double. Gaps are
// the same float32 numbers on both sides; β and the factor's exponent are rounded to float32, which
// moves an exponent by up to 2 ε x; sums round once per term.
TEST(Sweep, ClimbsTheLadderWithinItsStatedError) {
  const Fixture f;
  Matrix<float> gaps(150, 150);
  f.gaps.gaps({0, 150}, {0, 150}, gaps);
  const double gamma = 3.75;  // the last rung before an anchor: 15 multiplications
  const auto cells = sweep(f.cloud, f.gaps, {&gamma, 1});
  const double beta = gamma * std::log(150.0);
  constexpr double eps = std::numeric_limits<float>::epsilon();
  for (std::size_t i = 0; i < 150; ++i) {
    double partition = 0.0;
    for (std::size_t j = 0; j < 150; ++j) partition += std::exp(-beta * gaps(i, j));
    const double tolerance = eps * (kLadderUlp + 2.0 * beta * 2.0 + 150.0);
    EXPECT_NEAR(cells[0].moments[i].partition, partition, tolerance * partition);
  }
}

TEST(Sweep, StopsOnRequest) {
  const Fixture f;
  std::stop_source source;
  source.request_stop();
  const double gamma = 1.0;
  EXPECT_THROW((void)sweep(f.cloud, f.gaps, {&gamma, 1}, {}, {1, source.get_token(), {}}), Error);
}

}  // namespace
}  // namespace dewpoint::attention
