// Every kind of attention under every mask against plain double loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/attention/variants/linear_attention.hpp"
#include "dewpoint/attention/variants/variant_reference.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/observables/head_observables.hpp"
#include "support/attention_variants.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using test::text;

// What is asked of every output, relative to the largest value.
constexpr double kTolerance = 1e-5;

// Data for which float32 can keep it: entries are multiples of 1/16 below 2 in size, so that
// products of up to 64 of them are multiples of 1/256 below 2⁸ and float32 adds them without
// rounding. What is left of variant_error is its part for logits that are exact.
AttentionMatrices on_grid(std::size_t n, std::size_t d, std::size_t value_columns) {
  AttentionMatrices inputs{Matrix<double>(n, d), Matrix<double>(n, d),
                           Matrix<double>(n, value_columns)};
  std::size_t which = 0;
  for (Matrix<double>* matrix : {&inputs.queries, &inputs.keys, &inputs.values}) {
    const Stream stream = test::stream("Variants/grid" + std::to_string(which++));
    for (std::size_t k = 0; k < matrix->size(); ++k) {
      matrix->data()[k] = (std::floor(64.0 * stream.uniform(k)) - 32.0) / 16.0;
    }
  }
  return inputs;
}
constexpr double kLargestValue = 2.0;

// Sums of weights with exponents up to y are good to kHeadError (1 + y/30) in float32 (head.hpp);
// exponents above 87.4 give weight 0, where the reference has below 1e-37, times y² < 1e16.
constexpr double kMomentError = kHeadError * (1.0 + 87.4 / 30.0);
constexpr double kDropped = 1e-21;

void expect_near(double found, double expected, const char* what) {
  EXPECT_NEAR(found, expected, kMomentError * std::abs(expected) + kDropped) << what;
}

void expect_statistics(const RowStatistics& found, const RowStatistics& expected) {
  EXPECT_EQ(found.keys, expected.keys);
  EXPECT_EQ(found.softmax.sink, expected.softmax.sink);
  // Scores are exact; β times them rounds once on either side.
  EXPECT_DOUBLE_EQ(found.softmax.first, expected.softmax.first);
  EXPECT_DOUBLE_EQ(found.softmax.largest, expected.softmax.largest);
  expect_near(found.softmax.rest.partition, expected.softmax.rest.partition, "partition");
  expect_near(found.softmax.rest.gap, expected.softmax.rest.gap, "gap");
  expect_near(found.softmax.rest.squared_gap, expected.softmax.rest.squared_gap, "squared gap");
  expect_near(found.softmax.rest.weight_squared, expected.softmax.rest.weight_squared, "square");
  expect_near(found.softmax.plain_gap, expected.softmax.plain_gap, "plain gap");
  expect_near(found.softmax.plain_squared_gap, expected.softmax.plain_squared_gap, "plain square");
  // A weight and a partition: twice.
  EXPECT_NEAR(found.self_weight, expected.self_weight, 2.0 * kMomentError) << "self weight";
}

struct Shape {
  std::size_t tokens, dimension, value_columns;
};
// The last two span two and three strips.
const std::vector<Shape> kShapes = {{1, 3, 2},    {2, 1, 1},    {17, 5, 7},
                                    {83, 64, 16}, {300, 16, 5}, {600, 4, 3}};

// Property (1) of variant_attention, softmax kinds: outputs and statistics. At β = 1e6 all weight
// is on the best key, or shared by those that tie for it.
TEST(Variants, SoftmaxKindsEqualTheReferenceUnderEveryMask) {
  for (const Shape& shape : kShapes) {
    const auto inputs = on_grid(shape.tokens, shape.dimension, shape.value_columns);
    ASSERT_LE(variant_error(shape.tokens, shape.dimension, 0.0), kTolerance);
    for (const double beta : {0.0, 0.25, 3.0, 1e6}) {
      if (shape.tokens > 300 && beta != 0.25) continue;  // for the sake of time
      for (const AttentionVariant& variant : test::every_variant(beta, shape.tokens)) {
        if (!std::holds_alternative<Softmax>(variant.kind)) continue;
        SCOPED_TRACE(text(variant) + ", n = " + std::to_string(shape.tokens));
        const auto found = variant_attention(inputs.views(), variant);
        const auto expected = reference_attention(inputs.views(), variant);
        ASSERT_LE(test::largest_difference(found.outputs, expected.outputs),
                  kTolerance * kLargestValue);
        for (std::size_t j = 0; j < shape.tokens; ++j) {
          expect_statistics(found.rows[j], expected.rows[j]);
        }
        if (HasFailure()) return;
      }
    }
  }
}

double longest_row(const Matrix<double>& rows) {
  double longest = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    longest = std::max(longest, std::sqrt(inner(rows.row(i), rows.row(i))));
  }
  return longest;
}

// The same on data that float32 has to round, with the bound that the header states. Not top:K,
// whose choice may rightly differ where two scores are closer than that.
TEST(Variants, OnAnyDataTheFastPathKeepsItsBound) {
  const auto inputs = test::normal_inputs(300, 24, 6, "Variants/any");
  for (const double beta : {0.1, 1.0, 10.0}) {
    const double scale = beta * longest_row(inputs.queries) * longest_row(inputs.keys);
    for (const AttentionVariant& variant : test::every_variant(beta, 300)) {
      const auto* softmax = std::get_if<Softmax>(&variant.kind);
      if (softmax == nullptr || softmax->largest_kept() > 0) continue;
      EXPECT_LE(test::largest_difference(variant_attention(inputs.views(), variant).outputs,
                                         reference_outputs(inputs.views(), variant)),
                variant_error(300, 24, scale) * test::largest(inputs.values))
          << text(variant);
    }
  }
}

// Rounding of a linear kind (linear_attention.hpp): sums, and exponents of random features with
// ‖ω‖ as drawn. The reference rounds in the same places: twice.
double linear_error(const AttentionMatrices& inputs, const AttentionVariant& variant) {
  const std::size_t n = inputs.keys.rows(), d = inputs.keys.cols();
  const auto& map = std::get<FeatureMap>(variant.kind);
  double exponent = 0.0;
  if (map.is_random()) {
    const double x = std::max(longest_row(inputs.queries), longest_row(inputs.keys));
    const double beta = variant.inverse_temperature;
    exponent = std::sqrt(beta) * longest_row(feature_directions(variant, d)) * x + beta * x * x;
  }
  const double sums = static_cast<double>(n + 2 * map.features(d) + d + 20);
  return 2.0 * 0x1p-52 * (sums + 2.0 * static_cast<double>(d + 4) * exponent);
}

// Property (1) of LinearAttention.
TEST(Variants, LinearKindsEqualTheReferenceWithAndWithoutACausalMask) {
  for (const Shape& shape : kShapes) {
    const auto inputs =
        test::normal_inputs(shape.tokens, shape.dimension, shape.value_columns, "Variants/linear");
    for (const double beta : {0.0, 0.25, 1.0}) {
      if (shape.tokens > 100 && beta != 0.25) continue;  // for the sake of time
      for (const AttentionVariant& variant : test::every_variant(beta, shape.tokens)) {
        if (std::holds_alternative<Softmax>(variant.kind)) continue;
        const auto found = variant_attention(inputs.views(), variant);
        const auto expected = reference_outputs(inputs.views(), variant);
        EXPECT_LE(test::largest_difference(found.outputs, expected),
                  linear_error(inputs, variant) * test::largest(inputs.values))
            << text(variant) << ", n = " << shape.tokens;
        EXPECT_TRUE(found.rows.empty());
      }
    }
  }
}

// However large β: without a mask no sum of weights is below 1.
TEST(Variants, RandomFeaturesDoNotUnderflowWithoutAMask) {
  const auto inputs = test::normal_inputs(40, 6, 3, "Variants/underflow");
  for (const double beta : {1e3, 1e6, 1e9}) {
    const auto variant = test::variant("features:24", "none", beta);
    EXPECT_LE(test::largest_difference(variant_attention(inputs.views(), variant).outputs,
                                       reference_outputs(inputs.views(), variant)),
              linear_error(inputs, variant) * test::largest(inputs.values));
  }
}

// Key 0 is so long that all its features are far below those of the other keys.
TEST(Variants, RandomFeaturesThatUnderflowUnderACausalMaskAreRefused) {
  auto inputs = test::normal_inputs(40, 6, 3, "Variants/underflow");
  inputs.keys(0, 0) = 10.0;
  try {
    (void)variant_attention(inputs.views(), test::variant("features:4", "causal", 1e5));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_NE(std::string(error.what()).find("is too large for features:4 under a causal mask"),
              std::string::npos);
  }
}

TEST(Variants, StatisticsOfLinearKindsEqualTheReference) {
  const auto inputs = test::normal_inputs(150, 6, 3, "Variants/rows");
  for (const AttentionVariant& variant : test::every_variant(0.5, 150)) {
    if (std::holds_alternative<Softmax>(variant.kind)) continue;
    const auto found = LinearAttention(inputs.views(), variant).rows(all_queries(150));
    const auto expected = reference_attention(inputs.views(), variant).rows;
    for (std::size_t j = 0; j < 150; ++j) {
      const auto& a = found[j].softmax;
      const auto& b = expected[j].softmax;
      // A weight is off by linear_error, a square by twice that, and so is the largest below it.
      const double error = 4.0 * linear_error(inputs, variant);
      EXPECT_EQ(found[j].keys, expected[j].keys);
      EXPECT_NEAR(a.first, b.first, error);
      EXPECT_NEAR(a.rest.partition, b.rest.partition, error * b.rest.partition);
      EXPECT_NEAR(a.rest.weight_squared, b.rest.weight_squared, error * b.rest.weight_squared);
      EXPECT_NEAR(found[j].self_weight, expected[j].self_weight, error);
      if (j > 0) {
        EXPECT_NEAR(a.largest, b.largest, error);
      }
    }
  }
}

// Property (3): a row does not depend on which others are asked for, but for the strip it is in.
TEST(Variants, SomeQueriesGetWhatTheyGetAmongAll) {
  const auto inputs = on_grid(600, 8, 3);
  const std::vector<std::size_t> some = {0, 3, 255, 256, 257, 511, 598};
  for (const AttentionVariant& variant : test::every_variant(0.25, 600)) {
    SCOPED_TRACE(text(variant));
    const auto found = variant_attention(inputs.views(), variant, some);
    const auto all = variant_attention(inputs.views(), variant);
    for (std::size_t i = 0; i < some.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(found.outputs(i, k), all.outputs(some[i], k), kTolerance * kLargestValue);
      }
      if (!all.rows.empty()) expect_statistics(found.rows[i], all.rows[some[i]]);
    }
  }
}

// Values that differ in the tenth digit: outputs differ by what float32 leaves of that difference.
TEST(Variants, ValuesThatNearlyCoincideKeepTheirDifferences) {
  auto inputs = on_grid(83, 16, 4);
  for (std::size_t k = 0; k < inputs.values.size(); ++k) {
    inputs.values.data()[k] = 1.0 + 1e-10 * inputs.values.data()[k];
  }
  for (const char* kind : {"softmax", "top:9"}) {
    const auto variant = test::variant(kind, "causal", 0.25);
    // 1e-5 of the spread, and a few roundings of outputs near 1 in double.
    EXPECT_LE(test::largest_difference(variant_attention(inputs.views(), variant).outputs,
                                       reference_outputs(inputs.views(), variant)),
              kTolerance * 1e-10 * kLargestValue + 200.0 * 0x1p-52)
        << kind;
  }
}

// What observables make of a row: the dense softmax with its sink, from its definition.
TEST(Variants, ObservablesOfARowAreThoseOfItsWeights) {
  const auto inputs = on_grid(60, 8, 1);
  const auto variant = test::variant("sink:1.5", "global:6:2", 0.5);
  const auto rows = variant_attention(inputs.views(), variant).rows;
  for (std::size_t j = 0; j < 60; ++j) {
    double partition = std::exp(1.5), squares = std::exp(3.0), largest = std::exp(1.5), sum = 0.0;
    for (const std::size_t i : variant.mask.visible(j, 60).keys()) {
      const double logit = 0.5 * inner(inputs.queries.row(j), inputs.keys.row(i));
      partition += std::exp(logit);
      squares += std::exp(2.0 * logit);
      largest = std::max(largest, std::exp(logit));
      sum += logit * std::exp(logit);
    }
    const auto seen = observables::head_observables(rows[j].softmax, rows[j].keys);
    EXPECT_NEAR(seen.sink_mass, std::exp(1.5) / partition, kMomentError);
    EXPECT_NEAR(seen.largest_weight, largest / partition, kMomentError);
    EXPECT_NEAR(seen.participation, squares / (partition * partition), 2.0 * kMomentError);
    // A mean of numbers up to 30, of weights off by kMomentError.
    EXPECT_NEAR(seen.mean_score, (sum + 1.5 * std::exp(1.5)) / partition, 60.0 * kMomentError);
  }
}

}  // namespace
}  // namespace dewpoint::attention
