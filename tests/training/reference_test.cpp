// The collapse to histograms against the model that sees one sequence after the other.
#include "dewpoint/training/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "training/standard_chain.hpp"
#include "training/weights_by_complex_step.hpp"

namespace dewpoint::training::test {
namespace {

// What is asked, relative to the largest entry of a gradient: see parameters_test.cpp. The largest
// difference here is that of W0 and WK: sums over 400 sequences in two orders, each of up to √400 u
// to 400 u, 4e-15 to 1e-13.
constexpr double kGradientAccuracy = 1e-12;

// One token, one label: z = W0_l W1, attention has no choice. Sums of three products below 16.
TEST(ReferenceGradient, OfASingleTokenIsKnown) {
  const Parameters<double> p = initial_parameters(2, 3, 1.0, dewpoint::test::seed(), 0);
  const SequenceSet one{2, 1, {1, 0}};
  const double logits[2] = {
      p.embedding(1, 0) * p.unembedding(0, 0) + p.embedding(1, 1) * p.unembedding(1, 0) +
          p.embedding(1, 2) * p.unembedding(2, 0),
      p.embedding(1, 0) * p.unembedding(0, 1) + p.embedding(1, 1) * p.unembedding(1, 1) +
          p.embedding(1, 2) * p.unembedding(2, 1)};
  const double probability = 1.0 / (1.0 + std::exp(logits[1] - logits[0]));
  const ReferenceGradient result = reference_gradient(p, one, false);
  const double error = 48 * 8 * kDoubleEpsilon;
  EXPECT_NEAR(result.loss, -std::log(probability), error);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.gradient.unembedding(i, 0), p.embedding(1, i) * (probability - 1.0),
                4 * error);
    EXPECT_EQ(result.gradient.embedding(0, i), 0.0);
  }
  EXPECT_EQ(largest(result.gradient.query), 0.0);
  EXPECT_EQ(largest(result.gradient.key), 0.0);
}

// Central differences D(h) of the reference's own loss along its gradient: L' = |∇L|. D(h) is off
// by c h² + O(h⁴), so (4 D(h/2) − D(h))/3 is off by O(h⁴), far less than D(h) − D(h/2) = 3/4 c h².
// The loss itself carries some hundred roundings.
TEST(ReferenceGradient, IsTheSlopeOfItsLoss) {
  const SequenceSet sequences =
      sample_sequences(standard_chain(), 7, 60, dewpoint::test::seed(), 0, {});
  const Parameters<double> at = initial_parameters(4, 6, 0.6, dewpoint::test::seed(), 1);
  for (const bool residual : {false, true}) {
    const ReferenceGradient here = reference_gradient(at, sequences, residual);
    const double length = std::sqrt(dot(here.gradient, here.gradient));
    const auto loss_at = [&](double distance) {
      Parameters<double> moved = at;
      for (std::size_t w = 0; w < 4; ++w) {
        Matrix<double>& part = *parts(moved)[w];
        for (std::size_t i = 0; i < part.size(); ++i) {
          part.data()[i] += distance / length * parts(here.gradient)[w]->data()[i];
        }
      }
      return reference_gradient(moved, sequences, residual).loss;
    };
    const auto difference = [&](double h) { return (loss_at(h) - loss_at(-h)) / (2.0 * h); };
    constexpr double h = 1e-4;
    const double coarse = difference(h);
    const double fine = difference(0.5 * h);
    const double rounding = 100.0 * kDoubleEpsilon * here.loss / h;
    EXPECT_NEAR((4.0 * fine - coarse) / 3.0, length, std::abs(coarse - fine) + rounding);
    EXPECT_LT(std::abs(coarse - fine) + rounding, 1e-5 * length);  // the check is sharp
  }
}

class Collapse : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(WithoutAndWithResidual, Collapse, testing::Bool());

// Weights after `steps` of gradient descent, which finds the attention and the logits of the data.
Parameters<double> trained_weights(const TokenLoss& loss, std::size_t width, int steps) {
  Parameters<double> weights = initial_parameters(4, width, 1.0 / 16.0, 1, 0);
  TokenMaps slope(4);
  for (int step = 0; step < steps; ++step) {
    loss.slope(0, token_maps(weights), slope);
    const Parameters<double> gradient = weight_gradient(weights, slope);
    for (std::size_t w = 0; w < 4; ++w) {
      Matrix<double>& part = *parts(weights)[w];
      for (std::size_t i = 0; i < part.size(); ++i) {
        part.data()[i] -= 0.2 * parts(gradient)[w]->data()[i];
      }
    }
  }
  return weights;
}

void expect_same(const Parameters<double>& weights, const TokenLoss& loss,
                 const SequenceSet& sequences, bool residual) {
  TokenMaps slope(4);
  const double value = loss.slope(0, token_maps(weights), slope);
  const Parameters<double> gradient = weight_gradient(weights, slope);
  const ReferenceGradient reference = reference_gradient(weights, sequences, residual);
  EXPECT_NEAR(value, reference.loss, kGradientAccuracy * reference.loss);
  for (std::size_t w = 0; w < 4; ++w) {
    const Matrix<double>& part = *parts(reference.gradient)[w];
    EXPECT_LE(largest_difference(*parts(gradient)[w], part), kGradientAccuracy * largest(part));
  }
}

TEST_P(Collapse, ChangesNeitherLossNorGradient) {
  constexpr std::size_t width = 16;
  for (const char* name : {"lambda", "cycle"}) {
    const SequenceSet sequences =
        sample_sequences(standard_chain(name), kStandardContext, 400, 1, 0, {});
    const auto loss = histogram_loss(collapse(sequences), {GetParam(), Precision::double_});
    for (const double size : {1.0 / 16.0, 0.6}) {
      expect_same(initial_parameters(4, width, size, 1, 3), *loss, sequences, GetParam());
    }
    const Parameters<double> trained = trained_weights(*loss, width, 1000);
    EXPECT_GT(largest(token_maps(trained).attention), 1.0);
    EXPECT_GT(largest(token_maps(trained).value), 1.0);
    expect_same(trained, *loss, sequences, GetParam());
  }
}

// The order of a context before its last token is not seen by the model.
TEST_P(Collapse, ForgetsTheOrderOfTheContext) {
  SequenceSet sequences = sample_sequences(standard_chain(), 9, 100, dewpoint::test::seed(), 4, {});
  const Parameters<double> weights = initial_parameters(4, 8, 0.5, dewpoint::test::seed(), 5);
  const ReferenceGradient before = reference_gradient(weights, sequences, GetParam());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto first = sequences.tokens.begin() + static_cast<std::ptrdiff_t>(i * 10);
    std::reverse(first, first + 8);
  }
  const ReferenceGradient after = reference_gradient(weights, sequences, GetParam());
  EXPECT_NEAR(after.loss, before.loss, kGradientAccuracy * before.loss);
  EXPECT_LE(largest_difference(after.gradient.key, before.gradient.key),
            kGradientAccuracy * largest(before.gradient.key));
}

}  // namespace
}  // namespace dewpoint::training::test
