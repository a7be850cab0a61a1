// The sequences of a chain as batches of a network.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/chain_batches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "dewpoint/transformer/weights.hpp"
#include "experiments/layer_cases.hpp"

namespace dewpoint::experiments {
namespace {

using namespace dewpoint::experiments::test;  // NOLINT(google-build-using-namespace)

/// What batch.hpp asks of a batch.
void expect_well_formed(const transformer::Batch& batch) {
  ASSERT_FALSE(batch.questions.empty());
  EXPECT_EQ(batch.begins.front(), 0U);
  EXPECT_EQ(batch.begins.back(), batch.rows());
  std::set<std::uint32_t> rows;
  double weight = 0.0;
  std::uint32_t last = 0;
  for (const transformer::Question& question : batch.questions) {
    EXPECT_GE(question.row, last);
    last = question.row;
    rows.insert(question.row);
    weight += question.weight;
  }
  EXPECT_EQ(batch.asked, std::vector<std::uint32_t>(rows.begin(), rows.end()));
  EXPECT_NEAR(weight, 1.0, 1e-12);  // a sum of at most 500
}

TEST(ChainBatches, AreWellFormedAndFitTheCapacity) {
  for (const bool causal : {false, true}) {
    for (const std::size_t size : {1U, 32U, 400U}) {
      LayerQuestion question = small();
      question.shape.causal = causal;
      question.batch = size;
      const auto batches = chain_batches(question, 0, {});
      const transformer::Capacity most = batches->capacity();
      const auto fits = [&](const transformer::Batch& batch) {
        expect_well_formed(batch);
        EXPECT_LE(batch.rows(), most.rows);
        EXPECT_LE(batch.contexts(), most.contexts);
        EXPECT_LE(batch.asked.size(), most.asked);
        EXPECT_LE(batch.questions.size(), most.questions);
        EXPECT_LE(batch.longest_context(), most.context);
      };
      double share = 0.0;
      for (const WeighedBatch& part : batches->all()) {
        fits(part.batch);
        share += part.share;
      }
      EXPECT_NEAR(share, 1.0, 1e-12);
      for (std::uint64_t step = 0; step < 5; ++step) fits(batches->of_step(step));
      EXPECT_GE(most.rows, 4U);
    }
  }
}

TEST(ChainBatches, OfAStepDependOnTheStepAlone) {
  for (const bool causal : {false, true}) {
    LayerQuestion question = small();
    question.shape.causal = causal;
    const auto straight = chain_batches(question, 3, {});
    const auto jumping = chain_batches(question, 3, {});
    (void)straight->of_step(0);
    (void)straight->of_step(1);
    EXPECT_EQ(straight->of_step(2).tokens, jumping->of_step(2).tokens);
    const std::vector<std::int32_t> second = jumping->of_step(2).tokens;
    EXPECT_NE(jumping->of_step(3).tokens, second);
  }
}

transformer::Windows windows_of(const training::SequenceSet& sequences) {
  return {{sequences.tokens.begin(), sequences.tokens.end()}, sequences.context};
}

// Logits are sums of products along paths with fewer than 300 roundings to 2⁻²⁴ (four sums over 16
// units and two over 7 tokens in each of two layers), of terms whose absolute values sum to less
// than 4 · 16 · 0.2² · 9 < 24 with weights of size 0.2 to 3 deviations: 300 · 24 · 2⁻²⁴ = 4e-4 in
// the worst case; roundings of both signs leave the root of their number, 2.5e-5.
TEST(HistogramContexts, HaveTheLossOfTheirSequences) {
  const LayerQuestion question = small(2, 2);
  const training::SequenceSet sequences = sequences_of(question, 0);
  transformer::Batch explicit_batch, collapsed;
  transformer::fill_explicit(windows_of(sequences), transformer::Targets::last, explicit_batch);
  const HistogramContexts contexts(training::collapse(sequences));
  EXPECT_EQ(contexts.fill(contexts.rows().labels, {0, contexts.size()}, collapsed), 500.0);
  EXPECT_LT(collapsed.contexts(), 120U);  // C(10, 3)
  const auto weights =
      transformer::initial_weights<float>(question.shape, 0.2, dewpoint::test::seed(), 0);
  transformer::Network<float> network(question.shape,
                                      transformer::capacity_of(500, 7, transformer::Targets::last));
  EXPECT_NEAR(network.loss(weights, collapsed), network.loss(weights, explicit_batch), 2.5e-5);
}

TEST(HistogramContexts, WithoutLabelsAreLeftOut) {
  const HistogramContexts contexts(training::collapse(sequences_of(small(), 0)));
  Matrix<double> labels(contexts.rows().size(), 4);
  transformer::Batch batch;
  EXPECT_EQ(contexts.fill(labels, {0, contexts.size()}, batch), 0.0);
  EXPECT_EQ(batch.contexts(), 0U);
  labels(5, 2) = 3.0;
  labels(5, 3) = 1.0;
  EXPECT_EQ(contexts.fill(labels, {0, contexts.size()}, batch), 4.0);
  ASSERT_EQ(batch.contexts(), 1U);
  ASSERT_EQ(batch.questions.size(), 2U);
  EXPECT_EQ(batch.questions[0].label, 2);
  EXPECT_EQ(batch.questions[0].weight, 0.75);
  const std::uint32_t row = batch.questions[0].row;
  EXPECT_EQ(batch.tokens[row], contexts.rows().last[5]);
  double positions = 0.0;
  for (const double log_count : batch.log_counts) positions += std::exp(log_count);
  EXPECT_NEAR(positions, 7.0, 7.0 * 0x1p-50);  // log 7 < 2 is rounded to 2⁻⁵²
}

}  // namespace
}  // namespace dewpoint::experiments
