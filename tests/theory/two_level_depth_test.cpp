// Many layers of the two-level simplex: explicit tokens in many digits and as deep tokens, the one
// layer, the simplex, and the order in which things collapse at n = 1e300.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/two_level_depth.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "dewpoint/attention/deep_layers.hpp"
#include "dewpoint/theory/log_space.hpp"
#include "dewpoint/theory/simplex_depth.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TwoLevelStack stack_of(int clusters, int members, double beta, double alpha) {
  return {std::log(members - 1.0), std::log((clusters - 1.0) * members), beta, alpha};
}

// How an error of the state's logarithms goes on: gaps are cubed at most, and a weight changes by
// at most β times a gap, which acts on x, z and q'.
double next_bound(double bound, const TwoLevelStack& stack, const TwoLevelState& state) {
  const double reach = stack.inverse_temperature * std::exp(state.log_rest_decorrelation());
  return (kCollapseOrder + 4.0 * reach) * bound + two_level_step_error(stack, state);
}

// ---- explicit tokens ------------------------------------------------------------------------

using Number = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<800>,
                                             boost::multiprecision::et_off>;
using Tokens = std::vector<std::vector<Number>>;

Number dot(const std::vector<Number>& x, const std::vector<Number>& y) {
  Number sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

Tokens clustered_tokens(int clusters, int members, const Number& cluster, const Number& rest) {
  const int n = clusters * members;
  Tokens tokens(n, std::vector<Number>(1 + clusters + n, Number(0)));
  for (int i = 0; i < n; ++i) {
    tokens[i][0] = sqrt(rest);
    tokens[i][1 + i / members] = sqrt(cluster - rest);
    tokens[i][1 + clusters + i] = sqrt(1 - cluster);
  }
  return tokens;
}

Tokens directions(Tokens tokens) {
  for (auto& token : tokens) {
    const Number length = sqrt(dot(token, token));
    for (Number& coordinate : token) coordinate /= length;
  }
  return tokens;
}

/// 1 − ⟨x, y⟩ of unit vectors, by differences: twice as many digits.
Number gap(const std::vector<Number>& x, const std::vector<Number>& y) {
  std::vector<Number> difference = x;
  for (std::size_t k = 0; k < x.size(); ++k) difference[k] -= y[k];
  return dot(difference, difference) / 2;
}

/// x'_i = Σ_j softmax_j(β⟨y_i, y_j⟩) y_j + α x_i with y = x/‖x‖.
Tokens softmax_layer(const Tokens& inputs, double beta, double alpha) {
  const Tokens unit = directions(inputs);
  const std::size_t n = inputs.size(), d = inputs[0].size();
  Tokens outputs(n, std::vector<Number>(d, Number(0)));
  for (std::size_t i = 0; i < n; ++i) {
    Number total = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const Number weight = exp(-beta * gap(unit[i], unit[j]));
      total += weight;
      for (std::size_t k = 0; k < d; ++k) outputs[i][k] += weight * unit[j][k];
    }
    for (std::size_t k = 0; k < d; ++k)
      outputs[i][k] = outputs[i][k] / total + alpha * inputs[i][k];
  }
  return outputs;
}

double log_gap(const Tokens& tokens, int i, int j) {
  const Tokens unit = directions(tokens);
  int exponent = 0;
  const Number mantissa = frexp(gap(unit[i], unit[j]), &exponent);
  return std::log(static_cast<double>(mantissa)) + exponent * std::numbers::ln2;
}

struct Explicit {
  int clusters, members;
  double cluster, rest, beta, alpha;
  double log_own, rest_end;  // log(1 − ρ_b) and ρ_a end below these
};

// Property (1) of two_level_trajectory: 1 − ρ_b far below the range of doubles while clusters stay
// apart; everything together; everything with a residual. Stops at e^{−900}, since the next layer
// would need more than the 800 digits of these tokens.
TEST(TwoLevelTrajectory, EqualsExplicitTokensBeforeAndAfterTheCollapse) {
  for (const Explicit& e : {Explicit{3, 2, 0.8, 0.1, 6.0, 0.0, -900.0, 0.5},
                            Explicit{3, 2, 0.6, 0.1, 2.9, 0.0, -900.0, 2.0},
                            Explicit{2, 3, 0.5, 0.2, 1.2, 0.3, -10.0, 2.0}}) {
    SCOPED_TRACE(testing::Message() << e.beta << ' ' << e.alpha);
    const TwoLevelStack stack = stack_of(e.clusters, e.members, e.beta, e.alpha);
    Tokens tokens = clustered_tokens(e.clusters, e.members, Number(e.cluster), Number(e.rest));
    TwoLevelState state = two_level_state(1.0, e.cluster, e.rest);
    double bound = 8.0 * kEpsilon;
    for (int layer = 0; layer < 8 && state.log_own > -900.0; ++layer) {
      bound = next_bound(bound, stack, state);
      tokens = softmax_layer(tokens, e.beta, e.alpha);
      state = two_level_step(state, stack);
      EXPECT_NEAR(state.log_own, log_gap(tokens, 0, 1), bound);
      EXPECT_NEAR(state.log_rest_decorrelation(), log_gap(tokens, 0, e.members), bound);
      EXPECT_NEAR(state.squared_norm / static_cast<double>(dot(tokens[0], tokens[0])), 1.0, bound);
    }
    EXPECT_LT(state.log_own, e.log_own);
    EXPECT_LT(state.rest_correlation(), e.rest_end);
  }
}

// The same against deep tokens, as long as their one frame resolves a cluster.
TEST(TwoLevelTrajectory, EqualsDeepTokens) {
  tokens::CloudParameters p;
  p.law = "two-level";
  p.n = 24;
  p.cluster_size = 6;
  p.rho = 0.1;
  p.rho_inner = 0.7;
  for (const auto& [beta, alpha] : {std::pair{1.0, 0.0}, {4.0, 0.0}, {4.0, 0.5}, {15.0, 0.0}}) {
    const TwoLevelStack stack = stack_of(4, 6, beta, alpha);
    attention::DeepTokens tokens(tokens::make_cloud(tokens::resolved(p), 1, 0));
    const double layer_error = attention::deep_layer_error(24, tokens.dimension());
    double bound = layer_error;
    int resolved = 0;
    for (const auto& state : two_level_trajectory(two_level_state(1.0, 0.7, 0.1), stack, 8)) {
      SCOPED_TRACE(testing::Message() << beta << ' ' << alpha << ' ' << state.log_own);
      const double far = state.log_rest_decorrelation();
      EXPECT_NEAR(tokens.log_gap(0, 6), far, bound);
      EXPECT_NEAR(tokens.norms()[7] * tokens.norms()[7] / state.squared_norm, 1.0, bound);
      if (state.log_own - far > std::log(attention::kUnresolvedGap)) {
        EXPECT_NEAR(tokens.log_gap(0, 1), state.log_own,
                    bound * std::exp(0.5 * (far - state.log_own)));
        ++resolved;
      }
      bound = next_bound(bound, stack, state) + layer_error;
      tokens = attention::deep_layer(tokens, {beta, alpha});
    }
    EXPECT_GE(resolved, 3);
  }
}

// ---- properties of the state and of the step ------------------------------------------------

// Property (1) of two_level_state.
TEST(TwoLevelState, GivesTheCorrelationsBack) {
  for (double rest : {0.0, 1e-9, 0.3})
    for (double cluster : {0.3, 0.9, 0.999999}) {
      const TwoLevelState state = two_level_state(2.0, cluster, rest);
      EXPECT_NEAR(state.cluster_correlation(), cluster, 4.0 * kEpsilon);
      EXPECT_NEAR(state.rest_correlation(), rest, 4.0 * kEpsilon);
      EXPECT_NEAR(state.log_rest_decorrelation(), std::log1p(-rest), 16.0 * kEpsilon);
    }
}

// Properties (1) and (2), within the range of two_level_output.
TEST(TwoLevelStep, AgreesWithTheSingleLayer) {
  for (double log_n : {3.0, 20.0, 340.0})
    for (double tau : {0.2, 0.7, 1.0})
      for (double rest : {0.0, 0.1})
        for (double gamma : {0.1, 0.6, 1.5, 3.0})
          for (double alpha : {0.0, 0.5}) {
            SCOPED_TRACE(testing::Message() << log_n << ' ' << tau << ' ' << gamma << ' ' << alpha);
            const auto simplex = two_level_simplex(log_n, tau, 0.7, rest);
            const double beta = gamma * log_n;
            const TwoLevelStack stack{simplex.log_neighbours, simplex.log_strangers, beta, alpha};
            const TwoLevelState start = two_level_state(2.5, 0.7, rest);
            const TwoLevelState next = two_level_step(start, stack);
            const auto output = two_level_output(simplex, beta, alpha * std::sqrt(2.5));
            const double bound =
                two_level_step_error(stack, start) + kTwoLevelOutputError * (1.0 + beta + log_n);
            EXPECT_NEAR(next.squared_norm / output.squared_norm, 1.0, bound);
            EXPECT_NEAR(next.log_own, std::log(output.cluster_decorrelation), bound);
            EXPECT_NEAR(next.log_rest_decorrelation(), std::log(output.rest_decorrelation), bound);
            EXPECT_NEAR(next.rest_correlation(), output.rest_correlation, bound);
            EXPECT_NEAR(
                std::exp(next.log_own) + std::exp(next.log_cluster) + std::exp(next.log_common),
                1.0, bound);
          }
}

// Property (3), through the collapse and from uncorrelated tokens too.
TEST(TwoLevelStep, ReducesToTheSimplexWithoutContrast) {
  for (double log_n : {2.0, 12.0, 690.0})
    for (double rho : {0.0, 0.3, 0.8})
      for (double scale : {0.3, 1.0, 1.5})
        for (double alpha : {0.0, 0.9}) {
          const auto simplex = two_level_simplex(log_n, 0.4, rho, rho);
          const double beta = scale * log_n / (1.0 - rho);
          const TwoLevelStack stack{simplex.log_neighbours, simplex.log_strangers, beta, alpha};
          const SimplexStack plain{log_n, beta, alpha};
          TwoLevelState state = two_level_state(1.3, rho, rho);
          SimplexState expected = simplex_state(1.3, rho);
          double bound = 8.0 * kEpsilon;
          for (int layer = 0; layer < 6; ++layer) {
            EXPECT_NEAR(state.log_own, expected.log_decorrelation, bound);
            EXPECT_NEAR(state.squared_norm / expected.squared_norm, 1.0, bound);
            EXPECT_EQ(state.log_cluster, -kInfinity);
            bound = next_bound(bound, stack, state) + simplex_step_error(plain, expected);
            state = two_level_step(state, stack);
            expected = simplex_step(expected, plain);
          }
        }
}

// Property (4).
TEST(TwoLevelStep, NeverDrivesTokensApart) {
  for (double log_n : {3.0, 20.0, 690.0})
    for (double tau : {0.2, 0.7, 0.95})
      for (double gamma : {0.2, 0.6, 1.5, 3.0})
        for (double alpha : {0.0, 0.5, 2.0}) {
          const auto simplex = two_level_simplex(log_n, tau, 0.7, 0.1);
          const TwoLevelStack stack{simplex.log_neighbours, simplex.log_strangers, gamma * log_n,
                                    alpha};
          TwoLevelState state = two_level_state(1.0, 0.7, 0.1);
          for (int layer = 0; layer < 20; ++layer) {
            const TwoLevelState next = two_level_step(state, stack);
            const double bound = two_level_step_error(stack, state);
            EXPECT_LE(next.log_own, state.log_own + bound);
            EXPECT_LE(next.log_rest_decorrelation(), state.log_rest_decorrelation() + bound);
            state = next;
          }
        }
}

// Property (5), for clusters so far apart (β(1 − ρ_a) = 60) that strangers weigh e^{−60}.
TEST(TwoLevelStep, CubesWhatACollapsedClusterHasLeft) {
  const TwoLevelStack stack = stack_of(5, 7, 100.0, 0.0);
  for (double log_own : {-60.0, -700.0, -5000.0}) {
    const TwoLevelState start{1.0, log_own, std::log(0.6), std::log(0.4)};
    const TwoLevelState next = two_level_step(start, stack);
    const double bound = two_level_step_error(stack, start);
    EXPECT_NEAR(next.log_own, 3.0 * log_own + 2.0 * std::log(100.0 / 7.0), bound);
    EXPECT_NEAR(next.rest_correlation(), 0.4, bound);
    EXPECT_NEAR(next.squared_norm, 1.0, bound);
  }
}

// ---- n = 1e300 ------------------------------------------------------------------------------

class AtHugeLength : public testing::Test {
 protected:
  [[nodiscard]] TwoLevelStack stack(double gamma) const {
    return {simplex.log_neighbours, simplex.log_strangers, gamma * log_n};
  }

  double log_n = 300.0 * std::log(10.0);
  TwoLevelSimplex simplex = two_level_simplex(log_n, 0.7, 0.7, 0.1);
  TwoLevelState start = two_level_state(1.0, 0.7, 0.1);
};

// γ = 1.5 lies in the middle phase (0.5, 7/3): one layer makes a point of every cluster, with
// correlation ρ_a/ρ_b = 1/7 between points. They are a simplex of n^0.3 tokens far above its
// transition, c = 1.5 · (6/7)/0.3, and stay where they are: s ≈ n^{0.3 − 1.5 · 6/7} is 1e-295.
TEST_F(AtHugeLength, ClustersCollapseEachOnItsOwn) {
  const TwoLevelStack middle = stack(1.5);
  const auto states = two_level_trajectory(start, middle, 8);
  for (int layer = 1; layer <= 8; ++layer) {
    EXPECT_LT(states[layer].log_own, 2.9 * states[layer - 1].log_own);
    EXPECT_NEAR(states[layer].rest_correlation(), 1.0 / 7.0,
                layer * two_level_step_error(middle, start));
  }
  EXPECT_LT(states[1].log_own, -340.0);
  EXPECT_LT(states[8].log_own, -1e6);
}

// Just above the border γ_1 = 1/2 the strangers still hold two fifths of the first layer, and the
// points are left close to their own transition. They are then a simplex of n/p tokens, layer by
// layer, and collapse when that does: after some thousands of layers in which nothing seems to
// happen, and long after the last logarithm of 1 − ρ_b has left the range of doubles.
TEST_F(AtHugeLength, ThePointsFollowTheSimplexOfTheClusters) {
  const TwoLevelStack border = stack(0.5004);
  TwoLevelState state = two_level_step(start, border);
  EXPECT_LT(state.log_own, -750.0);
  const double log_clusters = log_n - log_add(0.0, simplex.log_neighbours);
  const SimplexState points{1.0, state.log_rest_decorrelation()};
  const auto depth =
      collapse_depth(points, {log_clusters, border.inverse_temperature}, 0.99, 1000000);
  ASSERT_TRUE(depth.has_value());
  EXPECT_GT(*depth, 1000);

  long long layers = 0;
  for (; state.rest_correlation() <= 0.99; ++layers) state = two_level_step(state, border);
  EXPECT_EQ(layers, *depth);
  EXPECT_EQ(state.log_own, -kInfinity);
}

// Below the border everything goes at once, clusters still ahead.
TEST_F(AtHugeLength, EverythingCollapsesAtOnceInTheRestPhase) {
  const auto states = two_level_trajectory(start, stack(0.4), 2);
  EXPECT_LT(states[1].log_rest_decorrelation(), -80.0);
  EXPECT_LT(states[1].log_own, 10.0 * states[1].log_rest_decorrelation());
  EXPECT_LT(states[2].log_rest_decorrelation(), -600.0);
}

}  // namespace
}  // namespace dewpoint::theory
