// A factor on the scores: slopes and Hessians by complex step, against the model written down
// plainly, and what flow conserves.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/training/scaled_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/training/record.hpp"
#include "dewpoint/training/reference.hpp"
#include "training/standard_chain.hpp"
#include "training/weights_by_complex_step.hpp"

namespace dewpoint::training::test {
namespace {

// As in parameters_test.cpp; scores are up to three times as large here, and so are the errors of
// attention.
constexpr double kAccuracy = 3e-12;
constexpr double kScales[] = {0.3, 1.7, 3.0};
constexpr LossOptions kInDouble{.residual = true, .precision = Precision::double_};

Parameters<double> some_weights(std::size_t d, std::uint64_t replica) {
  return initial_parameters(d, 5, 0.5, 1, replica);
}

/// The loss along v, with sΦ in the place of Φ, in complex arithmetic.
double derivative_along(const HistogramRows& rows, double scale, const Parameters<double>& at,
                        const Parameters<double>& along) {
  ComplexMaps maps = complex_maps(shifted(at, along));
  for (std::size_t i = 0; i < maps.attention.size(); ++i) maps.attention.data()[i] *= scale;
  return plain_slope<Complex>(rows, true, maps.attention, maps.value).loss.imag() / kComplexStep;
}

Parameters<double> gradient_of(const TokenLoss& loss, const Parameters<double>& at) {
  TokenMaps slope(loss.vocabulary());
  loss.slope(0, token_maps(at), slope);
  return weight_gradient(at, slope);
}

// Property (1), over the weights.
TEST(ScaledLoss, HasTheGradientOfTheComplexStep) {
  for (const double scale : kScales) {
    const HistogramRows rows = random_rows(3, 9, 36, "scaled");
    const Parameters<double> at = some_weights(3, 7);
    const Parameters<double> gradient =
        gradient_of(*scaled_loss(histogram_loss(rows, kInDouble), scale), at);
    for (std::size_t w = 0; w < 4; ++w) {
      const Matrix<double>& part = *parts(gradient)[w];
      for (std::size_t i = 0; i < part.size(); ++i) {
        Parameters<double> along(3, 5);
        parts(along)[w]->data()[i] = 1.0;
        EXPECT_NEAR(part.data()[i], derivative_along(rows, scale, at, along),
                    kAccuracy * largest(part));
      }
    }
  }
}

// The slope of (Φ, M) along v in complex arithmetic: s ∂L/∂Φ and ∂L/∂M at (sΦ, M).
TEST(ScaledLoss, HasTheHessianOfTheComplexStep) {
  for (const double scale : kScales) {
    const HistogramRows rows = random_rows(4, 9, 48, "scaled");
    const TokenMaps at = random_maps(4, 1.0, 1.0, "scaled"), v = random_maps(4, 1.0, 1.0, "along");
    Matrix<Complex> attention = shifted(at.attention, v.attention);
    for (std::size_t i = 0; i < attention.size(); ++i) attention.data()[i] *= scale;
    auto expected = plain_slope<Complex>(rows, true, attention, shifted(at.value, v.value));
    for (std::size_t i = 0; i < attention.size(); ++i) expected.attention.data()[i] *= scale;
    TokenMaps change(4);
    scaled_loss(histogram_loss(rows, kInDouble), scale)->slope_change(at, v, change);
    const Matrix<double> by_attention = derivative(expected.attention),
                         by_value = derivative(expected.value);
    EXPECT_LE(largest_difference(change.attention, by_attention),
              kAccuracy * largest(by_attention));
    EXPECT_LE(largest_difference(change.value, by_value), kAccuracy * largest(by_value));
  }
}

// The model without factor whose query matrix is s WQ: the same loss; the derivative by WQ is s
// times that by s WQ.
TEST(ScaledLoss, IsThatOfAQueryMatrixTimesTheFactor) {
  const SequenceSet sequences = sample_sequences(standard_chain(), 9, 200, 3, 0, {});
  const auto rows = collapse(sequences);
  for (const double scale : kScales) {
    const Parameters<double> at = some_weights(4, 9);
    Parameters<double> times = at;
    for (std::size_t i = 0; i < times.query.size(); ++i) times.query.data()[i] *= scale;
    ReferenceGradient plain = reference_gradient(times, sequences, true);
    for (std::size_t i = 0; i < times.query.size(); ++i) {
      plain.gradient.query.data()[i] *= scale;
    }
    const auto loss = scaled_loss(histogram_loss(rows, kInDouble), scale);
    TokenMaps slope(4);
    EXPECT_NEAR(loss->slope(0, token_maps(at), slope), plain.loss, kAccuracy * plain.loss);
    const Parameters<double> gradient = weight_gradient(at, slope);
    for (std::size_t w = 0; w < 4; ++w) {
      const Matrix<double>& part = *parts(plain.gradient)[w];
      EXPECT_LE(largest_difference(*parts(gradient)[w], part), kAccuracy * largest(part));
    }
  }
}

// L depends on WQ and WK through their product alone, whatever the factor: WQ'ᵀWQ − WK'ᵀWK rests.
TEST(ScaledLoss, KeepsWhatFlowConserves) {
  const auto loss = scaled_loss(population_loss(standard_chain(), kInDouble), 2.5);
  const Parameters<double> at = some_weights(4, 11), gradient = gradient_of(*loss, at);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      double change = 0.0, size = 0.0;
      for (std::size_t k = 0; k < 5; ++k) {
        for (const double term :
             {gradient.query(k, i) * at.query(k, j), at.query(k, i) * gradient.query(k, j),
              -gradient.key(k, i) * at.key(k, j), -at.key(k, i) * gradient.key(k, j)}) {
          change += term;
          size += std::abs(term);
        }
      }
      EXPECT_NEAR(change, 0.0, kAccuracy * size);
    }
  }
}

TEST(ScaledLoss, OfAFactorOfOneIsTheLossItself) {
  const auto rows = random_rows(3, 9, 36, "scaled");
  auto loss = histogram_loss(rows, kInDouble);
  const TokenLoss* before = loss.get();
  EXPECT_EQ(scaled_loss(std::move(loss), 1.0).get(), before);
  EXPECT_EQ(score_scale(*scaled_loss(histogram_loss(rows, kInDouble), 2.0)), 2.0);
  EXPECT_EQ(score_scale(*histogram_loss(rows, kInDouble)), 1.0);
}

// Attention in a record is softmax(sΦ): that of the query matrix times s.
TEST(ScaledLoss, IsWhatARecordShows) {
  const std::vector<double> law = standard_chain().stationary;
  const Parameters<double> at = some_weights(4, 13);
  Parameters<double> times = at;
  for (std::size_t i = 0; i < times.query.size(); ++i) times.query.data()[i] *= 2.0;  // exact
  const Record scaled =
      record_of(0.0, at, *scaled_loss(population_loss(standard_chain(), kInDouble), 2.0), law);
  const Record plain = record_of(0.0, times, *population_loss(standard_chain(), kInDouble), law);
  EXPECT_EQ(scaled.loss, plain.loss);
  EXPECT_EQ(largest_difference(scaled.attention, plain.attention), 0.0);
  EXPECT_EQ(largest_difference(scaled.weighted_attention, plain.weighted_attention), 0.0);
  EXPECT_EQ(2.0 * scaled.query_size, plain.query_size);
}

}  // namespace
}  // namespace dewpoint::training::test
