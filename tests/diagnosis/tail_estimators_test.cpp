// Estimators of the edge of the scores, on tails whose law is known exactly.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/diagnosis/tail_estimators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/theory/finite_scores.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

/// Scores that are functions of independent uniform numbers.
Matrix<double> scores_of(std::size_t rows, std::size_t columns, const char* name,
                         const std::function<double(double)>& score, std::size_t head = 0) {
  const Stream stream(test::seed(), name, head);
  Matrix<double> scores(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) scores(i, j) = score(stream.uniform(i * columns + j));
  return scores;
}

/// A generalised Pareto score of scale 1, exceeded with the given probability.
double pareto_score(double shape, double probability) {
  if (shape == 0.0) return -std::log(probability);
  return (std::pow(probability, -shape) - 1.0) / shape;
}

/// The hazard at the upper 1/n quantile is n^{−ξ}.
double log_true_edge(double shape, double n) { return -shape * std::log(n); }

// Property (2). The finite number of keys moves β_edge by a relative |ξ|(1 + |ξ|)/(2n).
TEST(FitEdge, FindsShapeAndHazardOfExactParetoTails) {
  constexpr std::size_t n = 400;
  for (double shape : {-1.0, -0.5, -0.1, 0.0, 0.2}) {
    const auto scores =
        scores_of(300, n, "FitEdge/Pareto", [&](double u) { return pareto_score(shape, u); });
    const EdgeFit fit = fit_edge(scores, 50, RowBootstrap(300, {200, 1}));
    ASSERT_TRUE(fit.refusal.empty()) << fit.refusal;
    EXPECT_NEAR(fit.shape.mean, shape, test::kSigmas * fit.shape.standard_error) << shape;
    EXPECT_NEAR(fit.log_edge_beta.mean, log_true_edge(shape, n),
                test::kSigmas * fit.log_edge_beta.standard_error + 1.0 / n)
        << shape;
    EXPECT_LT(std::abs(fit.depth_change.mean), test::kSigmas * fit.depth_change.standard_error);
  }
}

// Property (2), the errors: over independent heads the squared deviation in units of the error has
// the mean 1, with standard deviation √(2/heads); the curvature of log β_edge in the pooled moments
// adds a tenth.
TEST(FitEdge, ErrorsAreThoseOfIndependentHeads) {
  constexpr std::size_t heads = 100, n = 200;
  double shape_square = 0.0, edge_square = 0.0;
  for (std::size_t head = 0; head < heads; ++head) {
    const auto scores = scores_of(
        100, n, "FitEdge/errors", [](double u) { return pareto_score(-0.5, u); }, head);
    const EdgeFit fit = fit_edge(scores, 40, RowBootstrap(100, {200, head}));
    const double shape = (fit.shape.mean + 0.5) / fit.shape.standard_error;
    const double edge =
        (fit.log_edge_beta.mean - log_true_edge(-0.5, n)) / fit.log_edge_beta.standard_error;
    shape_square += shape * shape / heads;
    edge_square += edge * edge / heads;
  }
  const double tolerance = test::kSigmas * std::sqrt(2.0 / heads) + 0.1;
  EXPECT_NEAR(shape_square, 1.0, tolerance);
  EXPECT_NEAR(edge_square, 1.0, tolerance);
}

// Property (3): the same moments with the plotting positions (i − 0.35)/k.
TEST(FitEdge, IsNotBiasedAsPlottingPositionsAre) {
  constexpr std::size_t rows = 4000, n = 100, k = 50;
  const auto scores =
      scores_of(rows, n, "FitEdge/bias", [](double u) { return pareto_score(-0.5, u); });
  double mean = 0.0, weighted = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> row(scores.row(i).begin(), scores.row(i).end());
    std::sort(row.begin(), row.end(), std::greater<>());
    for (std::size_t j = 0; j < k; ++j) {
      mean += (row[j] - row[k]) / (rows * k);
      weighted += (row[j] - row[k]) * (static_cast<double>(j) + 0.65) / k / (rows * k);
    }
  }
  const double plotted = 2.0 - mean / (mean - 2.0 * weighted);
  const EdgeFit fit = fit_edge(scores, k, RowBootstrap(rows, {100, 1}));
  EXPECT_NEAR(fit.shape.mean, -0.5, test::kSigmas * fit.shape.standard_error);
  EXPECT_LT(plotted, -0.5 - 0.03);
}

// Property (1). 50 sums and differences of numbers up to 60: a hundred roundings of 60/1 each.
TEST(FitEdge, DoesNotDependOnTheOriginOfTheScores) {
  const auto scores =
      scores_of(20, 100, "FitEdge/shift", [](double u) { return pareto_score(-0.2, u); });
  Matrix<double> moved = scores;
  for (std::size_t i = 0; i < moved.size(); ++i) moved.data()[i] = 4.0 * moved.data()[i] + 32.0;
  const RowBootstrap bootstrap(20, {50, 1});
  const EdgeFit fit = fit_edge(scores, 30, bootstrap), other = fit_edge(moved, 30, bootstrap);
  const double tolerance = 100.0 * 60.0 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(other.shape.mean, fit.shape.mean, 100.0 * tolerance);
  EXPECT_NEAR(other.log_edge_beta.mean, fit.log_edge_beta.mean - std::log(4.0), 100.0 * tolerance);
}

TEST(FitEdge, DeclinesScoresWithAtoms) {
  Matrix<double> scores(10, 100);
  for (std::size_t i = 0; i < 10; ++i) scores(i, i) = 1.0;
  const EdgeFit fit = fit_edge(scores, 20, RowBootstrap(10, {50, 1}));
  EXPECT_NE(fit.refusal.find("equal"), std::string::npos);
  EXPECT_DOUBLE_EQ(fit.tied_share, 19.0 / 20.0);
}

TEST(FitEdge, NoticesAClusterOfAboutAsManyKeys) {
  Matrix<double> scores = scores_of(200, 400, "FitEdge/cluster", [](double u) { return -u; });
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t j = 0; j < 30; ++j) scores(i, j) = 0.5 + 1e-3 * scores(i, j);
  const EdgeFit fit = fit_edge(scores, 50, RowBootstrap(200, {100, 1}));
  EXPECT_GT(std::abs(fit.depth_change.mean), 20.0 * fit.depth_change.standard_error);
}

TEST(FitEdge, RefusesWhatIsNoScore) {
  Matrix<double> scores(4, 20);
  for (std::size_t i = 0; i < scores.size(); ++i) scores.data()[i] = static_cast<double>(i * i);
  const RowBootstrap bootstrap(4, {50, 1});
  EXPECT_THROW((void)fit_edge(scores, 20, bootstrap), Error);
  EXPECT_THROW((void)fit_edge(scores, 3, bootstrap), Error);
  scores(2, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)fit_edge(scores, 10, bootstrap), Error);
  EXPECT_THROW((void)fit_known_endpoint(scores, 1e9, 5), Error);
  scores(2, 3) = -std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)heat_capacity(scores, std::vector<double>{1.0}), Error);
}

// ---- known endpoint -------------------------------------------------------------------------

// Property (2). P(T ≤ t) = t^a: β* = n^{1/a}. At finite n the mean of log T_(k+1) is
// (ψ(k+1) − ψ(n+1))/a, so log β* comes out larger by 1/(2na).
TEST(FitKnownEndpoint, FindsExponentAndUnitOfPowerLaws) {
  constexpr double n = 400;
  for (double a : {0.5, 1.0, 2.0, 8.0}) {
    const auto scores = scores_of(200, 400, "FitKnownEndpoint/power",
                                  [&](double u) { return 1.0 - std::pow(u, 1.0 / a); });
    const EndpointFit fit = fit_known_endpoint(scores, 1.0, 50);
    EXPECT_NEAR(fit.exponent.mean, a, test::kSigmas * fit.exponent.standard_error) << a;
    EXPECT_NEAR(fit.log_critical_beta.mean, std::log(n) / a,
                test::kSigmas * fit.log_critical_beta.standard_error + 1.0 / (n * a))
        << a;
    // A variance over 200 rows: relative error √(2/200), times the excess kurtosis of log Gamma.
    EXPECT_NEAR(fit.dispersion, 1.0, 1.2 * test::kSigmas * std::sqrt(2.0 / 200.0)) << a;
  }
}

// The closed form per row at k = 50, a = 2, beside its value for large k.
TEST(FitKnownEndpoint, HasTheErrorOfTheLargeSampleFormula) {
  const auto scores =
      scores_of(400, 400, "FitKnownEndpoint/error", [](double u) { return 1.0 - std::sqrt(u); });
  const EndpointFit fit = fit_known_endpoint(scores, 1.0, 50);
  const double per_row = fit.log_critical_beta.standard_error * std::sqrt(400.0);
  const double large = std::sqrt((1.0 + std::pow(std::log(50.0), 2)) / 50.0) / fit.exponent.mean;
  EXPECT_NEAR(per_row / large, 1.0, 0.01);
  EXPECT_NEAR(large, 0.286, 0.286 * test::kSigmas / std::sqrt(400.0 * 50.0));
}

TEST(FitKnownEndpoint, DeclinesScoresBeyondTheEndpoint) {
  Matrix<double> scores(3, 10);
  scores(1, 2) = 1.5;
  const EndpointFit fit = fit_known_endpoint(scores, 1.0, 5);
  EXPECT_NE(fit.refusal.find("query 1"), std::string::npos);
}

// ---- heat capacity --------------------------------------------------------------------------

// Property (1), a dozen roundings.
TEST(HeatCapacity, OfTwoKeysIsTheSchottkyPeak) {
  Matrix<double> scores(1, 2);
  scores(0, 1) = 0.7;
  const std::vector<double> betas{0.01, 1.0, 3.0, 20.0};
  const HeatCapacity heat = heat_capacity(scores, betas);
  for (std::size_t b = 0; b < betas.size(); ++b) {
    const double x = 0.7 * betas[b], expected = x * x / (4.0 * std::pow(std::cosh(0.5 * x), 2));
    EXPECT_NEAR(heat.capacity[b].mean, expected,
                12.0 * std::numeric_limits<double>::epsilon() * std::max(1.0, x * x));
  }
}

std::vector<double> octaves(double first, int count) {
  std::vector<double> betas;
  for (int k = 0; k < count; ++k) betas.push_back(first * std::exp2(0.25 * k));
  return betas;
}

constexpr double kDifference = 1e-3;  // of log β

/// E C = −β dE(Σ w x)/d log β over n depths of a law: by quadrature and a central difference, good
/// to kDifference²/6 and kFiniteScoresError/kDifference of C.
double exact_capacity(const DepthDistribution& law, double n, double beta) {
  const auto depth = [&](double factor) {
    return theory::finite_score_means(law, {std::log(n), factor * beta}).depth;
  };
  return -beta * (depth(std::exp(kDifference)) - depth(std::exp(-kDifference))) /
         (2.0 * kDifference);
}

// Property (2): gaps uniform on [0, 2], those of keys on S², a = 1, β* = n/2. Where e^{−2β} is
// nothing, E(Σ w T) = 1/β + 1/(2n) + 0.6 β/n² to this order (sphere_clt.hpp), hence C = 1 −
// 0.6 (β/n)². The measured plateau has the mean of the exact capacity over its β.
TEST(HeatCapacity, HasItsPlateauAtTheExponentOfThePowerLaw) {
  constexpr std::size_t n = 8000;
  const SphereGap gap(3);
  EXPECT_NEAR(exact_capacity(gap, n, 20.0), 1.0,
              std::pow(20.0 / n, 2) + kDifference * kDifference / 6.0);

  const auto scores =
      scores_of(64, n, "HeatCapacity/plateau", [](double u) { return 1.0 - 2.0 * u; });
  const std::vector<double> betas = octaves(0.1, 70);
  const HeatCapacity heat = heat_capacity(scores, betas);
  ASSERT_TRUE(heat.plateau.has_value());
  const Plateau& plateau = *heat.plateau;
  EXPECT_GT(plateau.highest_beta / plateau.lowest_beta, 16.0);
  RunningMoments exact;
  for (double beta : betas)
    if (plateau.lowest_beta <= beta && beta <= plateau.highest_beta)
      exact.add(exact_capacity(gap, n, beta));
  EXPECT_NEAR(plateau.exponent.mean, exact.mean(), test::kSigmas * plateau.exponent.standard_error);
}

// Property (3), and C itself where it is β² nearly.
TEST(HeatCapacity, OfGaussianScoresHasNoPlateau) {
  const Stream stream = test::stream("HeatCapacity/gaussian");
  Matrix<double> scores(64, 4000);
  stream.normals(0, {scores.data(), scores.size()});
  const HeatCapacity heat = heat_capacity(scores, octaves(0.05, 40));
  EXPECT_FALSE(heat.plateau.has_value());
  const Estimate& capacity = heat.capacity[8];  // β = 0.2
  const double exact = exact_capacity(NormalDepth(1.0), 4000.0, heat.betas[8]);
  EXPECT_NEAR(capacity.mean, exact, test::kSigmas * capacity.standard_error);
  EXPECT_NEAR(exact, 0.04, 0.04 * 2.0 * std::exp(0.04) / 4000.0 + kDifference * kDifference);
}

}  // namespace
}  // namespace dewpoint::diagnosis
