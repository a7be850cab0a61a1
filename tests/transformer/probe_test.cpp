// Looks against the formulas they stand for, as a frame, and as bytes.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/transformer/probe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/leading_pair.hpp"
#include "support/test_seed.hpp"
#include "transformer/model_cases.hpp"

namespace dewpoint::transformer {
namespace {

using namespace dewpoint::transformer::test;  // NOLINT(google-build-using-namespace)
using Bytes = std::vector<std::byte>;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

Shape shape_of(std::size_t layers, std::size_t heads) {
  Shape shape;
  shape.vocabulary = 12;
  shape.width = 8;
  shape.layers = layers;
  shape.heads = heads;
  return shape;
}

Probe some_probe() { return {{0, 2, 1, 7, 9, 5}, {0, 7, 9}, {3, 1, 3, 0, 1, 3}}; }

Matrix<double> absolute(const Matrix<double>& matrix) {
  Matrix<double> result = matrix;
  for (std::size_t e = 0; e < result.size(); ++e) result.data()[e] = std::abs(result.data()[e]);
  return result;
}

/// Φ_ij = W0_i WQ (W0_j WK)ᵀ among these tokens.
Matrix<double> scores_among(const std::vector<std::int32_t>& tokens,
                            const Matrix<double>& embedding, const Matrix<double>& query,
                            const Matrix<double>& key) {
  Matrix<double> states(tokens.size(), embedding.cols());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::ranges::copy(embedding.row(static_cast<std::size_t>(tokens[i])), states.row(i).begin());
  }
  const Matrix<double> queries = training::plain_product(states, query);
  const Matrix<double> keys = training::plain_product(states, key);
  Matrix<double> scores(tokens.size(), tokens.size());
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    for (std::size_t j = 0; j < scores.cols(); ++j) {
      for (std::size_t k = 0; k < keys.cols(); ++k) scores(i, j) += queries(i, k) * keys(j, k);
    }
  }
  return scores;
}

// ---- attention ----------------------------------------------------------------------------------

// A score is three sums of m products, one within the other: its error is at most 3 m ε/2 times the
// score of the absolute values, B, here and in the network. A weight of softmax moves by no more
// than the largest change of a score difference, 2 · 2 · 3 m ε/2 B, and is exponentiated and
// divided with a few roundings more.
TEST(LookAt, AttentionOfOneLayerIsSoftmaxOfPhi) {
  const Shape shape = shape_of(1, 1);
  const Weights<double> weights = some_weights(shape, 3);
  const Probe probe = some_probe();
  const Look look = look_at(17.0, shape, weights, probe);
  ASSERT_EQ(look.attention.size(), 1U);
  const LayerWeights<double>& layer = weights.layers[0];
  Matrix<double> expected = scores_among(probe.tokens, weights.embedding, layer.query, layer.key);
  const Matrix<double> sizes = scores_among(probe.tokens, absolute(weights.embedding),
                                            absolute(layer.query), absolute(layer.key));
  const double tolerance =
      (6.0 * static_cast<double>(shape.width) * dewpoint::test::largest(sizes) + 16.0) * kEpsilon;
  for (std::size_t i = 0; i < expected.rows(); ++i) {
    training::take_plain_softmax<double>(expected.row(i));
  }
  EXPECT_LT(dewpoint::test::largest_difference(look.attention[0], expected), tolerance);
  EXPECT_EQ(look.step, 17.0);
}

// Scores of a few units out of some hundred roundings each, through three layers: errors of a few
// hundred ε, and 1e-12 is 4500 of them. Maps of different heads differ by far more.
TEST(LookAt, AttentionIsThatOfEveryHeadOfEveryLayerInTheirOrder) {
  for (const bool causal : {false, true}) {
    Shape shape = shape_of(3, 2);
    shape.residual = true;
    shape.causal = causal;
    const Weights<double> weights = some_weights(shape, 4);
    const Probe probe = some_probe();
    const Look look = look_at(0.0, shape, weights, probe);
    const auto expected = reference_pass<double>(shape, weights, probe.tokens).attention;
    ASSERT_EQ(look.attention.size(), 6U);
    for (std::size_t n = 0; n < 6; ++n) {
      EXPECT_LT(dewpoint::test::largest_difference(look.attention[n], expected[n / 2][n % 2]),
                1e-12)
          << n;
      EXPECT_GT(dewpoint::test::largest_difference(look.attention[n],
                                                   expected[(n + 1) % 6 / 2][(n + 1) % 2]),
                1e-6)
          << n;
      for (std::size_t i = 0; i < 6; ++i) {  // Property (1): six roundings of numbers below 1
        double sum = 0.0;
        for (const double a : look.attention[n].row(i)) sum += a;
        EXPECT_NEAR(sum, 1.0, 16.0 * kEpsilon);
      }
    }
  }
}

// Without weights attention is even, so that shares are counts.
TEST(LookAt, SelfAttentionCountsEveryPositionOfTheSameToken) {
  Shape shape = shape_of(2, 2);
  const Probe probe{{0, 1}, {}, {3, 1, 3, 0}};
  const auto shares = [&] {
    return look_at(0.0, shape, Weights<float>(shape), probe).self_attention;
  };
  const auto expect_shares = [&](const std::vector<double>& expected) {
    ASSERT_EQ(shares().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // Weights of single precision: a division and a sum of two.
      EXPECT_NEAR(shares()[i], expected[i], 4.0 * std::numeric_limits<float>::epsilon()) << i;
    }
  };
  expect_shares({2.0 / 4.0, 1.0 / 4.0, 2.0 / 4.0, 1.0 / 4.0});
  shape.causal = true;
  expect_shares({1.0, 1.0 / 2.0, 2.0 / 3.0, 1.0 / 4.0});
}

TEST(LookAt, SelfAttentionIsTheMeanOverLayersAndHeads) {
  const Shape shape = shape_of(2, 2);
  const Weights<double> weights = some_weights(shape, 5);
  const Probe probe = some_probe();
  const Look look = look_at(0.0, shape, weights, probe);
  const auto maps = reference_pass<double>(shape, weights, probe.sentence).attention;
  for (std::size_t i = 0; i < probe.sentence.size(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < probe.sentence.size(); ++j) {
      if (probe.sentence[j] != probe.sentence[i]) continue;
      for (const auto& layer : maps) sum += layer[0](i, j) + layer[1](i, j);
    }
    EXPECT_NEAR(look.self_attention[i], sum / 4.0, 1e-12) << i;
  }
}

TEST(Focus, IsTheMeanOverTheSecondHalfOfTheList) {
  Look look;
  for (const double shift : {0.0, 0.125}) {  // maps of five tokens: 3 and 4 are of medium frequency
    Matrix<double> map(5, 5);
    for (std::size_t e = 0; e < map.size(); ++e) map.data()[e] = shift + static_cast<double>(e);
    look.attention.push_back(map);
  }
  EXPECT_EQ(focus_of(look), (15.0 + 20.0 + 15.125 + 20.125) / 4.0);
  EXPECT_EQ(self_share_of(look), (18.0 + 24.0 + 18.125 + 24.125) / 4.0);
  static_assert(first_medium(6) == 3 && first_medium(7) == 4 && first_medium(2) == 1);
}

// ---- norms and sizes ----------------------------------------------------------------------------

// Sums of n squares in double, then a root: n/2 + 1 roundings.
TEST(LookAt, NormsAndSizesAreRootsOfSumsOfSquares) {
  const Shape shape = shape_of(2, 1);
  const Weights<double> weights = some_weights(shape, 6);
  const Look look = look_at(0.0, shape, weights, some_probe());
  const auto size = [](const auto& numbers) {
    long double sum = 0.0L;
    for (const double x : numbers) sum += static_cast<long double>(x) * x;
    return static_cast<double>(std::sqrt(sum));
  };
  const auto whole = [&](const Matrix<double>& m) { return size(std::span(m.data(), m.size())); };
  const auto expect_size = [](double found, double expected) {
    EXPECT_NEAR(found, expected, 64.0 * kEpsilon * expected);
  };
  ASSERT_EQ(look.norms.size(), 3U);
  expect_size(look.norms[0], size(weights.embedding.row(0)));
  expect_size(look.norms[1], size(weights.embedding.row(7)));
  expect_size(look.norms[2], size(weights.embedding.row(9)));
  expect_size(look.embedding_size, whole(weights.embedding));
  expect_size(look.unembedding_size, whole(weights.unembedding));
  double squares = std::pow(look.embedding_size, 2) + std::pow(look.unembedding_size, 2);
  for (std::size_t l = 0; l < 2; ++l) {
    expect_size(look.query_size[l], whole(weights.layers[l].query));
    expect_size(look.key_size[l], whole(weights.layers[l].key));
    squares += std::pow(look.query_size[l], 2) + std::pow(look.key_size[l], 2);
  }
  EXPECT_NEAR(size_of(weights), std::sqrt(squares), 256.0 * kEpsilon * std::sqrt(squares));
  EXPECT_TRUE(std::isnan(look.loss) && std::isnan(look.validation_loss) &&
              std::isnan(look.gradient_size));
}

// W0 = 3 a bᵀ + 2 c dᵀ with a ⊥ c, b ⊥ d of length 1, entries ±1/√n: singular values 3 and 2. More
// rows than one strip, and widths below and above what is decomposed as a whole.
TEST(LookAt, TheRankOneShareIsThatOfTheSingularValues) {
  for (const std::size_t width : {8U, 96U}) {
    Shape shape = shape_of(1, 1);
    shape.vocabulary = 700;
    shape.width = width;
    Weights<double> weights(shape);
    const double unit = 1.0 / std::sqrt(700.0 * static_cast<double>(width));
    for (std::size_t i = 0; i < 700; ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        const double second = i % 2 == k % 2 ? 2.0 : -2.0;
        weights.embedding(i, k) = unit * (3.0 + second);
      }
    }
    const Look look = look_at(0.0, shape, weights, {{0, 1}, {}, {}});
    // The trace is a sum of 700 times `width` squares; the eigenvalue has a bound of its own.
    EXPECT_NEAR(look.rank_one, 9.0 / 13.0, training::kLeadingValueError + 1e5 * kEpsilon);
  }
}

TEST(LookAt, AMatrixOfZerosHasNoDirectionAndOneThatIsNotFiniteNone) {  // Property (3)
  const Shape shape = shape_of(1, 1);
  Weights<float> weights(shape);
  EXPECT_EQ(look_at(0.0, shape, weights, some_probe()).rank_one, 0.0);
  weights.embedding(11, 3) = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(look_at(0.0, shape, weights, some_probe()).rank_one));
}

TEST(LookAt, ThreadsChangeNoByte) {  // Property (2)
  const Shape shape = shape_of(2, 4);
  const auto weights = converted<float>(shape, some_weights(shape, 7));
  const auto bytes = [&](int threads) {
    return to_bytes(std::vector{look_at(3.0, shape, weights, some_probe(), {threads, {}, {}})});
  };
  EXPECT_EQ(bytes(1), bytes(2));
  EXPECT_EQ(bytes(1), bytes(5));
}

// ---- frame --------------------------------------------------------------------------------------

// Different numbers in every field.
Look some_look(double step) {
  Look look;
  look.step = step;
  double next = step;
  const auto number = [&] { return next += 0.5; };
  for (auto* field : {&look.loss, &look.validation_loss, &look.rank_one, &look.embedding_size,
                      &look.unembedding_size, &look.gradient_size}) {
    *field = number();
  }
  for (int map = 0; map < 4; ++map) {
    look.attention.emplace_back(3, 3);
    for (std::size_t e = 0; e < 9; ++e) look.attention.back().data()[e] = number();
  }
  look.norms = {number(), number()};
  look.query_size = {number(), number()};
  look.key_size = {number(), number()};
  look.self_attention = {number(), number(), number(), number()};
  return look;
}

double cell(const Frame& frame, const char* name, const std::vector<std::size_t>& place) {
  const Variable& variable = frame.variable(name);
  return variable.cells[frame.cell_index(variable, place)].mean;
}

TEST(LooksFrame, HasEveryFieldOverItsDimensions) {
  const std::vector<Look> looks = {some_look(0.0), some_look(50.0), some_look(100.0)};
  const Frame frame = looks_frame(looks, shape_of(2, 2), {"the", "dog", "cat"}, {"dog", "cat"},
                                  {"The", "dog", "barks", "."});
  EXPECT_EQ(frame.name(), "text run");
  EXPECT_EQ(frame.dimension("step").coordinates, (std::vector<double>{0.0, 50.0, 100.0}));
  EXPECT_EQ(frame.dimension("layer").coordinates.size(), 2U);
  EXPECT_EQ(frame.dimension("head").coordinates.size(), 2U);
  EXPECT_EQ(frame.dimension("query").labels, frame.dimension("key").labels);
  EXPECT_EQ(frame.dimension("token").labels, (std::vector<std::string>{"dog", "cat"}));
  EXPECT_EQ(frame.dimension("position").labels,
            (std::vector<std::string>{"0 The", "1 dog", "2 barks", "3 ."}));
  for (std::size_t t = 0; t < 3; ++t) {
    const Look& look = looks[t];
    EXPECT_EQ(cell(frame, "loss", {t}), look.loss);
    EXPECT_EQ(cell(frame, "validation_loss", {t}), look.validation_loss);
    EXPECT_EQ(cell(frame, "rank_one", {t}), look.rank_one);
    EXPECT_EQ(cell(frame, "embedding_size", {t}), look.embedding_size);
    EXPECT_EQ(cell(frame, "unembedding_size", {t}), look.unembedding_size);
    EXPECT_EQ(cell(frame, "gradient_size", {t}), look.gradient_size);
    EXPECT_EQ(cell(frame, "attention", {t, 1, 0, 2, 1}), look.attention[2](2, 1));
    EXPECT_EQ(cell(frame, "norms", {t, 1}), look.norms[1]);
    EXPECT_EQ(cell(frame, "query_size", {t, 1}), look.query_size[1]);
    EXPECT_EQ(cell(frame, "key_size", {t, 0}), look.key_size[0]);
    EXPECT_EQ(cell(frame, "self_attention", {t, 3}), look.self_attention[3]);
    EXPECT_EQ(cell(frame, "focus", {t}), focus_of(look));
    EXPECT_EQ(cell(frame, "self_share", {t}), self_share_of(look));
  }
}

TEST(LooksFrame, WhatWasNotMeasuredHasNoSamples) {
  std::vector<Look> looks = {some_look(0.0)};
  looks[0].validation_loss = kUnknown;
  looks[0].self_attention.clear();
  const Frame frame = looks_frame(looks, shape_of(2, 2), {"the", "dog", "cat"}, {"dog", "cat"}, {});
  EXPECT_EQ(frame.variable("validation_loss").cells[0].samples, 0U);
  EXPECT_EQ(frame.variable("loss").cells[0].samples, 1U);
  EXPECT_EQ(frame.find_variable("self_attention"), nullptr);
}

// ---- bytes --------------------------------------------------------------------------------------

void expect_refused(const Bytes& bytes, const std::string& what) {
  try {
    static_cast<void>(looks_from(bytes));
    ADD_FAILURE() << what << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::malformed_file) << what;
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << what;
  }
}

TEST(LookBytes, GiveEveryFieldBack) {
  const std::vector<Look> looks = {some_look(0.0), some_look(50.0)};
  const std::vector<Look> found = looks_from(to_bytes(looks));
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t) {
    const Look &a = looks[t], &b = found[t];
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.validation_loss, b.validation_loss);
    EXPECT_EQ(a.rank_one, b.rank_one);
    EXPECT_EQ(a.embedding_size, b.embedding_size);
    EXPECT_EQ(a.unembedding_size, b.unembedding_size);
    EXPECT_EQ(a.gradient_size, b.gradient_size);
    EXPECT_EQ(a.norms, b.norms);
    EXPECT_EQ(a.query_size, b.query_size);
    EXPECT_EQ(a.key_size, b.key_size);
    EXPECT_EQ(a.self_attention, b.self_attention);
    ASSERT_EQ(b.attention.size(), 4U);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_EQ(dewpoint::test::largest_difference(a.attention[n], b.attention[n]), 0.0);
    }
  }
}

TEST(LookBytes, AreTheSameAfterAWayThere) {
  Look look = some_look(50.0);
  look.validation_loss = kUnknown;
  look.self_attention.clear();
  const Bytes bytes = to_bytes(std::vector<Look>{look});
  EXPECT_EQ(to_bytes(looks_from(bytes)), bytes);
  EXPECT_TRUE(looks_from(to_bytes(std::vector<Look>{})).empty());
}

TEST(LookBytes, AreRefusedWhenDamaged) {
  const Bytes bytes = to_bytes(std::vector<Look>{some_look(0.0), some_look(1.0)});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    expect_refused({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                   std::to_string(size) + " bytes");
  }
  Bytes more = bytes;
  more.push_back(std::byte{0});
  expect_refused(more, "one byte more");
  for (std::size_t bit = 0; bit < 64 * 8; ++bit) {  // mark, version and sizes
    Bytes damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    expect_refused(damaged, "bit " + std::to_string(bit));
  }
}

TEST(LookBytes, MapsWithoutEntriesAreRefused) {
  Look look = some_look(0.0);
  look.attention.assign(3, Matrix<double>(0, 0));
  expect_refused(to_bytes(std::vector<Look>{look}), "three maps of side 0");
}

TEST(LookBytes, SizesWithoutLooksAreRefused) {
  Bytes bytes = to_bytes(std::vector<Look>{});
  bytes[24] = std::byte{1};  // one map
  expect_refused(bytes, "a map of no look");
}

}  // namespace
}  // namespace dewpoint::transformer
