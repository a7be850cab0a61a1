// Clustered tokens: printed masses, a plain softmax over an explicit Gram matrix, and the phases.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/two_level_simplex.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnprinted = std::numeric_limits<double>::quiet_NaN();

double tolerance(const TwoLevelSimplex& simplex, double beta) {
  const double count = std::max(simplex.log_neighbours, simplex.log_strangers);
  return kTwoLevelError * (1.0 + beta + std::max(0.0, count));
}

struct Printed {
  double gamma, n, self, cluster, rest;
};

// τ = 0.7, ρ_a = 0.1, ρ_b = 0.7. The printed masses are those of the exponents alone: n strangers
// instead of n − 1 − n^τ. kUnprinted stands for "about zero".
constexpr Printed kPrinted[] = {
    {0.25, 1e3, .0035, .261, .7355},     {0.25, 1e6, 2e-5, .1118, .8882},
    {0.25, 1e12, 5e-10, .0156, .9844},   {0.25, 1e100, kUnprinted, 1e-15, 1},
    {0.5, 1e3, .011, .4945, .4945},      {0.5, 1e6, 2.5e-4, .4999, .4999},
    {0.5, 1e12, kUnprinted, .5, .5},     {0.5, 1e100, kUnprinted, .5, .5},
    {1.5, 1e3, .149, .8377, .0133},      {1.5, 1e6, .0307, .9691, 2e-4},
    {1.5, 1e12, .001, .999, 6e-8},       {1.5, 1e100, 1e-25, 1, 1e-60},
    {7. / 3, 1e3, .4999, .4999, 2.5e-4}, {7. / 3, 1e6, .5, .5, 1e-7},
    {7. / 3, 1e12, .5, .5, 3e-14},       {7. / 3, 1e100, .5, .5, kUnprinted},
    {3, 1e3, .7992, .2008, 6e-6},        {3, 1e6, .9406, .0594, 6e-11},
    {3, 1e12, .996, .004, 4e-21},        {3, 1e100, 1, 1e-20, kUnprinted},
};

// Printed to four decimals, or to one significant digit when smaller than 1e-3. One whole unit of
// the last digit is allowed: rows were rounded so as to add up to 1.
void expect_printed(double value, double printed) {
  if (std::isnan(printed)) {
    EXPECT_LT(value, 1e-6);
    return;
  }
  const double unit = printed >= 1e-3 ? 1e-4 : std::pow(10.0, std::floor(std::log10(printed)));
  EXPECT_NEAR(value, printed, unit);
}

TEST(TwoLevelMasses, ReproduceThePrintedTable) {
  for (const Printed& row : kPrinted) {
    SCOPED_TRACE(testing::Message() << "gamma=" << row.gamma << " n=" << row.n);
    const double log_n = std::log(row.n);
    const auto masses = two_level_masses({0.7 * log_n, log_n, 0.7, 0.1}, row.gamma * log_n);
    expect_printed(masses.self, row.self);
    expect_printed(masses.cluster, row.cluster);
    expect_printed(masses.rest, row.rest);
  }
}

// At finite n the strangers are fewer than n by the share (1 + n^τ)/n; that share bounds the
// relative change of every mass.
TEST(TwoLevelMasses, MoveByTheShareOfTheClusterWhenStrangersAreCounted) {
  for (double n : {1e3, 1e6, 1e12})
    for (double gamma : {0.25, 0.5, 1.5, 3.0}) {
      const double log_n = std::log(n), share = (1.0 + std::pow(n, 0.7)) / n;
      const auto exact = two_level_masses(two_level_simplex(log_n, 0.7, 0.7, 0.1), gamma * log_n);
      const auto leading = two_level_masses({0.7 * log_n, log_n, 0.7, 0.1}, gamma * log_n);
      EXPECT_LE(leading.self, exact.self);
      EXPECT_LE(exact.self * (1.0 - share), leading.self);
      EXPECT_GE(leading.rest, exact.rest);
      EXPECT_LE(leading.rest * (1.0 - share), exact.rest * (1.0 + 1e-12));
    }
}

// Tokens √ρ_a e_0 + √(ρ_b−ρ_a) e_cluster + √(1−ρ_b) e_i, scores by dot products. Rounding: three
// products per score, magnified by β, and n additions.
TEST(TwoLevelMasses, AgreeWithSoftmaxOverAnExplicitGram) {
  constexpr int clusters = 7, members = 5, n = clusters * members;
  for (double rest : {0.0, 0.1, 0.4})
    for (double cluster : {0.4, 0.7, 0.9})
      for (double beta : {0.0, 1.0, 6.0, 25.0}) {
        std::vector<std::vector<double>> tokens(n, std::vector<double>(1 + clusters + n, 0.0));
        for (int i = 0; i < n; ++i) {
          tokens[i][0] = std::sqrt(rest);
          tokens[i][1 + i / members] = std::sqrt(cluster - rest);
          tokens[i][1 + clusters + i] = std::sqrt(1.0 - cluster);
        }
        constexpr int query = 11;
        double own = 0.0, near = 0.0, far = 0.0;
        for (int j = 0; j < n; ++j) {
          double score = 0.0;
          for (std::size_t k = 0; k < tokens[j].size(); ++k)
            score += tokens[query][k] * tokens[j][k];
          (j == query                       ? own
           : j / members == query / members ? near
                                            : far) += std::exp(beta * score);
        }
        const double total = own + near + far;
        const auto masses = two_level_masses(
            {std::log(members - 1.0), std::log(double{n - members}), cluster, rest}, beta);
        const double bound = std::numeric_limits<double>::epsilon() * (n + 8.0 * (1.0 + beta));
        EXPECT_NEAR(masses.self, own / total, bound);
        EXPECT_NEAR(masses.cluster, near / total, bound);
        EXPECT_NEAR(masses.rest, far / total, bound);
      }
}

// Property (1) of two_level_simplex: counts from exact powers, 4096 = 16³ and 256 = 16².
TEST(TwoLevelSimplex, CountsEveryTokenOnce) {
  const auto simplex = two_level_simplex(std::log(4096.0), 2.0 / 3.0, 0.5, 0.1);
  const double bound = kTwoLevelError * (1.0 + std::log(4096.0)) / (1.0 - 257.0 / 4096.0);
  EXPECT_NEAR(simplex.log_neighbours, std::log(256.0), bound);
  EXPECT_NEAR(simplex.log_strangers, std::log(4096.0 - 1.0 - 256.0), bound);
  const auto one_cluster = two_level_simplex(std::log(4096.0), 1.0, 0.5, 0.1);
  EXPECT_NEAR(one_cluster.log_neighbours, std::log(4095.0), bound);
  EXPECT_EQ(one_cluster.log_strangers, -kInfinity);
}

// Properties (1) and (3).
TEST(TwoLevelMasses, AddUpToOneAndCountTokensAtInfiniteTemperature) {
  const auto simplex = two_level_simplex(std::log(1e5), 0.6, 0.8, 0.2);
  for (double beta : {0.0, 3.0, 20.0, 300.0}) {
    const auto masses = two_level_masses(simplex, beta);
    EXPECT_NEAR(masses.self + masses.cluster + masses.rest, 1.0, 3.0 * tolerance(simplex, beta));
    EXPECT_NEAR(masses.self, std::exp(masses.log_self), tolerance(simplex, beta));
  }
  const auto masses = two_level_masses(simplex, 0.0);
  EXPECT_NEAR(masses.self * 1e5, 1.0, 4.0 * tolerance(simplex, 0.0));
  EXPECT_NEAR(masses.cluster * 1e5 / 1e3, 1.0, 4.0 * tolerance(simplex, 0.0));
}

// Property (2).
TEST(TwoLevelMasses, ReduceToTheSimplexWithoutContrast) {
  for (double rho : {0.0, 0.5})
    for (double beta : {0.5, 9.0, 30.0}) {
      const auto simplex = two_level_simplex(12.0, 0.4, rho, rho);
      const auto masses = two_level_masses(simplex, beta);
      const auto weights = simplex_weights(12.0, beta, rho);
      const double bound = 2.0 * tolerance(simplex, beta) + simplex_error(12.0, beta);
      EXPECT_NEAR(masses.self / weights.self, 1.0, bound);
      EXPECT_NEAR((masses.cluster + masses.rest) / weights.others, 1.0, bound);
    }
}

// Property (4).
TEST(TwoLevelMasses, MoveFromTheRestToSelfAsTemperatureFalls) {
  const auto simplex = two_level_simplex(14.0, 0.7, 0.7, 0.1);
  auto previous = two_level_masses(simplex, 0.0);
  for (double beta = 0.5; beta < 60.0; beta += 0.5) {
    const auto masses = two_level_masses(simplex, beta);
    EXPECT_GT(masses.log_self, previous.log_self);
    EXPECT_LT(masses.log_rest, previous.log_rest);
    previous = masses;
  }
}

// ---- the layer ------------------------------------------------------------------------------

double output_tolerance(const TwoLevelSimplex& simplex, double beta) {
  return kTwoLevelOutputError / kTwoLevelError * tolerance(simplex, beta);
}

struct PrintedOutput {
  double gamma, cluster, rest;
};

// Nine clusters of 227, ρ_a = 0.1, ρ_b = 0.7; printed to four decimals.
TEST(TwoLevelOutput, ReproducesThePrintedValues) {
  const double log_n = std::log(2043.0);
  const TwoLevelSimplex simplex{std::log(226.0), std::log(2043.0 - 227.0), 0.7, 0.1};
  for (const PrintedOutput& row :
       {PrintedOutput{1, .9994, .1793}, {2, .9637, .1377}, {3, .7817, .1116}}) {
    const auto output = two_level_output(simplex, row.gamma * log_n);
    EXPECT_NEAR(output.cluster_correlation, row.cluster, 5e-5) << row.gamma;
    EXPECT_NEAR(output.rest_correlation, row.rest, 5e-5) << row.gamma;
  }
}

using Tokens = std::vector<std::vector<double>>;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

Tokens clustered_tokens(int clusters, int members, double cluster, double rest) {
  const int n = clusters * members;
  Tokens tokens(n, std::vector<double>(1 + clusters + n, 0.0));
  for (int i = 0; i < n; ++i) {
    tokens[i][0] = std::sqrt(rest);
    tokens[i][1 + i / members] = std::sqrt(cluster - rest);
    tokens[i][1 + clusters + i] = std::sqrt(1.0 - cluster);
  }
  return tokens;
}

/// x'_i = Σ_j softmax_j(β⟨y_i, y_j⟩) y_j + κ y_i.
Tokens softmax_layer(const Tokens& tokens, double beta, double kappa) {
  const std::size_t n = tokens.size(), d = tokens[0].size();
  Tokens outputs(n, std::vector<double>(d, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    double normaliser = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const double weight = std::exp(beta * (dot(tokens[i], tokens[j]) - 1.0));
      normaliser += weight;
      for (std::size_t k = 0; k < d; ++k) outputs[i][k] += weight * tokens[j][k];
    }
    for (std::size_t k = 0; k < d; ++k)
      outputs[i][k] = outputs[i][k] / normaliser + kappa * tokens[i][k];
  }
  return outputs;
}

struct Shape {
  int clusters, members;
};

// Property (1). Rounding: a score has three products, magnified by β = 15; sums of 40 terms follow.
// 4 · (40 + 15 · 8) kEpsilon is 2e-13.
TEST(TwoLevelOutput, EqualsASoftmaxLayerOnExplicitTokens) {
  for (const auto& [clusters, members] : {Shape{2, 2}, {2, 9}, {7, 5}, {20, 2}, {3, 13}})
    for (double rest : {0.0, 0.1, 0.4})
      for (double cluster : {0.4, 0.7, 0.95})
        for (double beta : {0.0, 0.8, 4.0, 15.0})
          for (double kappa : {0.0, 0.7}) {
            SCOPED_TRACE(testing::Message() << clusters << 'x' << members << ' ' << rest << ' '
                                            << cluster << ' ' << beta << ' ' << kappa);
            const Tokens outputs =
                softmax_layer(clustered_tokens(clusters, members, cluster, rest), beta, kappa);
            const double norm = dot(outputs[0], outputs[0]);
            const double near = dot(outputs[0], outputs[1]) / norm;
            const double far = dot(outputs[0], outputs[members]) / norm;
            const auto output = two_level_output(
                {std::log(members - 1.0), std::log((clusters - 1.0) * members), cluster, rest},
                beta, kappa);
            EXPECT_NEAR(output.squared_norm / norm, 1.0, 1e-12);
            EXPECT_NEAR(output.cluster_correlation, near, 1e-12);
            EXPECT_NEAR(output.rest_correlation, far, 1e-12);
            EXPECT_NEAR(output.cluster_decorrelation, 1.0 - near, 1e-12);
            EXPECT_NEAR(output.rest_decorrelation, 1.0 - far, 1e-12);
          }
}

// Properties (2) and (4), lengths beyond the range of doubles included.
TEST(TwoLevelOutput, KeepsClustersClusters) {
  for (double log_n : {3.0, 20.0, 690.0, 5000.0})
    for (double tau : {0.2, 0.7, 0.95})
      for (double gamma : {0.1, 0.6, 1.0, 1.5, 3.0})
        for (double kappa : {0.0, 0.5}) {
          const auto simplex = two_level_simplex(log_n, tau, 0.7, 0.1);
          const double beta = gamma * log_n, bound = 2.0 * output_tolerance(simplex, beta);
          const auto output = two_level_output(simplex, beta, kappa);
          EXPECT_NEAR(output.cluster_correlation + output.cluster_decorrelation, 1.0, bound);
          EXPECT_NEAR(output.rest_correlation + output.rest_decorrelation, 1.0, bound);
          EXPECT_GE(output.rest_correlation, 0.0);
          EXPECT_LE(output.rest_correlation, output.cluster_correlation);
        }
}

// Property (3).
TEST(TwoLevelOutput, ReducesToTheSimplexWithoutContrast) {
  for (double log_n : {2.0, 12.0, 300.0})
    for (double rho : {0.0, 0.3, 0.8})
      for (double scale : {0.3, 1.0, 1.5})
        for (double kappa : {0.0, 0.9}) {
          const auto simplex = two_level_simplex(log_n, 0.4, rho, rho);
          const double beta = scale * log_n / (1.0 - rho);
          const auto output = two_level_output(simplex, beta, kappa);
          const auto plain = simplex_output(log_n, beta, rho, kappa);
          const double bound = output_tolerance(simplex, beta) + simplex_error(log_n, beta);
          EXPECT_NEAR(output.squared_norm, plain.squared_norm, bound * plain.squared_norm);
          EXPECT_NEAR(output.cluster_decorrelation, plain.decorrelation,
                      bound * plain.decorrelation);
          EXPECT_NEAR(output.rest_decorrelation, plain.decorrelation, bound * plain.decorrelation);
          EXPECT_NEAR(output.rest_correlation, plain.correlation, bound * plain.correlation);
        }
}

// Property (5). At γ = 1.5 self and rest are powers n^{−0.25}, n^{−0.6} of n = 1e300.
TEST(TwoLevelOutput, CollapsesEachClusterOnItsOwnInTheMiddlePhase) {
  const double log_n = 300.0 * std::log(10.0), beta = 1.5 * log_n;
  const auto simplex = two_level_simplex(log_n, 0.7, 0.7, 0.1);
  const auto output = two_level_output(simplex, beta);
  const double bound = output_tolerance(simplex, beta);
  EXPECT_NEAR(output.cluster_correlation, 1.0, bound);
  EXPECT_NEAR(output.rest_correlation, 0.1 / 0.7, bound);
  EXPECT_LT(output.cluster_decorrelation, 1e-140);
  EXPECT_GT(output.cluster_decorrelation, 1e-160);
}

// Property (1).
TEST(ClusterPhase, ExistsExactlyUnderTheSeparationCondition) {
  int existing = 0, missing = 0;
  for (double tau = 0.05; tau <= 1.0; tau += 0.1)
    for (double rest = 0.0; rest < 0.9; rest += 0.13)
      for (double cluster = rest; cluster < 1.0; cluster += 0.07) {
        const double margin = cluster - (1.0 - tau) * (1.0 - rest) - rest;
        if (std::abs(margin) < 1e-12) continue;
        const bool exists = cluster_phase(tau, cluster, rest).has_value();
        EXPECT_EQ(exists, margin > 0.0) << tau << ' ' << rest << ' ' << cluster;
        ++(exists ? existing : missing);
      }
  EXPECT_GT(existing, 50);
  EXPECT_GT(missing, 50);
}

TEST(ClusterPhase, HasThePrintedBorders) {
  const auto phase = cluster_phase(0.7, 0.7, 0.1);
  ASSERT_TRUE(phase.has_value());
  EXPECT_NEAR(phase->rest_to_cluster, 0.5, 2.0 * kTwoLevelError);
  EXPECT_NEAR(phase->cluster_to_self, 7.0 / 3.0, 4.0 * kTwoLevelError);
}

// Property (2).
TEST(ClusterPhase, ContainsTheDirectBorder) {
  for (double tau : {0.5, 0.7, 0.95})
    for (double rest : {0.0, 0.2})
      for (double cluster : {0.7, 0.9}) {
        const auto phase = cluster_phase(tau, cluster, rest);
        ASSERT_TRUE(phase.has_value());
        EXPECT_LT(phase->rest_to_cluster, critical_gamma(rest));
        EXPECT_GT(phase->cluster_to_self, critical_gamma(rest));
      }
}

// Property (3). The share of strangers is 1 − (1 + n^τ)/n.
TEST(ClusterPhase, BordersAreWhereNeighbouringMassesAreEqual) {
  const auto phase = cluster_phase(0.6, 0.8, 0.1);
  ASSERT_TRUE(phase.has_value());
  for (double log_n : {5.0, 20.0, 300.0}) {
    const auto simplex = two_level_simplex(log_n, 0.6, 0.8, 0.1);
    const double first = phase->rest_to_cluster * log_n, second = phase->cluster_to_self * log_n;
    const auto lower = two_level_masses(simplex, first), upper = two_level_masses(simplex, second);
    const double share = 1.0 - std::exp(-log_n) - std::exp(-0.4 * log_n);
    EXPECT_NEAR(lower.log_rest - lower.log_cluster, std::log(share),
                4.0 * tolerance(simplex, first));
    EXPECT_NEAR(upper.log_self, upper.log_cluster, 4.0 * tolerance(simplex, second));
  }
}

}  // namespace
}  // namespace dewpoint::theory
