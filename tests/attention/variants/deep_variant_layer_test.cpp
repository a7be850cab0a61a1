#include "dewpoint/attention/variants/deep_variant_layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "dewpoint/attention/variants/layer_form.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

constexpr std::size_t kTokens = 19, kDimension = 8;

struct FormCase {
  const char* mask;
  const char* attention;
  const char* projections;
  double rope;
};
constexpr FormCase kForms[] = {
    {"none", "softmax", "none", 0.0},          {"causal", "softmax", "none", 0.0},
    {"none", "softmax", "orthogonal:1", 0.0},  {"window:5", "softmax", "orthogonal:4", 0.0},
    {"none", "sink:0.5", "orthogonal:2", 0.0}, {"global:4:2", "off-by-one", "none", 0.0},
    {"none", "top:4", "orthogonal:2", 0.0},    {"dilated:6:2", "softmax", "none", 1e4},
    {"causal", "linear", "orthogonal:2", 0.0}, {"none", "features:9", "none", 0.0}};

LayerVariant layer_of(const FormCase& which, double beta, double residual, std::size_t number) {
  const LayerForm form =
      parse_layer_form(which.mask, which.attention, which.projections, which.rope);
  return layer_variant(form, kDimension, beta, residual, test::seed(), 0, number);
}

std::string text(const FormCase& which) {
  return std::string(which.mask) + ", " + which.attention + ", " + which.projections;
}

TokenCloud tokens() {
  return split_norms(test::normal_matrix(kTokens, kDimension, "DeepVariantLayer/x"));
}

// Tokens y = (u + s ξ)/‖u + s ξ‖ about the first direction, of length 1.
TokenCloud close_tokens(double spread) {
  Matrix<double> rows = test::normal_matrix(kTokens, kDimension, "DeepVariantLayer/close");
  for (std::size_t i = 0; i < kTokens; ++i) {
    for (std::size_t k = 0; k < kDimension; ++k) rows(i, k) *= spread;
    rows(i, 0) += 1.0;
  }
  TokenCloud cloud = split_norms(rows);
  cloud.norms.assign(kTokens, 1.0);
  return cloud;
}

Matrix<double> rows_of_tokens(const DeepTokens& tokens) {
  const TokenCloud cloud = tokens.cloud();
  Matrix<double> rows = cloud.directions;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < rows.cols(); ++k) rows(i, k) *= cloud.norms[i];
  }
  return rows;
}

// Property (1), for three layers. Each is off by the mixing error of values no longer than 1, twice
// since the reference rounds too; a token is divided by its length, of some tenths, and an error of
// a direction moves logits by β of it: a factor below 100 from layer to layer.
TEST(DeepVariantLayer, EqualsTheReferenceThroughThreeLayers) {
  for (const double residual : {0.0, 0.3}) {
    for (const FormCase& which : kForms) {
      DeepTokens deep{tokens()};
      Matrix<double> plain = rows_of_tokens(deep);
      for (std::size_t l = 0; l < 3; ++l) {
        const LayerVariant layer = layer_of(which, 3.0, residual, l);
        deep = deep_variant_layer(deep, layer);
        plain = reference_variant_layer(plain, layer);
        const double error = 2.0 * mixing_error(layer.attention, kTokens, kDimension);
        EXPECT_LE(test::largest_difference(rows_of_tokens(deep), plain),
                  error * std::pow(100.0, static_cast<double>(l)))
            << text(which) << ", layer " << l;
      }
    }
  }
}

// Property (2): every gap of tokens that are closer and closer, for each mask that the plain path
// has, down to where rounding begins.
TEST(DeepVariantLayer, OfThePlainLayerKeepsTheGapsOfDeepLayer) {
  for (const double spread : {1.0, 1e-3, 1e-6, 1e-9}) {
    for (const double residual : {0.0, 0.3}) {
      for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::window(5)}) {
        const DeepTokens before{close_tokens(spread)};
        const LayerVariant layer{{2.0, mask, Softmax::plain()}, {}, residual};
        const DeepTokens expected = deep_layer(before, {2.0, residual}, mask);
        const DeepTokens found = deep_variant_layer(before, layer);
        const double noise = std::exp(log_deep_variant_noise(before, layer, found));
        for (std::size_t i = 1; i < kTokens; ++i) {
          const double gap = std::exp(expected.log_gap(0, i));
          EXPECT_NEAR(std::exp(found.log_gap(0, i)), gap, 2.0 * std::sqrt(gap * noise) + noise)
              << spread << ' ' << residual << ' ' << mask.name();
        }
      }
    }
  }
}

// How far, in numbers: from a gap of about 1e-9 without residual the next, of about 1e-27, is still
// far above what rounding may have made; the one after that is not.
TEST(DeepVariantLayer, FollowsACollapseOverEighteenOrdersOfMagnitude) {
  const LayerVariant layer = layer_of({"none", "softmax", "orthogonal:1", 0.0}, 2.0, 0.0, 0);
  const DeepTokens before{close_tokens(3e-5)};
  const DeepTokens after = deep_variant_layer(before, layer);
  const double first = deep_angles(before).log_mean_gap, second = deep_angles(after).log_mean_gap;
  EXPECT_LT(first, std::log(1e-7));
  EXPECT_LT(second, 2.0 * first);
  EXPECT_GT(second, log_deep_variant_noise(before, layer, after) + std::log(100.0));
  const DeepTokens last = deep_variant_layer(after, layer);
  EXPECT_LT(deep_angles(last).log_mean_gap, log_deep_variant_noise(after, layer, last));
}

// Property (3).
TEST(DeepVariantLayer, GivesTheSameBytesOnAnyNumberOfThreads) {
  for (const FormCase& which : kForms) {
    const LayerVariant layer = layer_of(which, 3.0, 0.2, 0);
    const TokenCloud one = deep_variant_layer(DeepTokens(tokens()), layer, {1, {}, {}}).cloud();
    const TokenCloud two = deep_variant_layer(DeepTokens(tokens()), layer, {2, {}, {}}).cloud();
    EXPECT_EQ(std::memcmp(one.directions.data(), two.directions.data(),
                          one.directions.size() * sizeof(double)),
              0)
        << text(which);
  }
}

}  // namespace
}  // namespace dewpoint::attention
