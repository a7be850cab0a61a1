#include "dewpoint/attention/variants/attention_variant.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "dewpoint/attention/variants/variant_reference.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/attention_variants.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using test::text;
using test::variant;

std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

// Both paths, for what must hold exactly or nearly so of either.
void for_both_paths(const AttentionInputs& inputs, const AttentionVariant& variant,
                    const std::function<void(const Matrix<double>&)>& expect) {
  SCOPED_TRACE(text(variant));
  expect(reference_outputs(inputs, variant));
  expect(variant_attention(inputs, variant).outputs);
}

TEST(AttentionVariant, AQueryThatSeesOnlyItselfGetsItsOwnValue) {
  const auto inputs = test::normal_inputs(9, 4, 3, "AttentionVariant/itself");
  for (const std::string kind : {"softmax", "top:1"}) {
    for (const std::string mask : {"window:1", "dilated:1:2"}) {
      for_both_paths(inputs.views(), variant(kind, mask, 2.0), [&](const Matrix<double>& outputs) {
        // What the value differs from the mean by, as float32.
        for (std::size_t k = 0; k < outputs.size(); ++k) {
          EXPECT_NEAR(outputs.data()[k], inputs.values.data()[k],
                      0x1p-24 * 2.0 * test::largest(inputs.values));
        }
      });
    }
  }
}

TEST(AttentionVariant, AtBetaZeroEveryKeyWeighsTheSame) {
  const auto inputs = test::normal_inputs(30, 4, 1, "AttentionVariant/cold");
  for (const std::string mask : {"none", "causal", "dilated:4:3", "global:3:2"}) {
    for (const std::string kind : {"softmax", "off-by-one", "linear", "features:7"}) {
      if ((kind == "linear" || kind == "features:7") && mask != "none" && mask != "causal")
        continue;
      const AttentionVariant even = variant(kind, mask, 0.0);
      for_both_paths(inputs.views(), even, [&](const Matrix<double>& outputs) {
        for (std::size_t j = 0; j < 30; ++j) {
          double sum = 0.0;
          const auto keys = even.mask.visible(j, 30).keys();
          for (const std::size_t i : keys) sum += inputs.values(i, 0);
          const double shares = static_cast<double>(keys.size()) + (kind == "off-by-one" ? 1 : 0);
          EXPECT_NEAR(outputs(j, 0), sum / shares,
                      variant_error(30, 4, 0.0) * test::largest(inputs.values));
        }
      });
    }
  }
}

// All keys are the same: the first K of the visible ones stay.
TEST(AttentionVariant, TiesAtTheEdgeOfTheTopGoToTheSmallerIndex) {
  // Powers of 2 less their mean are exact in float32; a quotient, a product with the mean and a sum
  // of numbers up to 2048 round in double.
  constexpr double kRounding = 4.0 * 2048.0 * 0x1p-53;
  Matrix<double> same(12, 2), values(12, 1);
  for (std::size_t i = 0; i < 12; ++i) {
    same(i, 0) = 1.0;
    values(i, 0) = std::exp2(static_cast<double>(i));
  }
  for (const double beta : {0.0, 1.0, 1e6}) {
    for_both_paths({same, same, values}, variant("top:3", "none", beta),
                   [](const Matrix<double>& outputs) {
                     for (std::size_t j = 0; j < 12; ++j)
                       EXPECT_NEAR(outputs(j, 0), 7.0 / 3.0, kRounding);
                   });
    for_both_paths({same, same, values}, variant("top:3", "window:5", beta),
                   [](const Matrix<double>& outputs) {
                     EXPECT_NEAR(outputs(11, 0), (128.0 + 256.0 + 512.0) / 3.0, kRounding);
                     EXPECT_NEAR(outputs(1, 0), 1.5, kRounding);
                   });
  }
}

TEST(AttentionVariant, AtHugeBetaTheBestKeyTakesAllAndTiesShare) {
  Matrix<double> queries(3, 1), keys(3, 1), values(3, 1);
  for (std::size_t i = 0; i < 3; ++i) queries(i, 0) = 1.0;
  keys(0, 0) = keys(2, 0) = 2.0;
  keys(1, 0) = 1.0;
  values(0, 0) = 3.0;
  values(1, 0) = 7.0;
  values(2, 0) = 5.0;
  for (const std::string kind : {"softmax", "off-by-one", "top:2"}) {
    for_both_paths({queries, keys, values}, variant(kind, "none", 1e17),
                   [](const Matrix<double>& outputs) { EXPECT_DOUBLE_EQ(outputs(1, 0), 4.0); });
  }
}

TEST(AttentionVariant, ASinkFarAboveTakesAllAndFarBelowNothing) {
  const auto inputs = test::normal_inputs(20, 4, 3, "AttentionVariant/sink");
  for_both_paths(inputs.views(), variant("sink:5000", "causal", 1.0),
                 [](const Matrix<double>& outputs) { EXPECT_EQ(test::largest(outputs), 0.0); });
  const auto plain = variant_attention(inputs.views(), variant("softmax", "causal", 1.0)).outputs;
  const auto far = variant_attention(inputs.views(), variant("sink:-5000", "causal", 1.0)).outputs;
  EXPECT_EQ(test::largest_difference(plain, far), 0.0);
}

// Scores far below 0: a 1 in the denominator belongs to logits, not to logits less their maximum.
TEST(AttentionVariant, OffByOneSeesTheSizeOfTheScores) {
  Matrix<double> queries(1, 1), keys(1, 1), values(1, 1);
  queries(0, 0) = values(0, 0) = 1.0;
  for (const double logit : {-40.0, -1.0, 0.0, 1.0, 40.0}) {
    keys(0, 0) = logit;
    for_both_paths({queries, keys, values}, variant("off-by-one", "none", 1.0),
                   [&](const Matrix<double>& outputs) {
                     EXPECT_NEAR(outputs(0, 0), 1.0 / (1.0 + std::exp(-logit)), 1e-15);
                   });
  }
}

// attention_kind.hpp: E⟨φ(q), φ(k)⟩ = e^{β⟨q, k⟩}. The logit of key 0 is the log of a mean over M
// features, each of relative variance e^{β‖q + k‖²} − 1 (Gaussian moments of ω); M is so large that
// the mean is normal.
TEST(AttentionVariant, RandomFeaturesEstimateTheSoftmaxKernel) {
  constexpr double kFeatures = 20000.0, beta = 0.5;
  Matrix<double> tokens = test::normal_matrix(6, 3, "AttentionVariant/kernel");
  for (std::size_t k = 0; k < tokens.size(); ++k) tokens.data()[k] *= 0.5;
  const auto rows =
      reference_attention(AttentionInputs::same(tokens), variant("features:20000", "none", beta))
          .rows;
  for (std::size_t j = 0; j < 6; ++j) {
    double square = 0.0;
    for (std::size_t k = 0; k < 3; ++k) square += std::pow(tokens(j, k) + tokens(0, k), 2);
    const double exact = std::exp(beta * inner(tokens.row(j), tokens.row(0)));
    const double sigma = std::sqrt((std::exp(beta * square) - 1.0) / kFeatures);
    EXPECT_NEAR(std::exp(rows[j].softmax.first) / exact, 1.0, test::kSigmas * sigma);
  }
}

TEST(AttentionVariant, SeedAndReplicaDrawOtherFeatures) {
  const auto inputs = test::normal_inputs(10, 3, 2, "AttentionVariant/seeds");
  AttentionVariant features = variant("features:5", "none", 1.0);
  const auto first = variant_attention(inputs.views(), features).outputs;
  EXPECT_EQ(test::largest_difference(first, variant_attention(inputs.views(), features).outputs),
            0.0);
  features.replica = 1;
  EXPECT_GT(test::largest_difference(first, variant_attention(inputs.views(), features).outputs),
            0.0);
}

TEST(AttentionVariant, WhatCannotBeIsRefusedInOneLine) {
  const auto inputs = test::normal_inputs(6, 3, 2, "AttentionVariant/refused");
  const auto refusal = [&](const std::string& kind, const std::string& mask, double beta) {
    return complaint([&] { (void)variant_attention(inputs.views(), variant(kind, mask, beta)); });
  };
  EXPECT_EQ(
      refusal("top:7", "causal", 1.0),
      "attention: top:7 keeps more keys than a query sees, 6 of 6 tokens under mask causal; K is "
      "at most 6");
  EXPECT_EQ(refusal("top:6", "causal", 1.0), "accepted");
  EXPECT_EQ(refusal("linear", "window:3", 1.0),
            "attention: linear needs the mask none or causal, not window:3");
  EXPECT_EQ(refusal("features:9", "dilated:2:2", 1.0),
            "attention: features:9 needs the mask none or causal, not dilated:2:2");
  EXPECT_EQ(refusal("softmax", "none", -1.0), "beta: -1 is not a number from 0 to 1e+30");
  EXPECT_NE(refusal("softmax", "none", 1e19).find("logits must stay below 1e+18"),
            std::string::npos);
  Matrix<double> broken = inputs.keys;
  broken(4, 1) = std::nan("");
  EXPECT_EQ(complaint([&] {
              (void)variant_attention({inputs.queries, broken, inputs.values},
                                      variant("softmax", "none", 1.0));
            }),
            "attention: key 4 holds a number that is not finite or whose square is not");
}

// Every kernel stops when asked to.
TEST(AttentionVariant, ARequestToStopIsObeyed) {
  const auto inputs = test::normal_inputs(300, 3, 3, "AttentionVariant/stop");
  std::stop_source source;
  source.request_stop();
  const RunContext stopped{1, source.get_token(), {}};
  for (const std::string kind : {"softmax", "linear"}) {
    const AttentionVariant some = variant(kind, "causal", 1.0);
    EXPECT_THROW((void)variant_attention(inputs.views(), some, stopped), Error);
    EXPECT_THROW((void)variant_jvp(inputs.views(), some, inputs.views(), stopped), Error);
    EXPECT_THROW((void)variant_vjp(inputs.views(), some, inputs.values, stopped), Error);
  }
}

// Properties (2).
// Properties (1) and (2) of attention_in_double, for queries and keys of length 1. The reference
// rounds as much.
TEST(AttentionInDouble, EqualsTheReferenceForEveryKindAndMask) {
  constexpr std::size_t n = 40, d = 6;
  auto inputs = test::normal_inputs(n, d, 5, "AttentionInDouble");
  for (Matrix<double>* rows : {&inputs.queries, &inputs.keys}) {
    for (std::size_t i = 0; i < n; ++i) {
      const double length = std::sqrt(inner(rows->row(i), rows->row(i)));
      for (double& x : rows->row(i)) x /= length;
    }
  }
  for (const double beta : {0.0, 3.0, 40.0}) {
    for (const AttentionVariant& variant : test::every_variant(beta, n)) {
      const Matrix<double> found = attention_in_double(inputs.views(), variant, {1, {}, {}});
      EXPECT_LE(test::largest_difference(found, reference_outputs(inputs.views(), variant)),
                2.0 * mixing_error(variant, n, d) * test::largest(inputs.values))
          << text(variant);
      const Matrix<double> other = attention_in_double(inputs.views(), variant, {2, {}, {}});
      EXPECT_EQ(std::memcmp(found.data(), other.data(), found.size() * sizeof(double)), 0);
    }
  }
}

TEST(AttentionVariant, GivesTheSameBytesOnAnyNumberOfThreads) {
  const auto inputs = test::normal_inputs(700, 8, 5, "AttentionVariant/threads");
  const RunContext one{1, {}, {}}, two{2, {}, {}};
  for (const auto& [kind, mask] : {std::pair{"sink:1", "causal"},
                                   {"top:9", "global:50:4"},
                                   {"softmax", "dilated:40:3"},
                                   {"linear", "causal"},
                                   {"features:20", "none"}}) {
    const AttentionVariant some = variant(kind, mask, 0.7);
    SCOPED_TRACE(text(some));
    const auto same = [](const Matrix<double>& a, const Matrix<double>& b) {
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0);
    };
    same(variant_attention(inputs.views(), some, one).outputs,
         variant_attention(inputs.views(), some, two).outputs);
    same(variant_jvp(inputs.views(), some, inputs.views(), one),
         variant_jvp(inputs.views(), some, inputs.views(), two));
    const auto a = variant_vjp(inputs.views(), some, inputs.values, one);
    const auto b = variant_vjp(inputs.views(), some, inputs.values, two);
    same(a.queries, b.queries);
    same(a.keys, b.keys);
    same(a.values, b.values);
  }
}

}  // namespace
}  // namespace dewpoint::attention
