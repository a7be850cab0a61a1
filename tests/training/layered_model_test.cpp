// Several layers of attention: the two collapses against the plain model, gradients by complex
// step, one layer against the model of one layer, and Adam.
#include "dewpoint/training/layered_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <span>
#include <string>

#include "dewpoint/training/layered_adam.hpp"
#include "dewpoint/training/layered_reference.hpp"
#include "training/standard_chain.hpp"
#include "training/weights_by_complex_step.hpp"

namespace dewpoint::training::test {
namespace {

// What gradients are asked to reach, relative to the largest entry of all: slopes by scores are
// differences of numbers of that order, which states in common make small, not their errors. A
// score is a sum of m² products of four and passes on its rounding, some ten u times its size of a
// few units, to the next layer's states; eight layers add up to 1e-13 at most.
constexpr double kGradientAccuracy = 1e-12;

constexpr std::size_t kTokens = 4;
constexpr std::size_t kWidth = 5;

struct Shape {
  std::size_t layers;
  bool residual;
};

// Weights at which every layer matters. Keys are like queries, so that a token attends most to
// itself: else layers without residual make all states equal, and slopes are differences of equal
// numbers. And every layer has scores of the same order: with residual a layer doubles what states
// have in common, so the scores of the next one would be four times as large.
LayeredParameters<double> some_weights(const Shape& shape, std::uint64_t replica) {
  LayeredParameters<double> weights =
      initial_layers<double>(kTokens, kWidth, shape.layers, 0.9, 1, replica);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const Matrix<double>& query = weights.query[layer];
    for (std::size_t e = 0; e < query.size(); ++e) {
      weights.key[layer].data()[e] = query.data()[e] + 0.3 * weights.key[layer].data()[e];
    }
  }
  const auto scale = [](Matrix<double>& matrix, double factor) {
    for (double& entry : std::span(matrix.data(), matrix.size())) entry *= factor;
  };
  const double growth = shape.residual ? 2.0 : 1.0;
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    scale(weights.query[layer], std::pow(growth, -2.0 * static_cast<double>(layer)));
  }
  scale(weights.unembedding, std::pow(growth, -static_cast<double>(shape.layers)));
  return weights;
}

// Short contexts: in many of them some token is missing.
SequenceSet some_sequences() {
  return sample_sequences(named_chain("cycle", {0.4, 0.3, 0.2, 0.1}, 0.5), 6, 40, 1, 0, {});
}

class LayeredShape : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Depths, LayeredShape,
                         testing::Values(Shape{1, false}, Shape{1, true}, Shape{2, false},
                                         Shape{2, true}, Shape{3, false}, Shape{3, true},
                                         Shape{8, false}, Shape{8, true}),
                         [](const testing::TestParamInfo<Shape>& shape) {
                           return std::to_string(shape.param.layers) +
                                  (shape.param.residual ? "WithResidual" : "Without");
                         });

TEST_P(LayeredShape, LossIsThatOfThePlainModel) {
  const SequenceSet sequences = some_sequences();
  const HistogramRows rows = collapse(sequences);
  LayeredModel<double> model(rows, kWidth, GetParam().layers, GetParam().residual);
  for (const std::uint64_t replica : {0, 1, 2}) {
    const LayeredParameters<double> weights = some_weights(GetParam(), replica);
    const double plain = layered_reference_loss(weights, sequences, GetParam().residual);
    EXPECT_NEAR(model.loss(weights), plain, kGradientAccuracy * plain);
  }
}

TEST_P(LayeredShape, GradientIsThatOfThePlainModelByComplexStep) {
  const SequenceSet sequences = some_sequences();
  const HistogramRows rows = collapse(sequences);
  const LayeredParameters<double> weights = some_weights(GetParam(), 3);
  LayeredModel<double> model(rows, kWidth, GetParam().layers, GetParam().residual);
  LayeredParameters<double> gradient(kTokens, kWidth, GetParam().layers);
  const double loss = model.gradient(weights, rows.labels, gradient);
  EXPECT_EQ(loss, model.loss(weights));

  LayeredParameters<Complex> moved(kTokens, kWidth, GetParam().layers);
  const auto from = matrices_of(weights);
  const auto found = matrices_of(gradient);
  const auto to = matrices_of(moved);
  double tolerance = 0.0;
  for (const auto* matrix : found)
    tolerance = std::max(tolerance, kGradientAccuracy * largest(*matrix));
  for (std::size_t n = 0; n < to.size(); ++n)
    std::copy_n(from[n]->data(), from[n]->size(), to[n]->data());
  for (std::size_t n = 0; n < to.size(); ++n) {
    Matrix<double> slopes(from[n]->rows(), from[n]->cols());
    for (std::size_t e = 0; e < slopes.size(); ++e) {
      to[n]->data()[e] += Complex(0.0, kComplexStep);
      slopes.data()[e] =
          layered_reference_loss(moved, sequences, GetParam().residual).imag() / kComplexStep;
      to[n]->data()[e] = from[n]->data()[e];
    }
    EXPECT_GT(largest(slopes), 1e6 * tolerance) << "matrix " << n;  // the check is sharp
    EXPECT_LE(largest_difference(*found[n], slopes), tolerance) << "matrix " << n;
  }
}

// In single precision the weights and the gradient are rounded to 2⁻²⁴. As above, with u = 2⁻²⁴ for
// the rounding of scores and logits: some ten u, eight times that through the layers, and five
// times for slopes that are differences.
TEST_P(LayeredShape, SinglePrecisionDiffersByItsRounding) {
  const HistogramRows rows = collapse(some_sequences());
  const LayeredParameters<double> weights = some_weights(GetParam(), 4);
  LayeredParameters<float> rounded(kTokens, kWidth, GetParam().layers);
  LayeredParameters<double> exact(kTokens, kWidth, GetParam().layers);
  LayeredParameters<float> gradient = rounded;
  LayeredParameters<double> reference = exact;
  for (std::size_t n = 0; n < matrices_of(weights).size(); ++n) {
    const Matrix<double>& from = *matrices_of(weights)[n];
    for (std::size_t e = 0; e < from.size(); ++e) {
      matrices_of(rounded)[n]->data()[e] = static_cast<float>(from.data()[e]);
      matrices_of(exact)[n]->data()[e] = static_cast<double>(static_cast<float>(from.data()[e]));
    }
  }
  LayeredModel<float> single(rows, kWidth, GetParam().layers, GetParam().residual);
  LayeredModel<double> model(rows, kWidth, GetParam().layers, GetParam().residual);
  const double error = 400 * 0x1p-24;
  EXPECT_NEAR(single.gradient(rounded, rows.labels, gradient),
              model.gradient(exact, rows.labels, reference), error);
  double scale = 0.0;
  for (const auto* matrix : matrices_of(reference)) scale = std::max(scale, largest(*matrix));
  for (std::size_t n = 0; n < matrices_of(reference).size(); ++n) {
    const Matrix<double>& wanted = *matrices_of(reference)[n];
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      EXPECT_NEAR(double{matrices_of(gradient)[n]->data()[e]}, wanted.data()[e], error * scale);
    }
  }
}

// ---- one layer ----------------------------------------------------------------------------------

Parameters<double> as_one_layer(const LayeredParameters<double>& weights) {
  Parameters<double> result;
  result.embedding = weights.embedding;
  result.unembedding = weights.unembedding;
  result.query = weights.query[0];
  result.key = weights.key[0];
  return result;
}

TEST(OneLayer, StartsLikeTheModelOfOneLayer) {
  const LayeredParameters<double> start = initial_layers<double>(4, 7, 1, 0.25, 5, 2);
  const Parameters<double> other = initial_parameters(4, 7, 0.25, 5, 2);
  for (std::size_t w = 0; w < 4; ++w) {
    EXPECT_EQ(largest_difference(*matrices_of(start)[w], *parts(other)[w]), 0.0);
  }
}

TEST(OneLayer, HasTheLossAndTheGradientOfTheModelOfOneLayer) {
  const HistogramRows rows =
      collapse(sample_sequences(standard_chain(), kStandardContext, 3000, 1, 0, {}));
  for (const bool residual : {false, true}) {
    const auto loss = histogram_loss(rows, {residual, Precision::double_});
    LayeredModel<double> model(rows, 16, 1, residual);
    for (const double size : {1.0 / 16.0, 0.5}) {
      const LayeredParameters<double> weights = initial_layers<double>(4, 16, 1, size, 1, 0);
      const Parameters<double> same = as_one_layer(weights);
      LayeredParameters<double> gradient(4, 16, 1);
      TokenMaps slope(4);
      const double value = loss->slope(0, token_maps(same), slope);
      EXPECT_NEAR(model.gradient(weights, rows.labels, gradient), value, kGradientAccuracy * value);
      const Parameters<double> wanted = weight_gradient(same, slope);
      for (std::size_t w = 0; w < 4; ++w) {
        EXPECT_LE(largest_difference(*matrices_of(gradient)[w], *parts(wanted)[w]),
                  kGradientAccuracy * largest(*parts(wanted)[w]));
      }
    }
  }
}

TEST(OneLayer, AttendsAsTheSoftmaxOfItsScores) {
  const LayeredParameters<double> weights = initial_layers<double>(4, 6, 1, 0.7, 3, 0);
  const Matrix<double> scores = token_maps(as_one_layer(weights)).attention;
  const Matrix<double> attention = layer_attention(weights, true)[0];
  for (std::size_t q = 0; q < 4; ++q) {
    double total = 0.0;
    for (const double score : scores.row(q)) total += std::exp(score);
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(attention(q, j), std::exp(scores(q, j)) / total, 1e-13);
    }
  }
}

// ---- Adam ---------------------------------------------------------------------------------------

// An epsilon above the gradient makes a step Lipschitz, |du/dg| ≤ 1/epsilon. Gradients of 1e-13
// accuracy, 40 steps of gain rate/epsilon = 0.01 with curvatures below 10: the difference grows by
// less than 1.1 a step.
TEST(LayeredAdam, OfOneLayerIsPlainAdam) {
  const AdamOptions smooth{.rate = 1e-3, .epsilon = 0.1};
  const HistogramRows rows =
      collapse(sample_sequences(standard_chain(), kStandardContext, 2000, 1, 0, {}));
  const LayeredParameters<double> start = initial_layers<double>(4, 9, 1, 0.4, 1, 0);
  const auto loss = histogram_loss(rows, {true, Precision::double_});
  const auto plain = plain_adam(*loss, as_one_layer(start), smooth);
  LayeredAdam<double> layered(rows, start, {.batch = 0, .adam = smooth});
  constexpr int steps = 40;
  ASSERT_TRUE(plain->advance(steps, {}) && layered.advance(steps, {}));
  const Parameters<double> wanted = plain->parameters();
  const double bound = std::pow(1.1, steps) * 1e-13;
  for (std::size_t w = 0; w < 4; ++w) {
    const Matrix<double>& found = *matrices_of(layered.parameters())[w];
    EXPECT_LE(largest_difference(found, *parts(wanted)[w]), bound);
    EXPECT_GT(largest_difference(found, *matrices_of(start)[w]), 1e6 * bound);  // it moved
  }
}

bool same_bits(const LayeredParameters<float>& a, const LayeredParameters<float>& b) {
  for (std::size_t n = 0; n < matrices_of(a).size(); ++n) {
    const Matrix<float>&x = *matrices_of(a)[n], &y = *matrices_of(b)[n];
    if (!std::equal(x.data(), x.data() + x.size(), y.data())) return false;
  }
  return true;
}

TEST(LayeredAdam, DoesNotDependOnWhereItIsWatched) {
  const HistogramRows rows =
      collapse(sample_sequences(standard_chain(), kStandardContext, 500, 1, 0, {}));
  const LayeredParameters<float> start = initial_layers<float>(4, 12, 3, 1.0 / 12.0, 1, 0);
  LayeredAdam<float> once(rows, start, {.batch = 32}), often(rows, start, {.batch = 32});
  LayeredAdam<float> other(rows, start, {.batch = 32, .seed = 2});
  ASSERT_TRUE(once.advance(30, {}) && other.advance(30, {}));
  for (const std::uint64_t step : {1, 7, 30}) {
    ASSERT_TRUE(often.advance(step, {}));
    EXPECT_GT(often.loss(), 0.0);
  }
  EXPECT_EQ(often.done(), 30U);
  EXPECT_TRUE(same_bits(once.parameters(), often.parameters()));
  EXPECT_FALSE(same_bits(once.parameters(), other.parameters()));
}

TEST(LayeredAdam, SaysWhenTheLossIsNoNumber) {
  const HistogramRows rows =
      collapse(sample_sequences(standard_chain(), kStandardContext, 100, 1, 0, {}));
  const LayeredParameters<float> start = initial_layers<float>(4, 8, 2, 0.1, 1, 0);
  LayeredAdam<float> adam(rows, start, {.batch = 0, .adam = {.rate = 1e30}});
  EXPECT_FALSE(adam.advance(5, {}));
  EXPECT_EQ(adam.done(), 1U);
}

// Labels are drawn with their share of the weight: binomial counts.
TEST(BatchDraws, FollowTheWeightsOfTheRows) {
  HistogramRows rows = collapse(SequenceSet{2, 2, {0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1}});
  rows.labels(0, 1) = 2.0;
  rows.labels(0, 0) = 0.0;
  rows.labels(1, 0) = 0.5;
  const double all =
      std::accumulate(rows.labels.data(), rows.labels.data() + rows.labels.size(), 0.0);
  constexpr std::size_t batch = 10, steps = 4000;
  BatchDraws draws(rows, batch, dewpoint::test::stream("BatchDraws"));
  Matrix<double> counts(rows.labels.rows(), rows.labels.cols());
  for (std::size_t step = 0; step < steps; ++step) {
    const Matrix<double>& drawn = draws.draw(step);
    double sum = 0.0;
    for (std::size_t e = 0; e < drawn.size(); ++e) {
      counts.data()[e] += drawn.data()[e];
      sum += drawn.data()[e];
    }
    ASSERT_EQ(sum, double{batch});
  }
  for (std::size_t e = 0; e < counts.size(); ++e) {
    const double share = rows.labels.data()[e] / all, n = batch * steps;
    EXPECT_NEAR(counts.data()[e] / n, share,
                dewpoint::test::kSigmas * std::sqrt(share * (1.0 - share) / n));
  }
}

}  // namespace
}  // namespace dewpoint::training::test
