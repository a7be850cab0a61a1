// The network on batches of many blocks and on long contexts, its attention, its bytes, and the
// model of many layers that it contains.
#include "dewpoint/transformer/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/training/layered_model.hpp"
#include "training/standard_chain.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::transformer::test {
namespace {

using dewpoint::test::inner;

// As in gradient_test.cpp, but sums have up to 150 keys in a row of attention and up to 4000 rows
// in a matrix: in the worst case 5000 u and as much for each of two layers, forth and back.
constexpr double kAccuracy = 5e-12;

template <class Real>
Network<Real> network_for(const Shape& shape, const Batch& batch) {
  return Network<Real>(shape, {batch.rows(), batch.contexts(), batch.asked.size(),
                               batch.questions.size(), batch.longest_context()});
}

template <class Real>
bool same_bytes(const Weights<Real>& a, const Weights<Real>& b) {
  return std::ranges::equal(matrices_of(a), matrices_of(b), [](const auto* x, const auto* y) {
    return std::equal(x->data(), x->data() + x->size(), y->data());
  });
}

// The derivative along a random direction in each matrix: an entry that is off by the accuracy
// times the largest is off by at most so much times |direction| in the sum.
void expect_slopes_of_plain_model(const Shape& shape, const Windows& windows, Targets targets,
                                  const Batch& batch) {
  const Weights<double> weights = some_weights(shape, 6);
  Network<double> network = network_for<double>(shape, batch);
  Weights<double> gradient(shape);
  const double loss = network.gradient(weights, batch, gradient);
  EXPECT_NEAR(loss, reference_loss(shape, weights, windows, targets), kAccuracy * loss);
  const std::vector<std::string> names = matrix_names(shape);
  for (std::size_t n = 0; n < names.size(); ++n) {
    const Matrix<double>& found = *matrices_of(gradient)[n];
    const Matrix<double> direction = some_direction(found.rows(), found.cols(), names[n]);
    double steps = 0.0;
    for (std::size_t e = 0; e < found.size(); ++e) steps += std::abs(direction.data()[e]);
    const double slope = complex_step_slope(shape, weights, n, direction, windows, targets);
    const double tolerance = kAccuracy * largest(gradient) * steps;
    EXPECT_NEAR(inner(found, direction), slope, tolerance) << names[n];
    EXPECT_GT(std::abs(slope), 1e3 * tolerance) << names[n];  // the check is sharp
  }
}

// ---- long contexts ------------------------------------------------------------------------------

constexpr std::size_t kLongContext = kKeptContext + 19;

TEST(NetworkOnLongContexts, HasTheGradientOfThePlainModelAtTheLastPosition) {
  const Windows windows = random_windows(9, kLongContext, 2, "long");
  for (const bool residual : {false, true}) {
    const Shape shape{.vocabulary = 9, .width = 8, .layers = 2, .residual = residual};
    expect_slopes_of_plain_model(shape, windows, Targets::last,
                                 explicit_batch(windows, Targets::last));
  }
}

TEST(NetworkOnLongContexts, HasTheGradientOfThePlainModelUnderAMask) {
  const Windows windows = random_windows(9, kLongContext, 2, "long masked");
  Shape shape{9, 8, 2, 2, true, 0.5, true, true, true};
  for (const char* law : {"", "ssmax:n0=100", "yarn:slope=0.2,n0=50"}) {
    shape.scaling = law;
    for (const Targets targets : {Targets::last, Targets::all}) {
      expect_slopes_of_plain_model(shape, windows, targets, explicit_batch(windows, targets));
    }
  }
}

// Two halves of a vocabulary and some tokens twice: histograms of more rows than are kept.
TEST(NetworkOnLongContexts, SeesThemAsHistograms) {
  Windows windows{{}, kLongContext};
  for (std::int32_t window = 0; window < 2; ++window) {
    for (std::int32_t i = 0; i <= static_cast<std::int32_t>(kLongContext); ++i) {
      windows.tokens.push_back((7 * i + window) % 139);
    }
  }
  const Shape shape{.vocabulary = 150, .width = 8, .layers = 2, .heads = 2, .residual = true};
  const Batch batch = collapsed_batch(windows);
  ASSERT_GT(batch.longest_context(), kKeptContext);
  ASSERT_LT(batch.longest_context(), kLongContext);
  expect_slopes_of_plain_model(shape, windows, Targets::last, batch);
}

// ---- batches of many blocks ---------------------------------------------------------------------

const Shape kManyBlocks{
    .vocabulary = 50, .width = 16, .layers = 2, .heads = 2, .residual = true, .value_matrix = true};

TEST(NetworkOnLargeBatches, HasTheGradientOfThePlainModel) {
  const Windows windows = random_windows(50, 12, 300, "large");
  expect_slopes_of_plain_model(kManyBlocks, windows, Targets::last,
                               explicit_batch(windows, Targets::last));
  expect_slopes_of_plain_model(kManyBlocks, windows, Targets::last, collapsed_batch(windows));
}

TEST(NetworkOnLargeBatches, HasTheGradientOfThePlainModelAtAllPositions) {
  const Windows windows = random_windows(50, 12, 300, "large");
  Shape shape = kManyBlocks;
  shape.causal = shape.pre_norm = true;
  expect_slopes_of_plain_model(shape, windows, Targets::all, explicit_batch(windows, Targets::all));
}

// Property (2) of Network::gradient().
TEST(NetworkOnLargeBatches, HasEqualBytesForAnyNumberOfThreads) {
  const Windows windows = random_windows(50, 12, 300, "large");
  const auto weights = converted<float>(kManyBlocks, some_weights(kManyBlocks, 7));
  for (const Batch& batch : {explicit_batch(windows, Targets::last), collapsed_batch(windows)}) {
    Network<float> network = network_for<float>(kManyBlocks, batch);
    Weights<float> one(kManyBlocks), many(kManyBlocks);
    const double loss = network.gradient(weights, batch, one, {1, {}, {}});
    for (const int threads : {2, 5}) {
      EXPECT_EQ(network.gradient(weights, batch, many, {threads, {}, {}}), loss);
      EXPECT_TRUE(same_bytes(one, many)) << threads;
    }
  }
}

TEST(ANetwork, ForgetsTheBatchesBefore) {
  const Windows large = random_windows(50, 12, 60, "before"), small{large.tokens, 3};
  const auto weights = converted<float>(kManyBlocks, some_weights(kManyBlocks, 8));
  Windows few{{small.tokens.begin(), small.tokens.begin() + 40}, 3};
  const Batch batch = collapsed_batch(few);
  Network<float> fresh(kManyBlocks, capacity_of(60, 12, Targets::last));
  Network<float> used(kManyBlocks, capacity_of(60, 12, Targets::last));
  Weights<float> wanted(kManyBlocks), found(kManyBlocks);
  const double loss = fresh.gradient(weights, batch, wanted);
  (void)used.gradient(weights, explicit_batch(large, Targets::last), found);
  EXPECT_FALSE(same_bytes(found, wanted));
  EXPECT_EQ(used.gradient(weights, batch, found), loss);
  EXPECT_TRUE(same_bytes(found, wanted));
}

TEST(ANetwork, HasRoomForBothWaysOfMakingABatch) {
  const Windows windows = random_windows(50, 12, 60, "room");
  for (const Targets targets : {Targets::last, Targets::all}) {
    const Capacity room = capacity_of(60, 12, targets);
    for (const Batch& batch : {explicit_batch(windows, targets), collapsed_batch(windows)}) {
      EXPECT_GE(room.rows, batch.rows());
      EXPECT_GE(room.contexts, batch.contexts());
      EXPECT_GE(room.asked, batch.asked.size());
      EXPECT_GE(room.questions, batch.questions.size());
      EXPECT_GE(room.context, batch.longest_context());
    }
  }
}

TEST(ANetwork, HasALossThatIsNoNumberWhereAWeightIsNone) {
  const Batch batch = collapsed_batch(random_windows(50, 12, 20, "no number"));
  Network<float> network = network_for<float>(kManyBlocks, batch);
  const auto weights = converted<float>(kManyBlocks, some_weights(kManyBlocks, 9));
  const auto token = static_cast<std::size_t>(batch.tokens[0]);
  for (std::size_t n = 0; n < matrices_of(weights).size(); ++n) {
    Weights<float> broken = weights;
    (*matrices_of(broken)[n])(n == 0 ? token : 3, 3) = static_cast<float>(kUnknown);
    EXPECT_TRUE(std::isnan(network.loss(broken, batch))) << n;
  }
}

// ---- laws of the logits -------------------------------------------------------------------------

// Contexts that are kept and such as are made again; a last layer for few rows and one for all.
TEST(ANetworkWithALaw, HasEqualBytesForAnyNumberOfThreads) {
  Shape shape = kManyBlocks;
  shape.causal = true;
  shape.scaling = "ssmax:n0=12";
  const auto weights = converted<float>(shape, some_weights(shape, 7));
  for (const std::size_t s : {std::size_t{12}, kLongContext}) {
    const Windows windows = random_windows(50, s, 40, "law");
    for (const Targets targets : {Targets::last, Targets::all}) {
      const Batch batch = explicit_batch(windows, targets);
      Network<float> network = network_for<float>(shape, batch);
      Weights<float> one(shape), many(shape);
      const double loss = network.gradient(weights, batch, one, {1, {}, {}});
      EXPECT_EQ(network.gradient(weights, batch, many, {3, {}, {}}), loss);
      EXPECT_TRUE(same_bytes(one, many)) << s;
    }
  }
}

// A factor of 1 rounds nothing: laws that are 1 at these lengths are no law.
TEST(ANetworkWithALaw, ThatIsOneEverywhereHasTheBytesOfOneWithout) {
  Shape shape = kManyBlocks;
  shape.causal = true;
  const auto weights = converted<float>(shape, some_weights(shape, 7));
  const Batch batch = explicit_batch(random_windows(50, 12, 40, "no law"), Targets::all);
  Weights<float> plain(shape), found(shape);
  const double loss = network_for<float>(shape, batch).gradient(weights, batch, plain);
  for (const char* law : {"constant:1", "log-n:n0=12", "yarn:n0=12", "llama-4:n0=13"}) {
    shape.scaling = law;
    EXPECT_EQ(network_for<float>(shape, batch).gradient(weights, batch, found), loss) << law;
    EXPECT_TRUE(same_bytes(found, plain)) << law;
  }
  shape.scaling = "log-n:n0=11";
  EXPECT_NE(network_for<float>(shape, batch).gradient(weights, batch, found), loss);
}

// ---- attention ----------------------------------------------------------------------------------

// Weights of attention are at most 1 and have the accuracy of scores.
void expect_attention(const std::vector<std::vector<Matrix<double>>>& found,
                      const std::vector<std::vector<Matrix<double>>>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t layer = 0; layer < found.size(); ++layer) {
    ASSERT_EQ(found[layer].size(), wanted[layer].size());
    for (std::size_t head = 0; head < found[layer].size(); ++head) {
      ASSERT_EQ(found[layer][head].rows(), wanted[layer][head].rows());
      EXPECT_LE(largest_difference(found[layer][head], wanted[layer][head]), kAccuracy);
    }
  }
}

TEST(AttentionOfANetwork, IsThatOfThePlainModel) {
  for (const bool causal : {false, true}) {
    const Shape shape{12, 8, 3, 2, true, 0.5, true, causal, true};
    const Windows windows = random_windows(12, 9, 4, "attention");
    const Weights<double> weights = some_weights(shape, 10);
    const Batch batch = explicit_batch(windows, Targets::last);
    Network<double> network = network_for<double>(shape, batch);
    for (const std::size_t i : {0, 3}) {
      expect_attention(
          network.attention(weights, batch, i),
          reference_pass<double>(shape, weights, windows.window(i).first(9)).attention);
    }
  }
}

// Property (1) of Network::scores(): weights are at most 1, and exponentials of scores of some tens
// have the accuracy of the scores.
TEST(ScoresOfANetwork, HaveItsAttentionAsTheirSoftmax) {
  Shape causal{12, 8, 3, 2, true, 0.5, true, true, true};
  causal.scaling = "ssmax:n0=6";
  const Shape merged{.vocabulary = 12, .width = 8, .layers = 2, .residual = true};
  const Windows windows = random_windows(12, 9, 4, "scores");
  for (const Shape& shape : {causal, merged}) {
    const Weights<double> weights = some_weights(shape, 10);
    const Batch batch =
        shape.causal ? explicit_batch(windows, Targets::last) : collapsed_batch(windows);
    Network<double> network = network_for<double>(shape, batch);
    auto scores = network.scores(weights, batch, 1);
    for (auto& heads : scores) {
      for (auto& of_head : heads) {
        EXPECT_EQ(std::isinf(of_head(0, 1)), shape.causal);
        for (std::size_t i = 0; i < of_head.rows(); ++i) {
          double sum = 0.0;
          for (double& score : of_head.row(i)) sum += score = std::exp(score);
          for (double& weight : of_head.row(i)) weight /= sum;
        }
      }
    }
    expect_attention(scores, network.attention(weights, batch, 1));
  }
}

// Rows of positions with the same token are equal, and their columns are added.
Matrix<double> between_tokens(const Matrix<double>& attention,
                              std::span<const std::int32_t> context,
                              std::span<const std::int32_t> tokens) {
  Matrix<double> sums(tokens.size(), tokens.size());
  for (std::size_t q = 0; q < tokens.size(); ++q) {
    const auto row =
        static_cast<std::size_t>(std::ranges::find(context, tokens[q]) - context.begin());
    for (std::size_t j = 0; j < context.size(); ++j) {
      const auto key = std::ranges::find(tokens, context[j]) - tokens.begin();
      sums(q, static_cast<std::size_t>(key)) += attention(row, j);
    }
  }
  return sums;
}

TEST(AttentionOfANetwork, ToARowIsThatToAllPositionsItStandsFor) {
  const Shape shape{.vocabulary = 6, .width = 8, .layers = 2, .heads = 2, .residual = true};
  const Windows windows = random_windows(6, 11, 1, "attention to rows");
  const auto context = windows.window(0).first(11);
  const Weights<double> weights = some_weights(shape, 11);
  const Batch batch = collapsed_batch(windows);
  ASSERT_LT(batch.rows(), 11U);
  auto wanted = reference_pass<double>(shape, weights, context).attention;
  for (auto& heads : wanted) {
    for (auto& attention : heads) {
      attention = between_tokens(attention, context, batch.tokens);
    }
  }
  expect_attention(network_for<double>(shape, batch).attention(weights, batch, 0), wanted);
}

// ---- the model of many layers -------------------------------------------------------------------

struct ChainData {
  training::HistogramRows rows;
  Batch batch;
};

ChainData chain_data() {
  const training::SequenceSet sequences = training::sample_sequences(
      training::test::standard_chain(), training::test::kStandardContext, 400, 1, 0, {});
  return {training::collapse(sequences),
          collapsed_batch({{sequences.tokens.begin(), sequences.tokens.end()}, sequences.context})};
}

TEST(ANetworkOfOneHead, IsTheModelOfManyLayersOnAChain) {
  const ChainData data = chain_data();
  for (const std::size_t layers : {1, 2, 4}) {
    for (const bool residual : {false, true}) {
      const Shape shape{.vocabulary = 4, .width = 12, .layers = layers, .residual = residual};
      const Weights<double> weights = some_weights(shape, 12);
      training::LayeredModel<double> model(data.rows, shape.width, layers, residual);
      training::LayeredParameters<double> wanted(4, shape.width, layers);
      const double loss = model.gradient(as_layers(shape, weights), data.rows.labels, wanted);

      Weights<double> found(shape);
      Network<double> network = network_for<double>(shape, data.batch);
      EXPECT_NEAR(network.gradient(weights, data.batch, found), loss, kAccuracy * loss);
      const double tolerance = kAccuracy * largest(found);
      for (std::size_t n = 0; n < matrices_of(found).size(); ++n) {
        const Matrix<double>& slopes = *training::matrices_of(wanted)[n];
        EXPECT_LE(largest_difference(*matrices_of(found)[n], slopes), tolerance) << n;
        EXPECT_GT(dewpoint::test::largest(slopes), 1e3 * tolerance) << n;  // the check is sharp
      }
    }
  }
}

}  // namespace
}  // namespace dewpoint::transformer::test
