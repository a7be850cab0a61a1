#include "dewpoint/attention/variants/variant_layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "dewpoint/attention/jacobian_reference.hpp"
#include "dewpoint/attention/reference.hpp"
#include "support/attention_variants.hpp"
#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using Complex = std::complex<double>;

// Identity and random matrices, one head and four, with and without rotations, each with a few
// kinds and masks. Dimension 8.
constexpr std::size_t kTokens = 19, kDimension = 8;

std::vector<LayerVariant> layers(double beta) {
  std::vector<LayerVariant> result;
  for (const auto& [kind, mask] : {std::pair{"softmax", "none"},
                                   {"sink:0.5", "causal"},
                                   {"top:4", "dilated:6:2"},
                                   {"off-by-one", "global:4:2"},
                                   {"linear", "causal"},
                                   {"features:9", "none"}}) {
    for (const std::size_t heads : {std::size_t{1}, std::size_t{4}}) {
      for (const bool matrices : {false, true}) {
        LayerVariant layer{test::variant(kind, mask, beta), {}, 0.3};
        if (matrices) layer.projections = random_projections(kDimension, heads, test::seed());
        layer.projections.heads = heads;
        if (matrices) layer.projections.rotary_base = 1e4;
        result.push_back(std::move(layer));
      }
    }
  }
  return result;
}

std::string text(const LayerVariant& layer) {
  return test::text(layer.attention) + ", heads: " + std::to_string(layer.projections.heads) +
         (layer.projections.rotary_base ? ", rotated" : "");
}

Matrix<double> raw_tokens() { return test::normal_matrix(kTokens, kDimension, "VariantLayer/x"); }

// Property (1). Entries of q, k, v and of the residual are of size 1; α x adds roundings of double.
// Not top:4, whose choice may rightly differ where two scores are closer than float32 can tell.
TEST(VariantLayer, EqualsTheReference) {
  for (const double beta : {0.0, 1.0, 6.0}) {
    for (const LayerVariant& layer : layers(beta)) {
      if (name_of(layer.attention.kind) == "top:4") continue;
      const auto found = variant_layer(split_norms(raw_tokens()), layer);
      EXPECT_LE(
          test::largest_difference(found.outputs, reference_variant_layer(raw_tokens(), layer)),
          variant_error(kTokens, kDimension / layer.projections.heads, beta))
          << text(layer);
      EXPECT_EQ(found.rows.size(), layer.projections.heads);
    }
  }
}

// Property (2).
TEST(VariantLayer, WithoutMatricesAndWithPlainSoftmaxIsTheLayer) {
  const TokenCloud tokens = split_norms(raw_tokens());
  const LayerResult expected = reference_layer(tokens, {2.0, 0.4});
  const auto found = variant_layer(tokens, {test::variant("softmax", "none", 2.0), {}, 0.4});
  for (std::size_t i = 0; i < kTokens; ++i) {
    for (std::size_t k = 0; k < kDimension; ++k) {
      EXPECT_NEAR(found.outputs(i, k), expected.base[k] + expected.deviations(i, k),
                  variant_error(kTokens, kDimension, 2.0));
    }
  }
}

// What roundings allow a product, by the count of variant_jvp with ‖q‖, ‖k‖, ‖v‖ ≤ 1: rates of
// logits are at most 2 β‖ẏ‖, or (√β‖ω‖ + β) 2‖ẏ‖ with ‖ω‖ < 8 of random features, whose exponents
// are as large. Projections add d + n roundings (an angle up to n), the tangent part d.
double allowed(const TokenCloud& tokens, const LayerVariant& layer, double change) {
  const double beta = layer.attention.inverse_temperature;
  const double exponent = 8.0 * std::sqrt(beta) + beta;
  double shortest = tokens.norms[0];
  for (const double norm : tokens.norms) shortest = std::min(shortest, norm);
  const double rate = change / shortest;
  const double size = (1.0 + 4.0 * exponent) * rate + std::abs(layer.residual) * change;
  constexpr double n = kTokens, d = kDimension;
  return 0x1p-52 * (2.0 * n + 6.0 * d + 40.0 + 2.0 * (d + 4.0) * exponent) * size;
}

Matrix<double> complex_step(const Matrix<double>& tokens, const Matrix<double>& change,
                            const LayerVariant& layer) {
  constexpr double step = 1e-30;
  Matrix<Complex> moved(tokens.rows(), tokens.cols());
  for (std::size_t k = 0; k < moved.size(); ++k) {
    moved.data()[k] = {tokens.data()[k], step * change.data()[k]};
  }
  const Matrix<Complex> outputs = reference_variant_layer(moved, layer);
  Matrix<double> result(tokens.rows(), tokens.cols());
  for (std::size_t k = 0; k < result.size(); ++k) {
    result.data()[k] = outputs.data()[k].imag() / step;
  }
  return result;
}

// Property (1) of VariantJacobian. Both programs round: twice.
TEST(VariantJacobian, ForwardIsTheDerivativeOfTheReference) {
  const TokenCloud tokens = split_norms(raw_tokens());
  const Matrix<double> change = test::normal_matrix(kTokens, kDimension, "VariantLayer/v");
  for (const double beta : {0.0, 1.0, 6.0}) {
    for (const LayerVariant& layer : layers(beta)) {
      EXPECT_LE(test::largest_difference(VariantJacobian(tokens, layer).jvp(change),
                                         complex_step(raw_tokens(), change, layer)),
                2.0 * allowed(tokens, layer, test::length(change)))
          << text(layer);
    }
  }
}

// Property (3). Both sides add the n d entries of a product.
TEST(VariantJacobian, BackwardIsTheTransposeOfForward) {
  const TokenCloud tokens = split_norms(raw_tokens());
  const Matrix<double> v = test::normal_matrix(kTokens, kDimension, "VariantLayer/v"),
                       w = test::normal_matrix(kTokens, kDimension, "VariantLayer/w");
  for (const double beta : {0.0, 1.0, 6.0}) {
    for (const LayerVariant& layer : layers(beta)) {
      const VariantJacobian jacobian(tokens, layer);
      EXPECT_NEAR(test::inner(w, jacobian.jvp(v)), test::inner(jacobian.vjp(w), v),
                  2.0 * static_cast<double>(kTokens) * allowed(tokens, layer, test::length(v)) *
                      test::length(w))
          << text(layer);
    }
  }
}

// Property (2) of VariantJacobian.
TEST(VariantJacobian, WithoutMatricesAndWithPlainSoftmaxIsThatOfTheLayer) {
  const TokenCloud tokens = split_norms(raw_tokens());
  const Matrix<double> v = test::normal_matrix(kTokens, kDimension, "VariantLayer/v");
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(5)}) {
    const LayerVariant layer{{2.0, mask, Softmax::plain()}, {}, 0.4};
    const VariantJacobian jacobian(tokens, layer);
    const ReferenceJacobian expected(tokens, {2.0, 0.4}, mask);
    const double error = 2.0 * allowed(tokens, layer, test::length(v));
    EXPECT_LE(test::largest_difference(jacobian.jvp(v), expected.jvp(v)), error);
    // Columns of A add up to n at most where rows add up to 1.
    EXPECT_LE(test::largest_difference(jacobian.vjp(v), expected.vjp(v)),
              static_cast<double>(kTokens) * error);
  }
}

// With V orthogonal, no residual and every weight on the token itself the layer turns directions.
TEST(VariantLayer, AWindowOfOneAppliesTheValueMatrix) {
  const TokenCloud tokens = split_norms(raw_tokens());
  LayerVariant layer{test::variant("softmax", "window:1", 1.0), {}, 0.0};
  layer.projections = random_projections(kDimension, 4, test::seed());
  const auto found = variant_layer(tokens, layer);
  EXPECT_LE(test::largest_difference(found.outputs,
                                     test::times(tokens.directions, layer.projections.values)),
            variant_error(kTokens, 2, 1.0));
  for (const auto& head : found.rows) {
    for (const RowStatistics& row : head) EXPECT_EQ(row.keys, 1U);
  }
}

// Property (3) of variant_layer.
TEST(VariantLayer, GivesTheSameBytesOnAnyNumberOfThreads) {
  const TokenCloud tokens = split_norms(test::normal_matrix(600, kDimension, "VariantLayer/many"));
  for (const LayerVariant& layer : layers(3.0)) {
    const auto one = variant_layer(tokens, layer, {1, {}, {}});
    const auto two = variant_layer(tokens, layer, {2, {}, {}});
    EXPECT_EQ(
        std::memcmp(one.outputs.data(), two.outputs.data(), one.outputs.size() * sizeof(double)), 0)
        << text(layer);
  }
}

}  // namespace
}  // namespace dewpoint::attention
