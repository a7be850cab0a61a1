// The degenerate critical point: printed values, the gradient and the Hessian of the population
// loss over full weight matrices, and its limits.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/degenerate_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"
#include "theory/manifold_weights.hpp"
#include "theory/printed_excursions.hpp"

namespace dewpoint::theory {
namespace {

using test::half_unit;
using test::largest;
using test::length;
using test::Population;
using test::printed_excursions;
using test::PrintedExcursion;
using test::Weights;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

std::string name(const TwoGroups& g) {
  return "pi_1=" + std::to_string(g.top) + " d=" + std::to_string(g.tokens) +
         " lambda=" + std::to_string(g.persistence);
}

Population population(const TwoGroups& groups) {
  return test::persistent_population(two_group_law(groups.top, groups.tokens), groups.persistence);
}

Weights<double> weights(const DegeneratePoint& point, std::size_t width) {
  return test::manifold_weights(spread_out(point.groups, point.state), width);
}

double surplus(const DegeneratePoint& point) {
  const double rare = static_cast<double>(point.groups.tokens) - 1.0;
  const TwoGroupState& s = point.state;
  return s.top * s.top + rare * s.low * s.low - s.output_gap * s.output_gap * rare / (rare + 1.0);
}

// ---- printed values --------------------------------------------------------------------------

// Tolerance: half a printed unit of the value, plus what half a printed unit of η changes. The
// surplus is that of the start: 2η − 2l² with l = 1e-4.
TEST(DegeneratePoint, IsWhereTenExcursionsEnd) {
  using Row = PrintedExcursion;
  const std::pair<const char*, double Row::*> columns[] = {
      {"gamma_1", &Row::top}, {"gamma_2", &Row::low},   {"gap", &Row::gap},  {"A_11", &Row::of_top},
      {"A_21", &Row::of_low}, {"growth", &Row::growth}, {"loss", &Row::loss}};
  const auto computed = [](Row row, double eta) {
    const auto point = degenerate_point(row.groups, eta, 2.0 * eta - 2e-8);
    EXPECT_TRUE(point.has_value());
    row.top = point->state.top;
    row.low = point->state.low;
    row.gap = point->state.output_gap;
    row.of_top = point->attention.of_top;
    row.of_low = point->attention.of_low;
    row.growth = degenerate_stability(*point).growth;
    row.loss = degenerate_loss(row.groups);
    return row;
  };
  for (const Row& row : printed_excursions()) {
    const Row here = computed(row, row.eta);
    const Row above = computed(row, row.eta + half_unit(row.eta));
    for (const auto& [column, member] : columns) {
      const double tolerance =
          half_unit(row.*member) + std::abs(above.*member - here.*member) + 8.0 * kEpsilon;
      EXPECT_NEAR(here.*member, row.*member, tolerance) << name(row.groups) << " " << column;
    }
  }
}

struct PrintedLimit {
  TwoGroups groups;
  double amplitude, top, low, output;
};

const PrintedLimit kLimits[] = {{{0.6, 3, 0.8}, 40.0, 1.48619994, -0.61585006, 1.40649277},
                                {{0.75, 3, 0.8}, 40.0, 1.65920952, -0.47503760, 1.46157396},
                                {{0.5, 3, 0.5}, 60.0, 1.18040336, -0.26711865, 1.01194757}};

// ‖γ‖ = ‖β‖, nine digits. Property (1) of focused_degenerate_point: attention leaves the limit by
// e^{−ηγ_2Δγ}, at most e^{−23}, and the state by at most ten times that.
TEST(DegeneratePoint, HasThePrintedLimitWhenAttentionIsSharp) {
  for (const PrintedLimit& row : kLimits) {
    const auto limit = focused_degenerate_point(row.groups, 0.0);
    const auto close = degenerate_point(row.groups, row.amplitude, 0.0);
    ASSERT_TRUE(limit && close);
    for (const DegeneratePoint& point : {*limit, *close}) {
      EXPECT_NEAR(point.state.top, row.top, 5e-9);
      EXPECT_NEAR(point.state.low, row.low, 5e-9);
      EXPECT_NEAR(point.state.output_gap * 2.0 / 3.0, row.output, 5e-9);
      EXPECT_NEAR(surplus(point), 0.0, 1e-13);
    }
    const double exponent =
        row.amplitude * limit->state.low * (limit->state.top - limit->state.low);
    EXPECT_NEAR(close->state.top, limit->state.top, 10.0 * std::exp(exponent) + 8.0 * kEpsilon);
    EXPECT_EQ(degenerate_stability(*limit).growth, 0.0);
  }
}

TEST(DegeneratePoint, HasNoSharpLimitWhereRareTokensMustReadTheFrequentOne) {
  const TwoGroups groups{0.75, 4, 0.3};  // (1 − λ)π_1 d = 2.1
  EXPECT_FALSE(focused_degenerate_point(groups, 0.0).has_value());
  const double p_1 = 0.3 + 0.7 * 0.75, p_2 = 0.7 * 0.75;
  const double quotient = std::log(3.0 * p_2 / (1.0 - p_2)) / std::log(3.0 * p_1 / (1.0 - p_1));
  double last = 1.0;
  for (const double eta : {10.0, 100.0, 1000.0, 1e4}) {
    const auto point = degenerate_point(groups, eta, 0.0);
    ASSERT_TRUE(point);
    const double distance = std::abs(point->attention.of_low - quotient);
    // ρ ≈ a/k, and ξ_2 leaves its limit by (1 − ξ_2)ρ: a tenth at each tenfold k.
    EXPECT_LT(distance, 0.2 * last) << eta;
    last = distance;
  }
}

// ---- against the population loss -------------------------------------------------------------

/// A chain, an η and a surplus drawn at random.
struct Case {
  TwoGroups groups;
  double amplitude, surplus;
};
Case random_case(const Stream& draw, std::uint64_t k) {
  const std::size_t d = 2 + static_cast<std::size_t>(7.0 * draw.uniform(5 * k));
  const double least = 1.0 / static_cast<double>(d);
  const double top = least + (0.97 - least) * (0.02 + 0.98 * draw.uniform(5 * k + 1));
  const double eta = std::exp(4.0 * draw.uniform(5 * k + 3) - 2.0);
  return {{top, d, 0.05 + 0.93 * draw.uniform(5 * k + 2)},
          eta,
          draw.uniform(5 * k + 4) < 0.5 ? 0.0 : 2.0 * eta};
}

// Properties (1), (2), and (1) of degenerate_loss. A residual is a probability, wrong by the
// rounding of its logit, which is at most |γ||β| in size and takes some ten operations.
TEST(DegeneratePoint, IsAnExactCriticalPointAtEveryAmplitude) {
  const Stream draw = test::stream("degenerate_point/critical");
  for (std::uint64_t k = 0; k < 200; ++k) {
    const Case c = random_case(draw, k);
    const auto point = degenerate_point(c.groups, c.amplitude, c.surplus);
    ASSERT_TRUE(point) << name(c.groups) << " eta=" << c.amplitude;
    const Population data = population(c.groups);
    const Weights<double> w = weights(*point, 3);
    const auto [by_m, by_phi] = test::token_gradients(data, w);
    const double logits = 1.0 + length(w.w0) * length(w.w1);
    EXPECT_LT(largest(by_m), 4.0 * kEpsilon * logits) << name(c.groups);
    EXPECT_LT(largest(by_phi), 4.0 * kEpsilon * logits * logits) << name(c.groups);
    const double norms = test::inner(w.w0, w.w0) + test::inner(w.w1, w.w1);
    EXPECT_NEAR(surplus(*point), c.surplus, kDegeneratePointError * norms) << name(c.groups);
    EXPECT_NEAR(point->state.amplitude(), c.amplitude, 2.0 * kEpsilon * c.amplitude);
    EXPECT_NEAR(degenerate_loss(c.groups), test::population_loss(data, w), 1e-14);
  }
}

TEST(DegeneratePoint, KeepsItsPredictionsWhenRescaled) {
  const auto point = degenerate_point({0.6, 3, 0.8}, 1.4, 2.8);
  ASSERT_TRUE(point);
  const DegeneratePoint other = rescaled(*point, 1.7);
  const Population data = population(point->groups);
  const auto before = test::population_state(data, weights(*point, 2));
  const auto after = test::population_state(data, weights(other, 2));
  EXPECT_LT(test::largest_difference(before.attention, after.attention), 1e-15);
  EXPECT_LT(test::largest_difference(before.prediction, after.prediction), 1e-15);
  EXPECT_EQ(other.sensitivity, point->sensitivity);
}

TEST(DegeneratePoint, LosesNothingToTheBestPredictorOfTwoTokens) {
  for (const double top : {0.55, 0.7, 0.95}) {
    for (const double persistence : {0.1, 0.5, 0.9}) {
      const auto law = two_group_law(top, 2);
      const double best = chain_entropy_rate(law, persistent_chain(law, persistence));
      EXPECT_NEAR(degenerate_loss({top, 2, persistence}), best, 4.0 * kEpsilon);
      const auto wide = two_group_law(top, 5);
      EXPECT_GT(degenerate_loss({top, 5, persistence}),
                chain_entropy_rate(wide, persistent_chain(wide, persistence)));
    }
  }
}

// Property (4), by an integration that shares nothing with the solver here but the equations of
// rest. It stops at l = 1e-4 from the critical point, so its surplus is 2η up to 2e-8 + O(l⁴).
TEST(DegeneratePoint, IsWhereTheExcursionComesToRest) {
  const TwoGroups groups{0.75, 4, 0.8};
  const auto rest = excursion(groups).rest;
  ASSERT_TRUE(rest);
  const auto point =
      degenerate_point(groups, rest->state.amplitude(), 2.0 * rest->state.amplitude());
  ASSERT_TRUE(point);
  EXPECT_NEAR(point->state.top, rest->state.top, 2.0 * kExcursionError + 2e-8);
  EXPECT_NEAR(point->state.low, rest->state.low, 2.0 * kExcursionError + 2e-8);
  EXPECT_NEAR(point->state.output_gap, rest->state.output_gap, 2.0 * kExcursionError + 2e-8);
}

// ---- stability -------------------------------------------------------------------------------

/// (e_k − e_l)/√2 of the columns of a basis.
std::vector<double> difference(const Matrix<double>& basis, std::size_t k, std::size_t l) {
  std::vector<double> result(basis.rows());
  for (std::size_t i = 0; i < basis.rows(); ++i) {
    result[i] = (basis(i, k) - basis(i, l)) / std::sqrt(2.0);
  }
  return result;
}

// Property (1) of degenerate_stability: the block by complex step over all weights, rounding only.
TEST(DegeneratePoint, HasTheStatedBlockOfTheHessian) {
  for (const PrintedExcursion& row : printed_excursions()) {
    const std::size_t d = row.groups.tokens, width = 2;
    const auto point = degenerate_point(row.groups, row.eta, 2.0 * row.eta);
    ASSERT_TRUE(point);
    const Matrix<double> jacobian =
        test::flow_jacobian(population(row.groups), weights(*point, width));
    const Matrix<double> basis = test::along_manifold(d, width);
    const std::vector<double> x = difference(basis, 1, 2), y = difference(basis, d + 1, d + 2);
    std::vector<double> of_x = test::times(jacobian, x), of_y = test::times(jacobian, y);
    const DegenerateStability block = degenerate_stability(*point);
    const double rounding = 1e-14 * length(jacobian);
    EXPECT_NEAR(-inner(x, of_x), block.embedding_curvature, rounding) << name(row.groups);
    EXPECT_NEAR(-inner(x, of_y), block.coupling, rounding) << name(row.groups);
    EXPECT_NEAR(-inner(y, of_y), block.output_curvature, rounding) << name(row.groups);
    // An invariant plane: nothing leaks out of it.
    const double along_x = inner(x, of_x), along_y = inner(y, of_x);
    for (std::size_t k = 0; k < x.size(); ++k) of_x[k] -= along_x * x[k] + along_y * y[k];
    EXPECT_LT(length(of_x), rounding) << name(row.groups);
  }
}

// Properties (2), (3): of the whole spectrum of −∇²L, only d − 2 copies of the block may be
// positive, and everything off the manifold is 0.
TEST(DegeneratePoint, IsUnstableOnlyBetweenRareTokensAndFlatOffTheManifold) {
  for (const PrintedExcursion& row : printed_excursions()) {
    if (row.groups.tokens > 4) continue;
    const std::size_t d = row.groups.tokens, width = 3;
    const auto point = degenerate_point(row.groups, row.eta, 2.0 * row.eta);
    ASSERT_TRUE(point);
    Matrix<double> jacobian = test::flow_jacobian(population(row.groups), weights(*point, width));
    const std::vector<double> spectrum = symmetric_eigenvalues(test::symmetric_part(jacobian));
    const double rounding = 1e-14 * length(jacobian);
    const DegenerateStability block = degenerate_stability(*point);
    const std::size_t copies = block.multiplicity, size = spectrum.size();
    if (block.growth > 0.0) {
      for (std::size_t k = 0; k < copies; ++k) {
        EXPECT_NEAR(spectrum[size - 1 - k], block.growth, rounding) << name(row.groups);
      }
      EXPECT_LT(spectrum[size - 1 - copies], rounding) << name(row.groups);
    } else {
      EXPECT_LT(spectrum[size - 1], rounding) << name(row.groups);
    }
    // Off the manifold: everything but γ, β, λ_Q, λ_K.
    Weights<double> on(d, width);
    for (std::size_t i = 0; i < d; ++i) on.w0(i, 0) = on.w1(0, i) = 1.0;
    on.wq(0, 1) = on.wk(0, 1) = 1.0;
    const std::vector<double> mask = on.flat();
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < size; ++k) jacobian(i, k) *= 1.0 - mask[k];
    }
    EXPECT_LT(largest(jacobian), rounding) << name(row.groups);
  }
}

// Property (1) of stability_margin, and which of the printed chains are stable.
TEST(DegeneratePoint, IsASaddleOrNotByTheChainAlone) {
  for (const PrintedExcursion& row : printed_excursions()) {
    const double margin = stability_margin(row.groups);
    EXPECT_EQ(margin<0.0, row.growth> 0.0) << name(row.groups);
    for (const double eta : {0.3, 1.0, 3.0}) {
      for (const double s : {0.0, 2.0 * eta}) {
        const auto point = degenerate_point(row.groups, eta, s);
        ASSERT_TRUE(point);
        const DegenerateStability block = degenerate_stability(*point);
        const double rare_mass =
            (1.0 - row.groups.top) / (static_cast<double>(row.groups.tokens) - 1.0);
        const double squared = point->sensitivity * point->sensitivity;
        // det is a difference of two products: the rounding is that of the larger.
        const double product = block.embedding_curvature * block.output_curvature;
        EXPECT_NEAR(product - block.coupling * block.coupling, rare_mass * squared * margin,
                    32.0 * kEpsilon * (product + block.coupling * block.coupling));
        EXPECT_EQ(block.growth > 0.0, margin < 0.0);
        EXPECT_LT(block.decay, 0.0);
      }
    }
  }
}

// growth/s² → −π_2Δ/H_yy as s → 0; the next term is of relative order s².
TEST(DegeneratePoint, LosesItsInstabilityWithTheSquareOfTheSensitivity) {
  const TwoGroups groups{0.6, 3, 0.8};
  for (const double eta : {2.0, 4.0, 8.0, 16.0}) {
    const auto point = degenerate_point(groups, eta, 2.0 * eta);
    ASSERT_TRUE(point);
    const DegenerateStability block = degenerate_stability(*point);
    const double s = point->sensitivity;
    const double limit = -0.2 * stability_margin(groups) / block.output_curvature;
    const double bound =
        (block.embedding_curvature + block.coupling * block.coupling / block.output_curvature) /
        block.output_curvature;
    EXPECT_NEAR(block.growth / (s * s * limit), 1.0, bound + 16.0 * kEpsilon) << eta;
  }
}

}  // namespace
}  // namespace dewpoint::theory
