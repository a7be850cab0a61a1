// The plain model against small cases worked out by hand, against the plain model of many layers,
// and its complex steps against finite differences.
#include "dewpoint/transformer/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "transformer/model_cases.hpp"

namespace dewpoint::transformer::test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

Matrix<double> identity(std::size_t n, double size = 1.0) {
  Matrix<double> result(n, n);
  for (std::size_t i = 0; i < n; ++i) result(i, i) = size;
  return result;
}

// Without queries attention is uniform over what is seen. Two positions of tokens 0 and 1, W0 and
// W1 the identity: the first sees itself, the second the mean of both.
TEST(ReferencePass, WithoutQueriesIsTheMeanOfWhatIsSeen) {
  Shape shape{.vocabulary = 2, .width = 2, .causal = true};
  Weights<double> weights(shape);
  weights.embedding = weights.unembedding = identity(2);
  const std::vector<std::int32_t> context{0, 1};
  const auto causal = reference_pass<double>(shape, weights, context).logits;
  EXPECT_EQ(causal(0, 0), 1.0);
  EXPECT_EQ(causal(0, 1), 0.0);
  EXPECT_EQ(causal(1, 0), 0.5);
  EXPECT_EQ(causal(1, 1), 0.5);

  shape.residual = true;
  shape.branch = 0.5;
  const auto residual = reference_pass<double>(shape, weights, context).logits;
  EXPECT_EQ(residual(0, 0), 1.5);
  EXPECT_EQ(residual(1, 0), 0.25);
  EXPECT_EQ(residual(1, 1), 1.25);

  shape.causal = false;
  const auto free = reference_pass<double>(shape, weights, context).logits;
  EXPECT_EQ(free(0, 0), 1.25);
  EXPECT_EQ(free(0, 1), 0.25);
}

// WQ = WK = diag(0, 1), so that scores are 0 in head 0 and products of second entries in head 1:
// with tokens (0, 0) and (0, a) the second position scores 0 and a² there.
TEST(ReferencePass, HasScoresOfItsOwnInEveryHead) {
  const Shape shape{.vocabulary = 2, .width = 2, .heads = 2};
  Weights<double> weights(shape);
  weights.embedding(1, 1) = std::sqrt(std::log(3.0));
  weights.layers[0].query(1, 1) = weights.layers[0].key(1, 1) = 1.0;
  const auto attention =
      reference_pass<double>(shape, weights, std::vector<std::int32_t>{0, 1}).attention[0];
  ASSERT_EQ(attention.size(), 2U);
  EXPECT_EQ(attention[0](1, 0), 0.5);
  EXPECT_EQ(attention[1](0, 0), 0.5);
  EXPECT_NEAR(attention[1](1, 0), 0.25, 4 * kEpsilon);
  EXPECT_NEAR(attention[1](1, 1), 0.75, 4 * kEpsilon);
}

// The embeddings 3 and 4 have a mean square of 12.5; attention to itself alone keeps them, and the
// norm before the logits divides once more, by √(1 + 1e-6/12.5).
TEST(ReferencePass, DividesByTheRootOfTheMeanSquare) {
  const Shape shape{.vocabulary = 2, .width = 2, .pre_norm = true};
  Weights<double> weights(shape);
  weights.embedding(0, 0) = 3.0;
  weights.embedding(0, 1) = 4.0;
  weights.unembedding = identity(2);
  const auto logits = reference_pass<double>(shape, weights, std::vector<std::int32_t>{0}).logits;
  const double square = 12.5 / (12.5 + kNormEpsilon);
  EXPECT_NEAR(logits(0, 0), 3.0 / std::sqrt((12.5 + kNormEpsilon) * (square + kNormEpsilon)),
              8 * kEpsilon);
  EXPECT_NEAR(logits(0, 1) / logits(0, 0), 4.0 / 3.0, 8 * kEpsilon);
}

TEST(ReferencePass, UnderAMaskDoesNotSeeWhatComesLater) {
  Shape shape{.vocabulary = 5, .width = 4, .layers = 3, .heads = 2, .causal = true};
  const Weights<double> weights = some_weights(shape, 0);
  const auto before = reference_pass<double>(shape, weights, std::vector<std::int32_t>{4, 1, 2, 3});
  const auto after = reference_pass<double>(shape, weights, std::vector<std::int32_t>{4, 1, 0, 0});
  for (std::size_t token = 0; token < 5; ++token) {
    EXPECT_EQ(before.logits(1, token), after.logits(1, token));
    EXPECT_NE(before.logits(2, token), after.logits(2, token));
  }
  for (const auto& heads : before.attention) EXPECT_EQ(heads[1](1, 2), 0.0);
}

// Products with 1 and sums with 0 are exact.
TEST(ReferenceLoss, OfAnIdentityAsValueMatrixIsThatWithoutOne) {
  Shape shape{.vocabulary = 6, .width = 4, .layers = 2, .heads = 2, .residual = true};
  Weights<double> weights = some_weights(shape, 1);
  const Windows windows = random_windows(6, 7, 5, "identity");
  const double without = reference_loss(shape, weights, windows, Targets::last);
  shape.value_matrix = true;
  for (LayerWeights<double>& layer : weights.layers) layer.value = identity(4);
  EXPECT_EQ(reference_loss(shape, weights, windows, Targets::last), without);
  for (LayerWeights<double>& layer : weights.layers) layer.value = identity(4, 0.5);
  const double halved = reference_loss(shape, weights, windows, Targets::last);
  shape.value_matrix = false;
  shape.branch = 0.5;
  EXPECT_EQ(reference_loss(shape, weights, windows, Targets::last), halved);
}

TEST(ReferenceLoss, OfZeroWeightsIsTheLogarithmOfTheVocabulary) {
  const Shape shape{.vocabulary = 6, .width = 4, .layers = 2, .causal = true, .pre_norm = true};
  const Windows windows = random_windows(6, 7, 5, "zero");
  for (const Targets targets : {Targets::last, Targets::all}) {
    EXPECT_NEAR(reference_loss(shape, Weights<double>(shape), windows, targets), std::log(6.0),
                40 * kEpsilon);  // the mean of 35 numbers
  }
}

// The loss after every position is the mean of those after each prefix.
TEST(ReferenceLoss, AtAllPositionsIsTheMeanOverPrefixes) {
  const Shape shape{.vocabulary = 6, .width = 4, .layers = 2, .causal = true};
  const Weights<double> weights = some_weights(shape, 2);
  const Windows windows = random_windows(6, 5, 1, "prefixes");
  double sum = 0.0;
  for (std::size_t s = 1; s <= 5; ++s) {
    const Windows prefix{{windows.tokens.begin(), windows.tokens.begin() + s + 1}, s};
    sum += reference_loss(shape, weights, prefix, Targets::last);
  }
  const double all = reference_loss(shape, weights, windows, Targets::all);
  EXPECT_NEAR(all, sum / 5.0, 10 * kEpsilon * all);
}

// Equal operations in an equal order.
TEST(ReferenceLoss, IsThatOfTheModelOfManyLayers) {
  for (const bool residual : {false, true}) {
    const Shape shape{.vocabulary = 4, .width = 6, .layers = 3, .residual = residual};
    const Weights<double> weights = some_weights(shape, 3);
    const Windows windows = random_windows(4, 9, 8, "layers");
    const training::SequenceSet sequences{
        4, 9, std::vector<std::uint8_t>(windows.tokens.begin(), windows.tokens.end())};
    EXPECT_DOUBLE_EQ(
        reference_loss(shape, weights, windows, Targets::last),
        training::layered_reference_loss(as_layers(shape, weights), sequences, residual));
  }
}

// Central differences of step h are off by h²/6 times the third derivative and u L/h by rounding:
// with h = 1e-4 and derivatives of up to some hundred 1e-6 at most.
TEST(ReferenceLoss, HasComplexStepsThatAreItsDerivatives) {
  const Shape shape{7, 8, 2, 4, true, 0.5, true, true, true};
  const Weights<double> weights = some_weights(shape, 4);
  const Windows windows = random_windows(7, 6, 3, "differences");
  const Weights<double> slopes = complex_step_gradient(shape, weights, windows, Targets::all);
  constexpr double step = 1e-4;
  for (std::size_t n = 0; n < matrices_of(weights).size(); ++n) {
    for (const std::size_t e : {std::size_t{0}, matrices_of(weights)[n]->size() - 1}) {
      const auto moved = [&](double by) {
        Weights<double> there = weights;
        matrices_of(there)[n]->data()[e] += by;
        return reference_loss(shape, there, windows, Targets::all);
      };
      EXPECT_NEAR((moved(step) - moved(-step)) / (2.0 * step), matrices_of(slopes)[n]->data()[e],
                  1e-6);
    }
    EXPECT_GT(dewpoint::test::largest(*matrices_of(slopes)[n]), 1e-3);  // the check is sharp
  }
}

}  // namespace
}  // namespace dewpoint::transformer::test
