// The degenerate critical point: printed values, the gradient and the Hessian of the population
// loss over full weight matrices, and its limits.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/degenerate_point.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "dewpoint/core/random.hpp"
#include "support/test_seed.hpp"
#include "theory/manifold_weights.hpp"

namespace dewpoint::theory {
namespace {

using test::Population;
using test::Weights;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

std::string name(const TwoGroups& g) {
  return "pi_1=" + std::to_string(g.top) + " d=" + std::to_string(g.tokens) +
         " lambda=" + std::to_string(g.persistence);
}

Population population(const TwoGroups& groups) {
  return test::persistent_population(two_group_law(groups.top, groups.tokens), groups.persistence);
}

Weights<double> weights(const DegeneratePoint& point, Eigen::Index width) {
  return test::manifold_weights(spread_out(point.groups, point.state), width);
}

double surplus(const DegeneratePoint& point) {
  const double rare = static_cast<double>(point.groups.tokens) - 1.0;
  const TwoGroupState& s = point.state;
  return s.top * s.top + rare * s.low * s.low - s.output_gap * s.output_gap * rare / (rare + 1.0);
}

// ---- printed values --------------------------------------------------------------------------

struct Printed {
  TwoGroups groups;
  double amplitude, top, low, gap, attention_of_top, attention_of_low, growth, loss;
};

// Ends of ten excursions from the second critical point, started with l = 1e-4; eight digits each.
const Printed kTable[] = {
    {{0.60, 3, 0.80},
     1.4117883,
     1.8089024,
     -0.88278159,
     1.7351475,
     0.99931091,
     0.049775156,
     0.016132639,
     0.59129049},
    {{0.75, 3, 0.80},
     1.3937095,
     1.9325428,
     -0.84141798,
     1.8827923,
     0.99981032,
     0.1039217,
     0.023076524,
     0.4278505},
    {{0.75, 4, 0.80},
     1.5408628,
     2.1002636,
     -0.6952669,
     1.9251215,
     0.99996075,
     0.13053121,
     0.023061632,
     0.52921678},
    {{0.70, 4, 0.80},
     1.534313,
     2.0617173,
     -0.6913659,
     1.8676233,
     0.99992924,
     0.11173948,
     0.028638688,
     0.60995},
    {{0.50, 10, 0.50},
     1.0821671,
     2.050238,
     -0.18918055,
     1.6197549,
     0.99309512,
     0.38735006,
     -0.021944699,
     1.6609474},
    {{0.50, 10, 0.80},
     1.7256757,
     2.3151666,
     -0.38500544,
     1.8981593,
     0.99997935,
     0.14258552,
     0.032464821,
     1.4236953},
    {{0.90, 4, 0.80},
     1.6531247,
     2.2873984,
     -0.74025953,
     2.1817102,
     0.99999882,
     0.18125829,
     -0.0016110391,
     0.24523578},
    {{0.40, 4, 0.80},
     1.6265122,
     1.8206354,
     -0.83741169,
     1.6992013,
     0.99942798,
     0.017534658,
     0.0041615243,
     0.97319899},
    {{0.75, 4, 0.95},
     1.9202551,
     2.3183936,
     -0.93766579,
     2.3585561,
     0.99999983,
     0.0084583247,
     0.0016642914,
     0.36502972},
    {{0.75, 4, 0.30},
     0.96363127,
     1.7666386,
     -0.41901236,
     1.5145795,
     0.99199331,
     0.55381686,
     -0.053957431,
     0.79542207},
};

/// Half a unit in the eighth digit of a printed number.
double half_unit(double printed) {
  return 0.5 * std::pow(10.0, std::floor(std::log10(std::abs(printed))) - 7.0);
}

// Tolerance: half a printed unit of the value, plus what half a printed unit of η changes. The
// surplus is that of the start: 2η − 2l² with l = 1e-4.
TEST(DegeneratePoint, IsWhereTenExcursionsEnd) {
  const std::pair<const char*, double Printed::*> columns[] = {{"gamma_1", &Printed::top},
                                                               {"gamma_2", &Printed::low},
                                                               {"gap", &Printed::gap},
                                                               {"A_11", &Printed::attention_of_top},
                                                               {"A_21", &Printed::attention_of_low},
                                                               {"growth", &Printed::growth},
                                                               {"loss", &Printed::loss}};
  const auto computed = [](const TwoGroups& groups, double eta) {
    const auto point = degenerate_point(groups, eta, 2.0 * eta - 2e-8);
    EXPECT_TRUE(point.has_value());
    return Printed{groups,
                   eta,
                   point->state.top,
                   point->state.low,
                   point->state.output_gap,
                   point->attention.of_top,
                   point->attention.of_low,
                   degenerate_stability(*point).growth,
                   degenerate_loss(groups)};
  };
  for (const Printed& row : kTable) {
    const double step = half_unit(row.amplitude);
    const Printed here = computed(row.groups, row.amplitude);
    const Printed above = computed(row.groups, row.amplitude + step);
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
    const double logits = 1.0 + w.w0.norm() * w.w1.norm();
    EXPECT_LT(by_m.cwiseAbs().maxCoeff(), 4.0 * kEpsilon * logits) << name(c.groups);
    EXPECT_LT(by_phi.cwiseAbs().maxCoeff(), 4.0 * kEpsilon * logits * logits) << name(c.groups);
    const double norms = w.w0.squaredNorm() + w.w1.squaredNorm();
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
  EXPECT_LT((before.attention - after.attention).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_LT((before.prediction - after.prediction).cwiseAbs().maxCoeff(), 1e-15);
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

// Property (1) of degenerate_stability: the block by complex step over all weights, rounding only.
TEST(DegeneratePoint, HasTheStatedBlockOfTheHessian) {
  for (const Printed& row : kTable) {
    const auto d = static_cast<Eigen::Index>(row.groups.tokens), width = Eigen::Index{2};
    const auto point = degenerate_point(row.groups, row.amplitude, 2.0 * row.amplitude);
    ASSERT_TRUE(point);
    const Eigen::MatrixXd hessian =
        -test::flow_jacobian(population(row.groups), weights(*point, width));
    const Eigen::MatrixXd basis = test::along_manifold(d, width);
    const Eigen::VectorXd x = (basis.col(1) - basis.col(2)) / std::sqrt(2.0);
    const Eigen::VectorXd y = (basis.col(d + 1) - basis.col(d + 2)) / std::sqrt(2.0);
    const DegenerateStability block = degenerate_stability(*point);
    const double rounding = 1e-14 * hessian.norm();
    EXPECT_NEAR(x.dot(hessian * x), block.embedding_curvature, rounding) << name(row.groups);
    EXPECT_NEAR(x.dot(hessian * y), block.coupling, rounding) << name(row.groups);
    EXPECT_NEAR(y.dot(hessian * y), block.output_curvature, rounding) << name(row.groups);
    // An invariant plane: nothing leaks out of it.
    const Eigen::VectorXd image = hessian * x;
    const Eigen::VectorXd outside = image - x * x.dot(image) - y * y.dot(image);
    EXPECT_LT(outside.norm(), rounding) << name(row.groups);
  }
}

// Properties (2), (3): of the whole spectrum of −∇²L, only d − 2 copies of the block may be
// positive, and everything off the manifold is 0.
TEST(DegeneratePoint, IsUnstableOnlyBetweenRareTokensAndFlatOffTheManifold) {
  for (const Printed& row : kTable) {
    if (row.groups.tokens > 4) continue;
    const auto d = static_cast<Eigen::Index>(row.groups.tokens), width = Eigen::Index{3};
    const auto point = degenerate_point(row.groups, row.amplitude, 2.0 * row.amplitude);
    ASSERT_TRUE(point);
    const Eigen::MatrixXd jacobian =
        test::flow_jacobian(population(row.groups), weights(*point, width));
    const Eigen::VectorXd spectrum =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(0.5 * (jacobian + jacobian.transpose()))
            .eigenvalues();
    const double rounding = 1e-14 * jacobian.norm();
    const DegenerateStability block = degenerate_stability(*point);
    const auto copies = static_cast<Eigen::Index>(block.multiplicity);
    const Eigen::Index size = spectrum.size();
    if (block.growth > 0.0) {
      for (Eigen::Index k = 0; k < copies; ++k) {
        EXPECT_NEAR(spectrum(size - 1 - k), block.growth, rounding) << name(row.groups);
      }
      EXPECT_LT(spectrum(size - 1 - copies), rounding) << name(row.groups);
    } else {
      EXPECT_LT(spectrum(size - 1), rounding) << name(row.groups);
    }
    // Off the manifold: everything but γ, β, λ_Q, λ_K.
    Weights<double> on(d, width);
    on.w0.col(0).setOnes();
    on.w1.row(0).setOnes();
    on.wq(0, 1) = on.wk(0, 1) = 1.0;
    const Eigen::VectorXd mask = Eigen::VectorXd::Ones(size) - on.flat();
    EXPECT_LT((jacobian * mask.asDiagonal()).cwiseAbs().maxCoeff(), rounding) << name(row.groups);
  }
}

// Property (1) of stability_margin, and which of the printed chains are stable.
TEST(DegeneratePoint, IsASaddleOrNotByTheChainAlone) {
  for (const Printed& row : kTable) {
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
