// The rank-one flow against the population gradient with all weights, its conserved quantities
// along orbits, and its linearisation at the second critical point.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/rank_one_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/markov_chain.hpp"
#include "dewpoint/theory/second_critical_point.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/population_loss.hpp"

namespace dewpoint::theory {
namespace {

using test::Population;
using test::Weights;

const std::vector<double> kExperiment{0.75, 0.19, 0.05, 0.01};

/// A chain with the given law that is neither reversible nor of the form λI + (1 − λ)1πᵀ: that
/// chain with more exchange between neighbours on a ring, and a current around the ring.
Matrix<double> swirling_chain(const std::vector<double>& law) {
  constexpr double kExchange = 0.03, kCurrent = 0.015;
  const std::size_t d = law.size();
  const double current = kCurrent * *std::min_element(law.begin(), law.end());
  Matrix<double> p = persistent_chain(law, 0.7);
  const auto move = [&](std::size_t from, std::size_t to, double probability) {
    p(from, to) += probability;
    p(from, from) -= probability;
  };
  for (std::size_t i = 0; i < d; ++i) {
    const std::size_t next = (i + 1) % d;
    const double exchange = kExchange * std::min(law[i], law[next]);
    move(i, next, (exchange + current) / law[i]);
    move(next, i, exchange / law[next]);
  }
  return p;
}

RankOneState random_state(std::size_t d, const std::string& name) {
  const Stream draw = test::stream(name);
  RankOneState state{std::vector<double>(d), std::vector<double>(d), draw.normal(2 * d),
                     draw.normal(2 * d + 1)};
  for (std::size_t i = 0; i < d; ++i) {
    state.embedding[i] = draw.normal(i);
    state.output[i] = draw.normal(d + i);
  }
  return state;
}

// ---- against all weights ---------------------------------------------------------------------

std::vector<double> unit_vector(std::size_t m, const std::string& name) {
  std::vector<double> x(m);
  const Stream draw = test::stream(name);
  for (std::size_t k = 0; k < m; ++k) x[k] = draw.normal(k);
  return ray_of(x).direction;
}

/// factor x yᵀ.
Matrix<double> outer(double factor, const std::vector<double>& x, const std::vector<double>& y) {
  Matrix<double> result(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t k = 0; k < y.size(); ++k) result(i, k) = factor * x[i] * y[k];
  }
  return result;
}

Weights<double> on_manifold(const RankOneState& state, const std::vector<double>& alpha,
                            const std::vector<double>& tilde) {
  Weights<double> w(state.embedding.size(), alpha.size());
  w.w0 = outer(1.0, state.embedding, alpha);
  w.w1 = outer(1.0, alpha, state.output);
  w.wq = outer(state.query, alpha, tilde);
  w.wk = outer(state.key, alpha, tilde);
  return w;
}

// Property (1). The rounding of the scores, numbers up to 50 here, reaches the attention weights:
// 50 units in the last place.
TEST(RankOneFlow, IsTheGradientFlowOfAllWeights) {
  for (const std::size_t d : {2, 3, 4, 6}) {
    const std::string name = "RankOneFlow/Gradient/" + std::to_string(d);
    std::vector<double> law(d);
    for (std::size_t i = 0; i < d; ++i) law[i] = 1.0 / static_cast<double>(2 + i * i);
    const double total = std::accumulate(law.begin(), law.end(), 0.0);
    for (double& p : law) p /= total;
    const RankOneFlow flow(law, swirling_chain(law));
    const Population data(law, flow.transition());
    const RankOneState state = random_state(d, name);
    const std::vector<double> alpha = unit_vector(5, name + "/alpha");
    const std::vector<double> tilde = unit_vector(5, name + "/tilde");

    const Weights<double> w = on_manifold(state, alpha, tilde);
    const std::vector<double> uphill = test::population_gradient(data, w).flat();
    std::vector<double> sum = on_manifold(flow.velocity(state), alpha, tilde).flat();
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += uphill[k];
    const double scale = 1.0 + test::length(uphill);
    EXPECT_LT(test::length(sum), 1e-14 * scale) << d;
    EXPECT_NEAR(flow.loss(state), test::population_loss(data, w), 1e-14 * scale);
    const Matrix<double> attention = test::population_state(data, w).attention;
    EXPECT_LE(test::largest_difference(flow.attention(state), attention), 1e-14);
  }
}

// Property (2): both derivatives are sums of terms that cancel.
TEST(RankOneFlow, KeepsItsTwoInvariants) {
  const RankOneFlow flow(kExperiment, swirling_chain(kExperiment));
  for (int k = 0; k < 20; ++k) {
    const RankOneState s = random_state(4, "RankOneFlow/Invariants/" + std::to_string(k));
    const RankOneState v = flow.velocity(s);
    const double attention = s.query * v.query, key = s.key * v.key;
    const double embedding = inner(s.embedding, v.embedding), output = inner(s.output, v.output);
    const double size = 1.0 + std::abs(embedding) + std::abs(output) + std::abs(attention);
    EXPECT_NEAR(embedding - output - attention - key, 0.0, 1e-14 * size);
    EXPECT_NEAR(attention - key, 0.0, 1e-14 * size);
  }
}

// Property (3).
TEST(RankOneFlow, StandsStillAtTheSecondCriticalPoint) {
  const RankOneFlow flow(kExperiment, swirling_chain(kExperiment));
  RankOneState state = unstable_start(kExperiment, flow.transition(), 0.0);
  state.query = 0.3;  // λ_K = 0: any λ_Q is as good as 0
  const RankOneState v = flow.velocity(state);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(v.embedding[i], 0.0, 1e-15);
    EXPECT_NEAR(v.output[i], 0.0, 1e-15);
  }
  EXPECT_NEAR(v.query, 0.0, 1e-15);
  EXPECT_NEAR(flow.loss(state), law_entropy(kExperiment), 1e-15);
}

// The integration keeps a relative error of 1e-12 per unit of the problem's own time; 60 of them
// and a factor for its Lipschitz constant stay below 1e-9.
TEST(RankOneFlow, TrajectoryConservesAndDescends) {
  const RankOneFlow flow(kExperiment, swirling_chain(kExperiment));
  RankOneState start = random_state(4, "RankOneFlow/Trajectory");
  for (double& g : start.embedding) g *= 0.1;
  const std::vector<double> times{0.0, 5.0, 20.0, 60.0};
  const auto states = flow.trajectory(start, times);
  ASSERT_EQ(states.size(), times.size());
  const RankOneInvariants before = invariants(start);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const RankOneInvariants now = invariants(states[k]);
    EXPECT_NEAR(now.norms, before.norms, 1e-9);
    EXPECT_NEAR(now.attention, before.attention, 1e-9);
    if (k > 0) {
      EXPECT_LT(flow.loss(states[k]), flow.loss(states[k - 1]));
    }
  }
}

// ---- the attention amplitude -----------------------------------------------------------------

// Eq (20) as printed is right for λ_Q = λ_K and fifty times too small in its own example.
TEST(AmplitudeVelocity, IsTheDerivativeOfTheProduct) {
  const std::vector<double> law = two_group_law(0.6, 3);
  const RankOneFlow flow(law, persistent_chain(law, 0.8));
  RankOneState state = unstable_start(law, flow.transition(), 0.0);
  state.query = 1e-2;
  state.key = 1e-4;
  const RankOneState v = flow.velocity(state);
  const double derivative = state.query * v.key + state.key * v.query;
  EXPECT_NEAR(amplitude_velocity(flow, state), derivative, 1e-14 * derivative);
  EXPECT_NEAR(amplitude_velocity(flow, state), 2.26e-6, 0.5e-8);
  EXPECT_NEAR(published_amplitude_velocity(flow, state), 4.5e-8, 0.5e-9);
  state.query = state.key;
  EXPECT_DOUBLE_EQ(amplitude_velocity(flow, state), published_amplitude_velocity(flow, state));
}

// ---- the linearisation -----------------------------------------------------------------------

// Ten printed decimals; both chains are λ = 0.8.
TEST(RankOneResponse, ReproducesThePrintedEigenvectors) {
  struct Row {
    double top;
    std::size_t tokens;
    double rate, embedding[2], output[2];
  };
  for (const Row& row :
       {Row{0.6, 3, 0.0452620296, {1.3794030982, -1.3227423878}, {-0.3346475943, 0.1673237971}},
        Row{0.75, 4, 0.2681243723, {0.4327899574, -0.4357893118}, {-0.3041464368, 0.1013821456}}}) {
    const std::vector<double> law = two_group_law(row.top, row.tokens);
    const RankOneResponse response = rank_one_response(law, persistent_chain(law, 0.8));
    EXPECT_NEAR(response.rate, row.rate, 0.501e-10);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(response.embedding_change[i], row.embedding[i], 0.501e-10);
      EXPECT_NEAR(response.output_change[i], row.output[i], 0.501e-10);
    }
  }
}

// Property (1), for chains that follow and that avoid the last token. Along the eigenvector the
// velocity divided by η is rate · r up to O(η) with a factor of the size of the second derivatives,
// below 100; rounding adds 1e-15/η.
TEST(RankOneResponse, IsAnEigenvectorOfTheFlow) {
  const std::vector<double> even = two_group_law(0.6, 3);
  for (const auto& [law, chain] : {std::pair{kExperiment, swirling_chain(kExperiment)},
                                   {even, persistent_chain(even, -0.2)}}) {
    const RankOneFlow flow(law, chain);
    const RankOneResponse response = rank_one_response(law, chain);
    const RankOneState state = unstable_start(law, chain, 1e-4);
    const double eta = state.amplitude(), tolerance = 100 * std::abs(eta) + 1e-15 / std::abs(eta);
    EXPECT_EQ(eta > 0.0, attention_rate(law, chain) > 0.0);
    EXPECT_NEAR(response.rate, 2.0 * std::abs(attention_rate(law, chain)), 1e-15);
    const RankOneState v = flow.velocity(state);
    EXPECT_NEAR(amplitude_velocity(flow, state) / eta, response.rate, tolerance);
    for (std::size_t i = 0; i < law.size(); ++i) {
      EXPECT_NEAR(v.embedding[i] / eta, response.rate * response.embedding_change[i], tolerance);
      EXPECT_NEAR(v.output[i] / eta, response.rate * response.output_change[i], tolerance);
    }
  }
}

// Property (1) of unstable_start.
TEST(UnstableStart, KeepsTheInvariantsOfSmallWeights) {
  const Matrix<double> chain = swirling_chain(kExperiment);
  for (const double attention : {1e-2, 1e-3}) {
    const RankOneState state = unstable_start(kExperiment, chain, attention);
    EXPECT_NEAR(invariants(state).norms, 0.0, 100 * std::pow(attention, 4) + 1e-14);
    EXPECT_EQ(invariants(state).attention, 0.0);
  }
}

// From η = 1e-8 to 1e-4 the product grows at 2c, and γ and β leave with it. The mean of the rate is
// off by its correction O(η) averaged over log η: 100 · 1e-4/log(1e4).
TEST(RankOneFlow, LeavesTheSecondCriticalPointAtTwiceTheAttentionRate) {
  for (const auto& [law, chain] :
       {std::pair{kExperiment, persistent_chain(kExperiment, 0.8)},
        {two_group_law(0.6, 3), persistent_chain(two_group_law(0.6, 3), 0.8)}}) {
    const RankOneFlow flow(law, chain);
    const double rate = 2.0 * attention_rate(law, chain), time = std::log(1e4) / rate;
    const RankOneState start = unstable_start(law, chain, 1e-4);
    const RankOneState end = flow.trajectory(start, std::vector<double>{time}).front();
    const double grown = std::log(end.amplitude() / start.amplitude()) / time;
    EXPECT_NEAR(grown, rate, rate * 100 * 1e-4 / std::log(1e4));
    const SecondCriticalPoint point = second_critical_point(law);
    const RankOneResponse response = rank_one_response(law, chain);
    for (std::size_t i = 0; i < law.size(); ++i) {
      const double moved = end.embedding[i] - point.amplitude * point.embedding_direction[i];
      EXPECT_NEAR(moved / end.amplitude(), response.embedding_change[i], 100 * 1e-4);
    }
  }
}

}  // namespace
}  // namespace dewpoint::theory
