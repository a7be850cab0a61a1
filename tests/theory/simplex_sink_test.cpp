// The simplex with a sink against extended precision, against dense softmax on explicit tokens, and
// against its own properties.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/simplex_sink.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/theory/critical_scales.hpp"
#include "theory/dense_layer.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- the defining formulas in extended precision ----------------------------------------------

// A 64-bit mantissa makes the plain formulas exact enough: their error is a thousandth of the
// bound, as in simplex_test.cpp.
TEST(SimplexSink, StaysWithinItsErrorBoundOfExtendedPrecision) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  for (double log_n : {0.7, 3.0, 8.0, 40.0, 690.0})
    for (double rho : {0.0, 0.3, 0.9})
      for (double scale : {0.1, 1.0, 3.0})
        for (double sink : {-20.0, 0.0, 3.0, 50.0, 700.0})
          for (double kappa : {0.0, 0.2, 3.0}) {
            const double beta = scale * log_n / (1.0 - rho);
            SCOPED_TRACE(testing::Message()
                         << log_n << ' ' << rho << ' ' << beta << ' ' << sink << ' ' << kappa);
            const long double n = std::exp(static_cast<long double>(log_n)), k = kappa, r = rho;
            const long double one = std::exp(-beta * (1.0L - r)),
                              none = std::exp(sink - beta * 1.0L);
            const long double total = 1 + (n - 1) * one + none;
            const long double a = 1 / total, b = one / total, s = (n - 1) * b;
            const long double q =
                r * (a + s + k) * (a + s + k) + (1 - r) * ((a + k) * (a + k) + s * b);
            const long double lambda = (a - b + k) * (a - b + k) / q;

            const double error = sink_error(log_n, beta, sink);
            const auto weights = sink_weights(log_n, beta, rho, sink);
            const auto output = sink_output(log_n, beta, rho, sink, kappa);
            EXPECT_NEAR(weights.log_self, static_cast<double>(std::log(a)), error);
            EXPECT_NEAR(weights.log_others, static_cast<double>(std::log(s)), error);
            EXPECT_NEAR(weights.log_per_token, static_cast<double>(std::log(b)), error);
            EXPECT_NEAR(weights.log_sink, static_cast<double>(sink - 1.0L * beta - std::log(total)),
                        error);
            EXPECT_NEAR(weights.log_keys, static_cast<double>(std::log(a + s)), error);
            EXPECT_NEAR(output.log_contraction, static_cast<double>(std::log(lambda)), error);
            if (q > 1e-300L) {
              EXPECT_NEAR(output.squared_norm / static_cast<double>(q), 1.0, error);
            }
            if (lambda > 1e-300L) {
              EXPECT_NEAR(output.decorrelation / static_cast<double>((1 - r) * lambda), 1.0, error);
            }
          }
}

// Property (1) of sink_output.
TEST(SimplexSink, AgreesWithADenseLayerOnExplicitTokens) {
  for (int n : {2, 9, 40})
    for (double rho : {0.0, 0.2, 0.8})
      for (double beta : {0.5, 3.0, 20.0})
        for (double sink : {-kInfinity, kOffByOneSink, 4.0})
          for (double kappa : {0.0, 0.6}) {
            SCOPED_TRACE(testing::Message()
                         << n << ' ' << rho << ' ' << beta << ' ' << sink << ' ' << kappa);
            const test::Tokens tokens = test::simplex_tokens(n, rho);
            const test::DenseLayer layer{.beta = beta, .kappa = kappa, .sink = sink};
            const std::vector<double> row = test::dense_row(tokens, 0, layer);
            const test::Tokens outputs = test::dense_layer(tokens, layer);
            const double norm = test::dot(outputs[0], outputs[0]);
            const double cosine = test::dot(outputs[0], outputs[1]) / norm;
            const double tolerance = test::dense_layer_error(n, beta);
            const auto weights = sink_weights(std::log(n), beta, rho, sink);
            const auto predicted = sink_output(std::log(n), beta, rho, sink, kappa);
            EXPECT_NEAR(row[0], weights.self, tolerance);
            EXPECT_NEAR(row[1], weights.per_token, tolerance);
            EXPECT_NEAR(norm, predicted.squared_norm, tolerance * norm);
            EXPECT_NEAR(cosine, predicted.correlation, tolerance);
            EXPECT_NEAR(1.0 - cosine, predicted.decorrelation, tolerance);
          }
}

// ---- properties of sink_weights -----------------------------------------------------------------

// Property (1).
TEST(SinkWeights, AddUpToOneWithTheSink) {
  for (double log_n : {0.7, 5.0, 690.0})
    for (double beta : {0.0, 1.0, 30.0, 2000.0})
      for (double sink : {-5.0, 0.0, 12.0, 1500.0}) {
        const auto weights = sink_weights(log_n, beta, 0.4, sink);
        EXPECT_NEAR(weights.self + weights.others + weights.sink, 1.0,
                    3.0 * sink_error(log_n, beta, sink));
        EXPECT_NEAR(weights.self + weights.others, weights.keys,
                    3.0 * sink_error(log_n, beta, sink));
      }
}

// Property (2).
TEST(SinkWeights, AreThoseOfSoftmaxWithoutASink) {
  const auto with = sink_weights(9.0, 14.0, 0.3, -kInfinity);
  const auto without = simplex_weights(9.0, 14.0, 0.3);
  EXPECT_EQ(with.self, without.self);
  EXPECT_EQ(with.log_per_token, without.log_per_token);
  EXPECT_EQ(with.sink, 0.0);
  EXPECT_EQ(with.keys, 1.0);
}

// Property (3).
TEST(SinkWeights, KeepTheOddsAmongKeysAndSoTheDewPoint) {
  for (double n : {3.0, 100.0, 1e9})
    for (double rho : {0.0, 0.5})
      for (double sink : {0.0, 10.0, 40.0}) {
        const double log_n = std::log(n), beta = simplex_annealed_beta(log_n, 1.0 - rho);
        const auto weights = sink_weights(log_n, beta, rho, sink);
        EXPECT_NEAR(weights.log_self, weights.log_others, 2.0 * sink_error(log_n, beta, sink));
      }
}

// Property (4).
TEST(SinkWeights, DrainTheSinkInLongerContextsAndColderHeads) {
  for (double x = 0.0; x < 20.0; x += 0.5) {
    const double sink = sink_weights(5.0 + x, 3.0, 0.4, 6.0).log_sink;
    EXPECT_LT(sink_weights(5.5 + x, 3.0, 0.4, 6.0).log_sink, sink);
    EXPECT_LT(sink_weights(5.0 + x, 3.5, 0.4, 6.0).log_sink, sink);
    EXPECT_GT(sink_weights(5.0 + x, 3.0, 0.4, 6.5).log_sink, sink);
  }
}

// Property (5).
TEST(SinkWeights, LeaveTheSinkLittleAtTheCriticalPoint) {
  for (double n : {2.0, 64.0, 1e6, 1e100})
    for (double rho : {0.0, 0.5})
      for (double sink : {0.0, 5.0}) {
        const double log_n = std::log(n), beta = log_n / (1.0 - rho);
        const double expected = -std::log1p(std::exp(beta - sink) * (2.0 - 1.0 / n));
        EXPECT_NEAR(sink_weights(log_n, beta, rho, sink).log_sink, expected,
                    2.0 * sink_error(log_n, beta, sink));
      }
}

// ---- properties of sink_output ------------------------------------------------------------------

// Property (2).
TEST(SinkOutput, IsSoftmaxMadeShorterWhereThereIsNoResidual) {
  for (double log_n : {1.0, 8.0, 300.0})
    for (double sink : {0.0, 9.0, 500.0}) {
      const double beta = 1.1 * log_n / 0.7;
      const auto with = sink_output(log_n, beta, 0.3, sink);
      const auto without = simplex_output(log_n, beta, 0.3);
      const double keys = sink_weights(log_n, beta, 0.3, sink).keys;
      EXPECT_EQ(with.log_contraction, without.log_contraction);
      EXPECT_EQ(with.correlation, without.correlation);
      EXPECT_NEAR(with.squared_norm, keys * keys * without.squared_norm,
                  2.0 * sink_error(log_n, beta, sink) * with.squared_norm);
    }
}

// Property (3): the last sink is so strong that attention is below the rounding of the residual.
TEST(SinkOutput, SlowsTheCollapseBesideAResidual) {
  for (double rho : {0.0, 0.5}) {
    double previous = -kInfinity;
    for (double sink : {-kInfinity, 0.0, 4.0, 8.0, 12.0, 16.0}) {
      const double log_contraction = sink_output(6.0, 4.0, rho, sink, 0.5).log_contraction;
      EXPECT_GT(log_contraction, previous) << sink;
      previous = log_contraction;
    }
    const auto limit = sink_output(6.0, 4.0, rho, 400.0, 0.5);
    EXPECT_EQ(limit.log_contraction, 0.0);
    EXPECT_EQ(limit.squared_norm, 0.25);
    EXPECT_EQ(limit.decorrelation, 1.0 - rho);
  }
}

// ---- where the sink matters ---------------------------------------------------------------------

// Properties (1), (2) and (4) of sink_half_beta. The weight there is 1/2 to the error of log Z.
TEST(SinkHalf, IsWhereTheSinkHoldsHalfOfTheMass) {
  for (double log_n : {0.7, 4.0, 12.0, 300.0})
    for (double rho : {0.1, 0.5, 0.9}) {
      EXPECT_FALSE(sink_half_beta(log_n, rho, log_n - 0.01).has_value());
      EXPECT_FALSE(sink_half_beta(log_n, rho, kOffByOneSink).has_value());
      const auto edge = sink_half_beta(log_n, rho, log_n);
      ASSERT_TRUE(edge.has_value());
      EXPECT_NEAR(*edge, 0.0, sink_error(log_n, 0.0, log_n) / rho);
      double previous = *edge;
      for (double more : {0.5, 3.0, 40.0}) {
        const double sink = log_n + more;
        const auto beta = sink_half_beta(log_n, rho, sink);
        ASSERT_TRUE(beta.has_value());
        EXPECT_NEAR(sink_weights(log_n, *beta, rho, sink).sink, 0.5,
                    sink_error(log_n, *beta, sink));
        EXPECT_GT(*beta, previous);
        EXPECT_LE(*beta, *sink_half_beta(log_n - 0.005, rho, sink));
        previous = *beta;
      }
    }
}

// Property (3). The mean score at the root is e^β/e^b at least.
TEST(SinkHalf, IsExplicitForOrthogonalTokens) {
  for (double n : {2.0, 50.0})
    for (double beta : {0.5, 2.0, 9.0}) {
      const double sink = std::log(std::exp(beta) + n - 1.0), log_n = std::log(n);
      EXPECT_NEAR(*sink_half_beta(log_n, 0.0, sink), beta,
                  2.0 * sink_error(log_n, beta, sink) * std::exp(sink - beta));
    }
}

// Properties (1) and (2) of sink_half_log_length.
TEST(SinkHalf, ComesAtALengthThatInvertsTheTemperature) {
  for (double beta : {0.5, 6.0, 30.0})
    for (double rho : {0.0, 0.5}) {
      EXPECT_FALSE(sink_half_log_length(beta, rho, beta).has_value());
      const double two_keys = std::log(std::exp(beta) + std::exp(beta * rho));
      EXPECT_FALSE(sink_half_log_length(beta, rho, two_keys - 1e-9).has_value());
      EXPECT_TRUE(sink_half_log_length(beta, rho, two_keys + 1e-9).has_value());
      const double sink = beta + 4.0;
      const auto log_n = sink_half_log_length(beta, rho, sink);
      ASSERT_TRUE(log_n.has_value());
      const double error = sink_error(*log_n, beta, sink);
      EXPECT_NEAR(sink_weights(*log_n, beta, rho, sink).sink, 0.5, 2.0 * error);
      const double mean_score = std::exp(beta - sink) * (1.0 - rho) + rho;
      EXPECT_NEAR(*sink_half_beta(*log_n, rho, sink), beta, 4.0 * error / mean_score);
    }
}

// Properties (1), (2) and (3) of sink_even_beta.
TEST(SinkEven, IsWhereATokenHoldsHalfOfAllMass) {
  for (double log_n : {1.2, 6.0, 300.0})
    for (double rho : {0.0, 0.4, 0.9})
      for (double sink : {-kInfinity, 0.0, 20.0, 900.0}) {
        SCOPED_TRACE(testing::Message() << log_n << ' ' << rho << ' ' << sink);
        const double beta = sink_even_beta(log_n, rho, sink);
        const double dew = simplex_annealed_beta(log_n, 1.0 - rho);
        const double error = sink_error(log_n, beta, sink);
        EXPECT_NEAR(sink_weights(log_n, beta, rho, sink).self, 0.5, error);
        EXPECT_GE(beta, dew * (1.0 - 4.0 * kEpsilon));
        EXPECT_GE(beta, sink);
        if (std::isinf(sink)) {
          EXPECT_NEAR(beta, dew, 4.0 * kEpsilon * dew);
        }
        if (rho == 0.0 && sink < 700.0 && log_n < 100.0) {
          EXPECT_NEAR(beta, std::log(std::exp(log_n) - 1.0 + std::exp(sink)), error * (1.0 + beta));
        }
      }
}

}  // namespace
}  // namespace dewpoint::theory
