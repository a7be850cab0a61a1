// From the weights to (Φ, M) and back: starts, products, gradients and Hessians.
#include "dewpoint/training/parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "training/standard_chain.hpp"
#include "training/weights_by_complex_step.hpp"

namespace dewpoint::training::test {
namespace {

// What gradients are asked to reach, relative to their largest entry. Weights are fixed draws with
// Φ and M up to about ten, so that attention is sharp but not dead. A score is a sum of m² products
// of four, off by a few u times the sum of their sizes, about 50: so a share is off by some 1e-14
// relatively, a logit and with it the slopes by up to ten times that.
constexpr double kGradientAccuracy = 1e-12;
constexpr double kSizes[] = {0.1, 0.5, 0.9};

constexpr std::size_t kWidth = 5;

Parameters<double> some_weights(std::size_t d, double size, std::uint64_t replica) {
  return initial_parameters(d, kWidth, size, 1, replica);
}

TEST(InitialParameters, AreTheNumberedDrawsOfTheirStream) {
  const Parameters<double> start = initial_parameters(3, 2, 0.25, 11, 4);
  const Stream stream(11, "training/initial", 4);
  std::uint64_t number = 0;
  for (const Matrix<double>* weights : parts(start)) {
    for (std::size_t i = 0; i < weights->size(); ++i) {
      EXPECT_EQ(weights->data()[i], 0.25 * stream.normal(number++));
    }
  }
  EXPECT_EQ(number, 3U * 2 + 2 * 3 + 2 * 2 + 2 * 2);
  EXPECT_NE(initial_parameters(3, 2, 0.25, 11, 5).embedding(0, 0), start.embedding(0, 0));
  EXPECT_NE(initial_parameters(3, 2, 0.25, 12, 4).embedding(0, 0), start.embedding(0, 0));
}

TEST(Parameters, KeepTheirShapeAndRoundWhenSingle) {
  const Parameters<double> weights = some_weights(3, 1.0, 0);
  const Parameters<double> rounded = to_double(to_single(weights));
  for (std::size_t w = 0; w < 4; ++w) {
    const Matrix<double>& before = *parts(weights)[w];
    const Matrix<double>& after = *parts(rounded)[w];
    ASSERT_EQ(after.rows(), before.rows());
    ASSERT_EQ(after.cols(), before.cols());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after.data()[i], static_cast<double>(static_cast<float>(before.data()[i])));
    }
  }
}

// Entries are sums of 25 products of four numbers below 4 at size 1, so of sizes that add up to
// less than 25·4⁴, each with a few dozen roundings; the derivative is four such sums.
TEST(TokenMaps, AreTheProductsOfTheWeightsAndChangeWithThem) {
  const Parameters<double> weights = some_weights(3, 1.0, 0);
  const Parameters<double> along = some_weights(3, 1.0, 1);
  const TokenMaps maps = token_maps(weights);
  const TokenMaps change = token_maps_change(weights, along);
  const ComplexMaps complex = complex_maps(shifted(weights, along));
  const double error = 25 * 256 * 30 * kDoubleEpsilon;
  EXPECT_LE(largest_difference(change.attention, derivative(complex.attention)), 4.0 * error);
  EXPECT_LE(largest_difference(change.value, derivative(complex.value)), error);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(maps.attention.data()[i], complex.attention.data()[i].real(), error);
    EXPECT_NEAR(maps.value.data()[i], complex.value.data()[i].real(), error);
  }
}

TEST(WeightGradient, IsTheComplexStepOfTheLoss) {
  for (const std::size_t d : {2U, 3U, 4U}) {
    for (const double size : kSizes) {
      for (const bool residual : {false, true}) {
        const std::string name = "weights" + std::to_string(d);
        const HistogramRows rows = random_rows(d, 9, 12 * d, name);
        const Parameters<double> weights = some_weights(d, size, d);
        TokenMaps slope(d);
        histogram_loss(rows, {residual, Precision::double_})->slope(0, token_maps(weights), slope);
        const Parameters<double> gradient = weight_gradient(weights, slope);
        for (std::size_t w = 0; w < 4; ++w) {
          const Matrix<double>& part = *parts(gradient)[w];
          for (std::size_t i = 0; i < part.size(); ++i) {
            Parameters<double> along(d, kWidth);
            parts(along)[w]->data()[i] = 1.0;
            EXPECT_NEAR(part.data()[i], loss_derivative(rows, residual, weights, along),
                        kGradientAccuracy * largest(part));
          }
        }
      }
    }
  }
}

// The derivative of the gradient along v, which weight_gradient's formulas give in complex
// arithmetic: gradient(θ + i h v).
Parameters<double> hessian_by_complex_step(const HistogramRows& rows, bool residual,
                                           const Parameters<double>& at,
                                           const Parameters<double>& along) {
  const Parameters<Complex> p = shifted(at, along);
  const ComplexMaps maps = complex_maps(p);
  const auto slope = plain_slope<Complex>(rows, residual, maps.attention, maps.value);
  const Matrix<Complex> w0t = transposed(p.embedding);
  const Matrix<Complex> by_query = times(slope.attention, times(p.embedding, p.key));
  const Matrix<Complex> by_key = times(transposed(slope.attention), times(p.embedding, p.query));
  Parameters<double> product;
  product.unembedding = derivative(times(w0t, slope.value));
  product.query = derivative(times(w0t, by_query));
  product.key = derivative(times(w0t, by_key));
  product.embedding = derivative(times(slope.value, transposed(p.unembedding)));
  const Matrix<double> through_query = derivative(times(by_query, transposed(p.query)));
  const Matrix<double> through_key = derivative(times(by_key, transposed(p.key)));
  for (std::size_t i = 0; i < product.embedding.size(); ++i) {
    product.embedding.data()[i] += through_query.data()[i] + through_key.data()[i];
  }
  return product;
}

TEST(HessianProduct, IsTheComplexStepOfTheGradient) {
  for (const std::size_t d : {2U, 3U, 4U}) {
    for (const double size : kSizes) {
      for (const bool residual : {false, true}) {
        const HistogramRows rows = random_rows(d, 9, 12 * d, "weights" + std::to_string(d));
        const Parameters<double> weights = some_weights(d, size, d);
        const Parameters<double> along = some_weights(d, 1.0, 10 + d);
        const auto loss = histogram_loss(rows, {residual, Precision::double_});
        const Parameters<double> product = hessian_product(*loss, weights, along);
        const Parameters<double> expected = hessian_by_complex_step(rows, residual, weights, along);
        for (std::size_t w = 0; w < 4; ++w) {
          const Matrix<double>& part = *parts(expected)[w];
          EXPECT_LE(largest_difference(*parts(product)[w], part),
                    kGradientAccuracy * largest(part));
        }
      }
    }
  }
}

// u·Hv = v·Hu. Each product is off by kGradientAccuracy of its largest entry, and entries of the
// other vector, normal, add up to no more than 4 times their number.
TEST(HessianProduct, IsSymmetric) {
  const auto loss = population_loss(standard_chain(), {});
  const Parameters<double> at = some_weights(4, 1.0, 20);
  const Parameters<double> u = some_weights(4, 1.0, 21);
  const Parameters<double> v = some_weights(4, 1.0, 22);
  const Parameters<double> hu = hessian_product(*loss, at, u);
  const Parameters<double> hv = hessian_product(*loss, at, v);
  double most = 0.0;
  double entries = 0.0;
  for (std::size_t w = 0; w < 4; ++w) {
    most = std::max({most, largest(*parts(hu)[w]), largest(*parts(hv)[w])});
    entries += static_cast<double>(parts(hu)[w]->size());
  }
  EXPECT_NEAR(dot(u, hv), dot(v, hu), 2.0 * 4.0 * entries * kGradientAccuracy * most);
  EXPECT_GT(std::abs(dot(u, hv)), 1e-3);
}

// At the origin of the weights the only curvature is between W0 and W1: with G = ∂L/∂M there, H
// takes (V0, V1, ·, ·) to (G V1ᵀ, V0ᵀ G, 0, 0). For the population G = −π (π − 1/d)ᵀ, and so
// V0 = q αᵀ, V1 = α uᵀ with the directions q of π and u of π − 1/d is an eigenvector of −H:
// μ = |π| |π − 1/d| = 0.4595012949.
TEST(HessianProduct, HasTheKnownGrowthAtTheOrigin) {
  const Chain chain = standard_chain();
  double square = 0.0;
  double centred_square = 0.0;
  for (const double p : chain.stationary) {
    square += p * p;
    centred_square += (p - 0.25) * (p - 0.25);
  }
  Parameters<double> along(4, kWidth);
  for (std::size_t i = 0; i < 4; ++i) {
    along.embedding(i, 2) = chain.stationary[i] / std::sqrt(square);
    along.unembedding(2, i) = (chain.stationary[i] - 0.25) / std::sqrt(centred_square);
  }
  const double rate = 0.4595012949;
  EXPECT_NEAR(std::sqrt(square * centred_square), rate, 5e-11);
  const Parameters<double> product =
      hessian_product(*population_loss(chain, {}), Parameters<double>(4, kWidth), along);
  for (std::size_t w = 0; w < 4; ++w) {
    const Matrix<double>& part = *parts(product)[w];
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_NEAR(part.data()[i], -rate * parts(along)[w]->data()[i], 1e-10);
    }
  }
}

}  // namespace
}  // namespace dewpoint::training::test
