// Sampled sequences against their addresses, against the chain they are drawn from, and on one
// thread against many.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/training/sequences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "support/test_seed.hpp"
#include "training/standard_chain.hpp"
#include "training/statistics.hpp"

namespace dewpoint::training {
namespace {

using test::freedman_bound;
using test::kStandardContext;
using test::standard_chain;

RunContext on_threads(int threads) { return {threads, {}, {}}; }

SequenceSet sample(const Chain& chain, std::size_t count, std::uint64_t replica) {
  return sample_sequences(chain, kStandardContext, count, dewpoint::test::seed(), replica,
                          on_threads(1));
}

// The next token, found by walking along the row.
std::uint8_t walk(std::span<const double> law, double u) {
  double passed = 0.0;
  for (std::size_t j = 0; j + 1 < law.size(); ++j) {
    passed += law[j];
    if (u < passed) return static_cast<std::uint8_t>(j);
  }
  return static_cast<std::uint8_t>(law.size() - 1);
}

// More of them than are drawn as one block.
TEST(Sequences, AreWhatTheirAddressesSay) {
  const std::vector<double> uniform(4, 0.25);
  for (const std::string& name : chain_names()) {
    const Chain chain = standard_chain(name);
    const SequenceSet set = sample_sequences(chain, 6, 5000, 11, 3, on_threads(1));
    const Stream stream(11, "training/sequences", 3);
    ASSERT_EQ(set.size(), 5000U);
    EXPECT_EQ(set.vocabulary, 4U);
    for (std::size_t i = 0; i < set.size(); ++i) {
      const std::span<const std::uint8_t> sequence = set.sequence(i);
      ASSERT_EQ(sequence.size(), 7U);
      EXPECT_EQ(sequence[0], walk(uniform, stream.uniform(7 * i)));
      for (std::size_t j = 1; j < 7; ++j) {
        EXPECT_EQ(sequence[j],
                  walk(chain.transition.row(sequence[j - 1]), stream.uniform(7 * i + j)));
      }
    }
  }
}

// Property (1) of sample_sequences, over three blocks and a part of a fourth.
TEST(Sequences, DoNotDependOnTheNumberOfThreads) {
  const Chain chain = standard_chain("cycle");
  const auto tokens = [&](int threads) {
    return sample_sequences(chain, 5, 13'001, 5, 0, on_threads(threads)).tokens;
  };
  const std::vector<std::uint8_t> one = tokens(1);
  for (const int threads : {0, 2, 3, 8}) EXPECT_EQ(tokens(threads), one) << threads;
}

// Property (2) of sample_sequences.
TEST(Sequences, OfALongerSetBeginWithThoseOfAShorterOne) {
  const Chain chain = standard_chain();
  const std::vector<std::uint8_t> longer = sample(chain, 5000, 0).tokens;
  const std::vector<std::uint8_t> shorter = sample(chain, 100, 0).tokens;
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Sequences, DifferBetweenSeedsAndReplicas) {
  const Chain chain = standard_chain();
  const auto tokens = [&](std::uint64_t seed, std::uint64_t replica) {
    return sample_sequences(chain, 19, 100, seed, replica, on_threads(1)).tokens;
  };
  EXPECT_NE(tokens(1, 0), tokens(2, 0));
  EXPECT_NE(tokens(1, 0), tokens(1, 1));
}

TEST(Sequences, BeginUniformly) {
  constexpr double count = 100'000, tokens = 4;
  const SequenceSet set = sample(standard_chain(), 100'000, 1);
  std::vector<double> found(4, 0.0);
  for (std::size_t i = 0; i < set.size(); ++i) ++found[set.sequence(i)[0]];
  const double variance = count * (1.0 / tokens) * (1.0 - 1.0 / tokens);
  for (const double n : found) EXPECT_NEAR(n, count / tokens, freedman_bound(variance));
}

// Among the n moves to b from a, those that go on to c are P_bc of them but for a sum of terms of
// mean 0 given the past, with n P_bc (1 − P_bc) for its variance. If the chain remembered more than
// its last token, some a would show it. Moves of probability 0 do not occur at all.
TEST(Sequences, FollowTheChainAndForgetWhatWasBeforeTheLastToken) {
  for (const std::string& name : chain_names()) {
    const Chain chain = standard_chain(name);
    const SequenceSet set = sample(chain, 100'000, 2);
    std::map<std::array<std::size_t, 3>, double> triples;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const std::span<const std::uint8_t> x = set.sequence(i);
      for (std::size_t j = 0; j + 2 < x.size(); ++j) ++triples[{x[j], x[j + 1], x[j + 2]}];
    }
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        double moves = 0.0;
        for (std::size_t c = 0; c < 4; ++c) moves += triples[{a, b, c}];
        for (std::size_t c = 0; c < 4; ++c) {
          const double p = chain.transition(b, c), found = triples[{a, b, c}];
          EXPECT_NEAR(found, p * moves, p > 0.0 ? freedman_bound(moves * p * (1.0 - p)) : 0.0)
              << name << ": " << a << b << c;
        }
      }
    }
  }
}

TEST(Sequences, UseEveryTokenOfTheLargestVocabulary) {
  const Chain chain = named_chain("lambda", std::vector<double>(kMostTokens, 1.0 / 255), 0.1);
  const SequenceSet set = sample(chain, 2000, 3);
  std::vector<double> found(kMostTokens, 0.0);
  for (const std::uint8_t token : set.tokens) {
    ASSERT_LT(token, kMostTokens);
    ++found[token];
  }
  // 40,000 tokens, 157 of each kind: that one is absent has probability below 1e-50.
  EXPECT_GT(*std::min_element(found.begin(), found.end()), 0.0);
}

TEST(Sequences, StopOnRequest) {
  std::stop_source source;
  source.request_stop();
  try {
    (void)sample_sequences(standard_chain(), 19, 10, 1, 0, {1, source.get_token(), {}});
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::stopped);
  }
}

}  // namespace
}  // namespace dewpoint::training
