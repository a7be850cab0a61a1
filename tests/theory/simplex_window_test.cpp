// Windows and causal masks on the simplex against dense masked softmax on explicit tokens, against
// extended precision, and against their own properties.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/simplex_window.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "theory/dense_layer.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Property (1) of visible_keys.
TEST(SimplexWindow, ShowsAllKeysUntilItIsFull) {
  EXPECT_EQ(visible_keys(0.0, 4.0), 1.0);
  EXPECT_EQ(visible_keys(3.0, 4.0), 4.0);
  EXPECT_EQ(visible_keys(1e12, 4.0), 4.0);
  EXPECT_EQ(visible_keys(1e12, kNoWindow), 1e12 + 1.0);
}

// Properties (1) and (2) of row_dew_point, on dense rows: the last row of a context of 40 tokens.
TEST(SimplexWindow, MovesTheDewPointToTheVisibleKeys) {
  EXPECT_FALSE(row_dew_point(2.0, 0.5).has_value());
  for (std::size_t window : {3U, 9U, 40U})
    for (double rho : {0.0, 0.3, 0.8})
      for (double sink : {-kInfinity, 0.0, 5.0}) {
        const double dew = *row_dew_point(static_cast<double>(window), rho);
        const test::DenseLayer layer{.beta = dew, .sink = sink, .window = window};
        const auto row = test::dense_row(test::simplex_tokens(40, rho), 39, layer);
        const double others = std::accumulate(row.begin(), row.end() - 1, 0.0);
        EXPECT_NEAR(others / row.back(), 1.0, test::dense_layer_error(40, dew));
      }
}

// Property (1) of masked_pair, at all pairs of a short text. A window of 40 is a causal mask here.
TEST(MaskedPair, AgreesWithADenseLayerOnExplicitTokens) {
  constexpr int n = 16;
  for (std::size_t window : {1U, 2U, 5U, 40U})
    for (double rho : {0.0, 0.2, 0.8})
      for (double beta : {0.0, 3.0, 12.0})
        for (double sink : {-kInfinity, 2.0})
          for (double kappa : {0.0, 0.6}) {
            const test::Tokens outputs =
                test::dense_layer(test::simplex_tokens(n, rho),
                                  {.beta = beta, .kappa = kappa, .sink = sink, .window = window});
            const MaskedLayer layer{window > n ? kNoWindow : static_cast<double>(window), beta, rho,
                                    kappa, sink};
            const double tolerance = test::dense_layer_error(n, beta);
            for (int i = 0; i < n; ++i)
              for (int j = i + 1; j < n; ++j) {
                SCOPED_TRACE(testing::Message() << window << ' ' << rho << ' ' << beta << ' '
                                                << sink << ' ' << kappa << ' ' << i << ' ' << j);
                const double first = test::dot(outputs[i], outputs[i]);
                const double second = test::dot(outputs[j], outputs[j]);
                const double cosine = test::dot(outputs[i], outputs[j]) / std::sqrt(first * second);
                const MaskedPair pair = masked_pair(i, j, layer);
                EXPECT_NEAR(pair.first_squared_norm, first, tolerance * first);
                EXPECT_NEAR(pair.second_squared_norm, second, tolerance * second);
                EXPECT_NEAR(pair.cosine, cosine, tolerance);
                EXPECT_NEAR(pair.decorrelation, 1.0 - cosine, tolerance);
                EXPECT_NEAR(pair.contraction, (1.0 - cosine) / (1.0 - rho),
                            tolerance / (1.0 - rho));
              }
          }
}

// Long rows whose outputs nearly agree: 1 − cosine of a causal pair in extended precision. The
// plain difference leaves the rounding of a cosine near 1, some 16 operations of 2⁻⁶⁴.
TEST(MaskedPair, StaysWithinItsErrorBoundOfExtendedPrecision) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  for (double i : {0.0, 1.0, 9.0, 999.0, 99998.0})
    for (double j : {i + 1.0, i + 7.0, 100000.0})
      for (double rho : {0.0, 0.1, 0.9})
        for (double beta : {0.0, 4.0, 20.0}) {
          SCOPED_TRACE(testing::Message() << i << ' ' << j << ' ' << rho << ' ' << beta);
          const long double one = std::exp(-beta * (1.0L - rho)), r = rho;
          const long double first = 1 / (1 + i * one), second = 1 / (1 + j * one);  // a_i and a_j
          const long double own = first * first * (1 + i * one * one);
          const long double other = second * second * (1 + j * one * one);
          const long double common = first * second * one * (1 + i * one);
          const long double product = (r + (1 - r) * own) * (r + (1 - r) * other);
          const long double cosine = (r + (1 - r) * common) / std::sqrt(product);
          const MaskedLayer layer{kNoWindow, beta, rho};
          const MaskedPair pair = masked_pair(i, j, layer);
          EXPECT_NEAR(
              pair.decorrelation / static_cast<double>(1 - cosine), 1.0,
              masked_pair_error(std::log(j + 1.0), layer) + 16.0 * 0x1p-64 / pair.decorrelation);
        }
}

// Property (2).
TEST(MaskedPair, CosineAndDecorrelationAddUpToOne) {
  for (double window : {7.0, 1000.0, kNoWindow})
    for (double distance : {1.0, 6.0, 500.0, 2000.0})
      for (double beta : {0.0, 5.0, 50.0}) {
        const MaskedLayer layer{window, beta, 0.4, 0.3, 1.0};
        const MaskedPair pair = masked_pair(3000.0, 3000.0 + distance, layer);
        EXPECT_NEAR(pair.cosine + pair.decorrelation, 1.0,
                    2.0 * masked_pair_error(std::log(5001.0), layer));
      }
}

// Property (3): a sink scales both rows, and the cosine has one division more to round.
TEST(MaskedPair, HasACosineWithoutSinkUnlessThereIsAResidual) {
  MaskedLayer layer{100.0, 3.0, 0.4};
  const MaskedPair without = masked_pair(300.0, 330.0, layer);
  layer.sink_logit = 6.0;
  const MaskedPair with = masked_pair(300.0, 330.0, layer);
  EXPECT_NEAR(with.contraction / without.contraction, 1.0,
              2.0 * masked_pair_error(std::log(100.0), layer));
  EXPECT_LT(with.first_squared_norm, 0.9 * without.first_squared_norm);
  layer.scaled_residual = 0.5;
  EXPECT_GT(masked_pair(300.0, 330.0, layer).contraction, with.contraction);
}

// Property (4): P/(ρ + (1 − ρ)P), however warm.
TEST(MaskedPair, KeepsAnAngleBetweenQueriesThatShareNoKey) {
  for (double beta : {0.0, 2.0, 9.0, 30.0})
    for (double rho : {0.0, 0.3}) {
      const MaskedLayer layer{50.0, beta, rho};
      const auto weights = simplex_weights(std::log(50.0), beta, rho);
      const double overlap = weights.self * weights.self + weights.others * weights.per_token;
      const double expected = overlap / (rho + (1.0 - rho) * overlap);
      EXPECT_NEAR(masked_pair(49.0, 99.0, layer).contraction, expected,
                  masked_pair_error(std::log(50.0), layer) * expected);
      EXPECT_EQ(masked_pair(80.0, 4000.0, layer).contraction,
                masked_pair(49.0, 99.0, layer).contraction);
    }
}

// Property (5): b² of a row, or ab, is added to the overlap with every key more that is shared.
TEST(MaskedPair, OfFullWindowsDependsOnTheirDistanceOnly) {
  for (double beta : {0.0, 3.0, 8.0}) {
    const MaskedLayer layer{20.0, beta, 0.5};
    double previous = 0.0;
    for (double distance = 1.0; distance <= 20.0; distance += 1.0) {
      const double contraction = masked_pair(19.0, 19.0 + distance, layer).contraction;
      EXPECT_EQ(contraction, masked_pair(1e6, 1e6 + distance, layer).contraction);
      EXPECT_GT(contraction, previous) << distance;
      previous = contraction;
    }
    EXPECT_EQ(masked_pair(19.0, 40.0, layer).contraction, previous);
  }
}

// A window of one key is the identity, whatever the temperature.
TEST(MaskedPair, OfWindowsOfOneKeyIsTheIdentity) {
  for (double beta : {0.0, 7.0}) {
    const MaskedPair pair = masked_pair(3.0, 4.0, {1.0, beta, 0.3});
    EXPECT_NEAR(pair.contraction, 1.0, 8.0 * kEpsilon);
    EXPECT_NEAR(pair.first_squared_norm, 1.0, 4.0 * kEpsilon);
  }
}

}  // namespace
}  // namespace dewpoint::theory
