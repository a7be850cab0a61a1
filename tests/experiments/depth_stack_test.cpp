// Many layers of other forms: the path of variants against that of the plain layer, products of
// their Jacobians against the complex step, and what a stack of them shows.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/depth_stack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/experiments/variant_point.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

const RunContext kOneThread{1, {}, {}};
const std::vector<std::vector<std::string>> kForms = {
    {"none", "softmax", "orthogonal:1"},     {"none", "softmax", "orthogonal:4"},
    {"window:9", "softmax", "orthogonal:2"}, {"causal", "sink:1", "none"},
    {"none", "top:5", "orthogonal:2"},       {"causal", "linear", "none"}};

PhaseDepth small(const std::vector<std::string>& form = {"none", "softmax", "none"}) {
  PhaseDepth p;
  p.cloud.n = 40;
  p.cloud.d = 8;
  p.gamma = {1.5};
  p.layers = 3;
  p.form = attention::parse_layer_form(form[0], form[1], form[2], 0.0);
  p.norm->method = attention::NormMethod::hutchinson;
  p.norm->probes = 16;
  p.end_to_end = EndToEnd{1, 4};
  p.seed = test::seed();
  return p;
}

std::string text(const PhaseDepth& p) { return attention::name_of(p.form); }

// Property (1). The path of variants is off by log_deep_variant_noise of a gap, 1e-24 or so, once
// per layer, and gaps of 1e-4 and more lose no more than three times their relative error from one
// to the next: 1e-9 is generous. Jacobians are those of the same tokens, with the same probes.
TEST(DepthStack, OfVariantsShowsWhatThatOfThePlainLayerShows) {
  for (const char* mask : {"none", "causal", "window:9"}) {
    for (const double residual : {0.0, 0.4}) {
      PhaseDepth p = small({mask, "softmax", "none"});
      p.residual = residual;
      p = resolved(p);
      const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, 0);
      const auto stack = variant_stack(p, 0, kOneThread);
      const DepthSample found = sample_stack(p, cloud, 1.5, 0, *stack, kOneThread);
      const DepthSample expected = sample_depth(p, 1.5, 0, kOneThread);
      for (std::size_t l = 0; l <= p.layers; ++l) {
        if (expected.layers[l][0] < -4.0) break;
        for (std::size_t k = 0; k < kDepthObservables.size(); ++k) {
          const double value = expected.layers[l][k];
          if (std::isnan(value)) continue;
          EXPECT_NEAR(found.layers[l][k], value, 1e-9 * (1.0 + std::abs(value)))
              << mask << ' ' << residual << ' ' << l << ' ' << kDepthObservables[k];
        }
        EXPECT_NEAR(found.singular_values[l][0], expected.singular_values[l][0], 1e-9);
      }
    }
  }
}

Matrix<double> complex_step(const PhaseDepth& p, const TokenCloud& cloud, double beta,
                            const Matrix<double>& change) {
  using Complex = std::complex<double>;
  constexpr double kStep = 1e-30;
  Matrix<Complex> tokens(cloud.size(), cloud.dimension());
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    for (std::size_t k = 0; k < tokens.cols(); ++k) {
      tokens(i, k) = {cloud.norms[i] * cloud.directions(i, k), kStep * change(i, k)};
    }
  }
  for (std::size_t l = 0; l < p.layers; ++l) {
    tokens = attention::reference_variant_layer(
        tokens, attention::layer_variant(p.form, p.cloud.d, beta, p.residual, p.seed, 0, l));
  }
  Matrix<double> result(tokens.rows(), tokens.cols());
  for (std::size_t k = 0; k < result.size(); ++k) {
    result.data()[k] = tokens.data()[k].imag() / kStep;
  }
  return result;
}

// Products with the Jacobian of three layers, each with matrices of its own, against the derivative
// of the layers as on a blackboard, and its transpose. A layer's product is off by some n + d + β d
// roundings, 1e-13, of the sum of its terms, which is a few times β the length of the result; three
// layers one behind the other lose 100 per layer at most: 1e-9.
TEST(DepthStack, MultipliesTheJacobiansOfItsLayers) {
  for (const auto& form : kForms) {
    PhaseDepth p = small(form);
    p.residual = 0.3;
    p = resolved(p);
    const double beta = 4.0;
    const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, 0);
    const auto stack = variant_stack(p, 0, kOneThread);
    attention::DeepTokens tokens(cloud);
    for (std::size_t l = 0; l < p.layers; ++l) tokens = stack->add(tokens, beta);
    const auto jacobian = stack->first_layers(p.layers);
    const auto v = test::normal_matrix(p.cloud.n, p.cloud.d, "DepthStack/v");
    const auto w = test::normal_matrix(p.cloud.n, p.cloud.d, "DepthStack/w");
    const Matrix<double> forward = jacobian->jvp(v);
    EXPECT_LE(test::largest_difference(forward, complex_step(p, cloud, beta, v)),
              1e-9 * test::length(forward))
        << text(p);
    EXPECT_NEAR(test::inner(w, forward), test::inner(jacobian->vjp(w), v),
                1e-9 * test::length(w) * test::length(forward))
        << text(p);
  }
}

// The first layer is that of phase point, float32 against double.
TEST(PhaseDepthForms, TheFirstLayerIsThatOfPhasePoint) {
  for (const auto& form : kForms) {
    const PhaseDepth p = resolved(small(form));
    PhasePoint point;
    point.cloud = p.cloud;
    point.inverse_temperature = p.gamma[0] * std::log(40.0);
    point.form = p.form;
    point.norm = p.norm;
    point.seed = p.seed;
    const Frame one = phase_point(point);
    const DepthSample deep = sample_depth(p, p.gamma[0], 0, kOneThread);
    const auto compare = [&](const char* name, std::size_t k) {
      EXPECT_NEAR(deep.layers[1][k], one.variable(name).cells[0].mean, 1e-5) << text(p) << name;
    };
    compare("mean_cosine", 2);
    compare("contraction", 6);
    compare("jacobian_norm", 9);
  }
}

TEST(PhaseDepthForms, GiveTheSameBytesOnAnyNumberOfThreads) {
  for (const auto& form : kForms) {
    PhaseDepth p = small(form);
    p.replication.replicas = 2;
    const Frame one = phase_depth(p, {1, {}, {}});
    const Frame two = phase_depth(p, {2, {}, {}});
    for (const Variable& variable : one.variables()) {
      const auto& other = two.variable(variable.name).cells;
      for (std::size_t c = 0; c < other.size(); ++c) {
        const bool both_unknown = std::isnan(variable.cells[c].mean) && std::isnan(other[c].mean);
        EXPECT_TRUE(both_unknown || variable.cells[c].mean == other[c].mean)
            << text(p) << ' ' << variable.name;
      }
    }
  }
}

// Weak attention collapses tokens faster than any power: rounding is reached after a few layers.
TEST(PhaseDepthForms, GapsThatAreRoundingAreUnknownAndTheirPairsUnresolved) {
  PhaseDepth p = small(kForms[0]);
  p.layers = 8;
  p.gamma = {0.5};
  p.end_to_end.reset();
  const DepthSample sample = sample_depth(resolved(p), 0.5, 0, kOneThread);
  const auto& last = sample.layers.back();
  EXPECT_TRUE(std::isnan(last[0]));
  EXPECT_TRUE(std::isnan(last[6]));
  EXPECT_EQ(last[8], 40.0 * 39.0 / 2.0);
  EXPECT_NEAR(last[2], 1.0, 1e-15);  // the cosine is known to rounding
  EXPECT_NEAR(last[4], 1.0, 1e-14);
  EXPECT_FALSE(std::isnan(last[9]));
  for (std::size_t l = 2; l < sample.layers.size(); ++l) {
    EXPECT_TRUE(!std::isnan(sample.layers[l - 1][0]) || std::isnan(sample.layers[l][0]));
  }
}

}  // namespace
}  // namespace dewpoint::experiments
