#include "dewpoint/transformer/weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/training/layered_model.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::transformer {
namespace {

using Names = std::vector<std::string>;

template <class Real>
bool equal(const Matrix<Real>& a, const Matrix<Real>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + a.size(), b.data());
}

template <class Real>
bool equal(const Weights<Real>& a, const Weights<Real>& b) {
  return std::ranges::equal(matrices_of(a), matrices_of(b),
                            [](const auto* x, const auto* y) { return equal(*x, *y); });
}

TEST(Weights, AreZeroMatricesOfTheSizesOfTheShape) {
  const Shape shape{.vocabulary = 5, .width = 4, .layers = 2, .value_matrix = true};
  const Weights<float> weights(shape);
  EXPECT_TRUE(equal(weights.embedding, Matrix<float>(5, 4)));
  EXPECT_TRUE(equal(weights.unembedding, Matrix<float>(4, 5)));
  ASSERT_EQ(weights.layers.size(), 2U);
  for (const LayerWeights<float>& layer : weights.layers) {
    EXPECT_TRUE(equal(layer.query, Matrix<float>(4, 4)));
    EXPECT_TRUE(equal(layer.key, Matrix<float>(4, 4)));
    EXPECT_TRUE(equal(layer.value, Matrix<float>(4, 4)));
  }
}

TEST(Weights, ComeInTheOrderOfTheirNames) {
  Weights<double> weights(Shape{.vocabulary = 5, .width = 4, .layers = 2, .value_matrix = true});
  const std::vector wanted{&weights.embedding,       &weights.unembedding,
                           &weights.layers[0].query, &weights.layers[0].key,
                           &weights.layers[0].value, &weights.layers[1].query,
                           &weights.layers[1].key,   &weights.layers[1].value};
  EXPECT_EQ(matrices_of(weights), wanted);
  EXPECT_EQ(matrix_names({.vocabulary = 5, .width = 4, .layers = 2, .value_matrix = true}),
            (Names{"W0", "W1", "layers.0.WQ", "layers.0.WK", "layers.0.WV", "layers.1.WQ",
                   "layers.1.WK", "layers.1.WV"}));
}

TEST(Weights, LeaveOutTheValueMatricesThatAreNotThere) {
  const Shape shape{.vocabulary = 5, .width = 4, .layers = 2};
  Weights<double> weights(shape);
  EXPECT_EQ(weights.layers[0].value.size(), 0U);
  EXPECT_EQ(matrices_of(weights).size(), 6U);
  EXPECT_EQ(matrices_of(weights)[4], &weights.layers[1].query);
  EXPECT_EQ(matrix_names(shape),
            (Names{"W0", "W1", "layers.0.WQ", "layers.0.WK", "layers.1.WQ", "layers.1.WK"}));
}

// Property (1).
TEST(InitialWeights, AreThoseOfTheModelOfManyLayers) {
  const Shape shape{.vocabulary = 4, .width = 6, .layers = 3};
  const Weights<float> start = initial_weights<float>(shape, 0.3, 7, 2);
  const auto other = training::initial_layers<float>(4, 6, 3, 0.3, 7, 2);
  const auto found = matrices_of(start);
  const auto wanted = training::matrices_of(other);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t n = 0; n < found.size(); ++n) EXPECT_TRUE(equal(*found[n], *wanted[n])) << n;
}

// Property (2).
TEST(InitialWeights, DependOnSizesAndTheValueMatrixAlone) {
  const Shape plain{.vocabulary = 4, .width = 6, .layers = 2, .value_matrix = true};
  Shape rich = plain;
  rich.heads = 3;
  rich.residual = rich.causal = rich.pre_norm = true;
  rich.branch = 0.5;
  EXPECT_TRUE(
      equal(initial_weights<double>(plain, 0.3, 7, 2), initial_weights<double>(rich, 0.3, 7, 2)));
}

TEST(InitialWeights, DifferBetweenSeedsAndReplicasAndMatrices) {
  const Shape shape{.vocabulary = 6, .width = 6, .layers = 2, .value_matrix = true};
  const Weights<double> start = initial_weights<double>(shape, 0.3, 7, 2);
  EXPECT_FALSE(equal(start, initial_weights<double>(shape, 0.3, 8, 2)));
  EXPECT_FALSE(equal(start, initial_weights<double>(shape, 0.3, 7, 3)));
  const auto all = matrices_of(start);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) EXPECT_FALSE(equal(*all[a], *all[b]));
  }
}

// Independent normal draws: the mean has variance σ²/n, the mean of squares 2σ⁴/n.
TEST(InitialWeights, HaveTheDeviationAskedFor) {
  const Shape shape{.vocabulary = 50, .width = 40, .layers = 2, .value_matrix = true};
  const double deviation = 0.125;
  const Weights<double> start =
      initial_weights<double>(shape, deviation, dewpoint::test::seed(), 0);
  double sum = 0.0, squares = 0.0, n = 0.0;
  for (const Matrix<double>* matrix : matrices_of(start)) {
    for (std::size_t e = 0; e < matrix->size(); ++e) {
      sum += matrix->data()[e];
      squares += matrix->data()[e] * matrix->data()[e];
    }
    n += static_cast<double>(matrix->size());
  }
  using dewpoint::test::kSigmas;
  const double variance = deviation * deviation;
  EXPECT_NEAR(sum / n, 0.0, kSigmas * deviation / std::sqrt(n));
  EXPECT_NEAR(squares / n, variance, kSigmas * variance * std::sqrt(2.0 / n));
}

}  // namespace
}  // namespace dewpoint::transformer
