#include "dewpoint/training/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "support/dense_algebra.hpp"
#include "support/matrices.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::training {
namespace {

using dewpoint::test::in_long_double;
using dewpoint::test::jacobi_eigenvalues;
using dewpoint::test::normal_matrix;
using dewpoint::test::orthonormal_columns;
using dewpoint::test::times;
using dewpoint::test::transposed;
using test::standard_chain;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kTokens = 4, kWidth = 24;

Matrix<double> scaled(Matrix<double> matrix, double factor) {
  for (std::size_t k = 0; k < matrix.size(); ++k) matrix.data()[k] *= factor;
  return matrix;
}

Parameters<double> random_parameters(const std::string& name, std::size_t width = kWidth) {
  Parameters<double> parameters;
  parameters.embedding = scaled(normal_matrix(kTokens, width, name + "/W0"), 0.4);
  parameters.unembedding = scaled(normal_matrix(width, kTokens, name + "/W1"), 0.5);
  parameters.query = scaled(normal_matrix(width, width, name + "/WQ"), 0.3);
  parameters.key = scaled(normal_matrix(width, width, name + "/WK"), 0.3);
  return parameters;
}

Record record_at(const Parameters<double>& parameters) {
  const Chain chain = standard_chain();
  const auto loss = population_loss(chain, {});
  return record_of(3.0, parameters, *loss, chain.stationary);
}

// Φ in extended precision by its defining sum, and the same sum of moduli.
struct Score {
  long double value = 0.0L, moduli = 0.0L;
};
Score plain_score(const Parameters<double>& p, std::size_t q, std::size_t j) {
  Score score;
  for (std::size_t a = 0; a < p.width(); ++a) {
    Score query, key;
    for (std::size_t b = 0; b < p.width(); ++b) {
      const long double left = static_cast<long double>(p.embedding(q, b)) * p.query(b, a);
      const long double right = static_cast<long double>(p.embedding(j, b)) * p.key(b, a);
      query.value += left;
      query.moduli += std::abs(left);
      key.value += right;
      key.moduli += std::abs(right);
    }
    score.value += query.value * key.value;
    score.moduli += query.moduli * key.moduli;
  }
  return score;
}

// A score is a sum of m products of two sums of m: (3m + 1) roundings at most of the sum of moduli.
// Two scores enter a weight, and exp, prior, sum of d and quotient add a dozen roundings.
double score_error(const Parameters<double>& p, std::size_t q) {
  long double largest = 0.0L;
  for (std::size_t j = 0; j < kTokens; ++j) {
    largest = std::max(largest, plain_score(p, q, j).moduli);
  }
  return static_cast<double>(largest) * 3.0 * static_cast<double>(kWidth + 1) * kEpsilon;
}

TEST(RecordOf, HasBothAttentionMapsAndTheirEntropies) {
  const Parameters<double> p = random_parameters("RecordOf/attention");
  const Record record = record_at(p);
  EXPECT_EQ(record.time, 3.0);
  for (std::size_t q = 0; q < kTokens; ++q) {
    long double plain[kTokens], weighted[kTokens], sum = 0.0L, weighted_sum = 0.0L;
    for (std::size_t j = 0; j < kTokens; ++j) {
      sum += plain[j] = std::exp(plain_score(p, q, j).value);
      weighted_sum += weighted[j] = plain[j] * static_cast<long double>(test::kStandardLaw[j]);
    }
    const double tolerance = 2.0 * score_error(p, q) + 16.0 * kEpsilon;
    double entropy = 0.0, weighted_entropy = 0.0;
    for (std::size_t j = 0; j < kTokens; ++j) {
      const auto a = static_cast<double>(plain[j] / sum);
      const auto b = static_cast<double>(weighted[j] / weighted_sum);
      EXPECT_NEAR(record.attention(q, j), a, a * tolerance);
      EXPECT_NEAR(record.weighted_attention(q, j), b, b * tolerance);
      entropy -= a * std::log(a);
      weighted_entropy -= b * std::log(b);
    }
    // d(−p log p) = −(1 + log p) dp, and p (1 + |log p|) ≤ 1 for each of the d weights.
    EXPECT_NEAR(record.entropy[q], entropy, kTokens * tolerance);
    EXPECT_NEAR(record.weighted_entropy[q], weighted_entropy, kTokens * tolerance);
  }
}

TEST(RecordOf, KeepsAttentionAndEntropyWhereScoresAreHuge) {
  Parameters<double> p = random_parameters("RecordOf/huge");
  p.query = scaled(p.query, 1e6);
  const Record record = record_at(p);
  for (std::size_t q = 0; q < kTokens; ++q) {  // property (1)
    double sum = 0.0;
    for (const double weight : record.attention.row(q)) sum += weight;
    EXPECT_NEAR(sum, 1.0, kTokens * kEpsilon);
    EXPECT_GE(record.entropy[q], 0.0);
    EXPECT_LE(record.weighted_entropy[q], std::log(4.0) + 8.0 * kEpsilon);
  }
}

TEST(RecordOf, HasTheLossOfTheDataAndOfItsGroups) {
  const Parameters<double> p = random_parameters("RecordOf/loss");
  const Chain chain = standard_chain();
  const auto loss = population_loss(chain, {});
  const Record record = record_of(0.0, p, *loss, chain.stationary);
  const TokenMaps maps = token_maps(p);
  TokenMaps slope(kTokens);
  // Both are sums of d² terms of order 1.
  EXPECT_NEAR(record.loss, loss->slope(0, maps, slope), 64.0 * kEpsilon);
  EXPECT_EQ(record.group_loss, loss->group_losses(maps));
  EXPECT_TRUE(std::isnan(record.conserved_drift));
}

TEST(RecordOf, SplitsEmbeddingsAlongTokenZero) {
  const Parameters<double> p = random_parameters("RecordOf/split");
  const Record record = record_at(p);
  const auto dot = [&](std::size_t i, std::size_t j) {
    long double sum = 0.0L;
    for (std::size_t k = 0; k < kWidth; ++k) {
      sum += static_cast<long double>(p.embedding(i, k)) * p.embedding(j, k);
    }
    return sum;
  };
  for (std::size_t i = 0; i < kTokens; ++i) {
    const auto norm = static_cast<double>(std::sqrt(dot(i, i)));
    const auto along = static_cast<double>(dot(i, 0) / std::sqrt(dot(0, 0)));
    const double tolerance = (kWidth + 4) * kEpsilon * norm;  // m products and a few more roundings
    EXPECT_NEAR(record.embedding_norm[i], norm, tolerance);
    EXPECT_NEAR(record.parallel[i], along, tolerance);
    // Property (2). The smallest perpendicular part here is a third of the norm.
    EXPECT_NEAR(std::hypot(record.parallel[i], record.perpendicular[i]), norm, 2.0 * tolerance);
  }
  EXPECT_EQ(record.perpendicular[0], 0.0);
}

// W0_1 = −2 W0_0 plus 1e-12 across: a difference of squares would lose it.
TEST(RecordOf, KeepsSmallPerpendicularParts) {
  Parameters<double> p(2, 3);
  p.embedding(0, 0) = 1.0;
  p.embedding(1, 0) = -2.0;
  p.embedding(1, 1) = 1e-12;
  const Chain chain = named_chain("lambda", {0.6, 0.4}, 0.5);
  const Record record = record_of(0.0, p, *population_loss(chain, {}), chain.stationary);
  EXPECT_EQ(record.parallel[1], -2.0);
  EXPECT_DOUBLE_EQ(record.perpendicular[1], 1e-12);
}

TEST(RecordOf, PutsEverythingAcrossATokenZeroWithoutDirection) {
  Parameters<double> p = random_parameters("RecordOf/no direction");
  for (double& entry : p.embedding.row(0)) entry = 0.0;
  const Record record = record_at(p);
  EXPECT_EQ(record.parallel, std::vector<double>(kTokens, 0.0));
  EXPECT_EQ(record.perpendicular, record.embedding_norm);
}

// ---- singular values --------------------------------------------------------------------------

TEST(RecordOf, HasTheRootsOfTheEigenvaluesOfGramAsSingularValues) {
  for (const std::size_t width : {std::size_t{4}, kWidth, std::size_t{256}}) {
    const Parameters<double> p = random_parameters("RecordOf/singular values", width);
    const Record record = record_at(p);
    const Matrix<long double> rows = in_long_double(p.embedding);
    const auto squares = jacobi_eigenvalues(times(rows, transposed(rows)));
    const auto largest = static_cast<double>(std::sqrt(squares.back()));
    for (std::size_t k = 0; k < kTokens; ++k) {
      EXPECT_NEAR(record.embedding_singular_values[k],
                  static_cast<double>(std::sqrt(squares[kTokens - 1 - k])),
                  kSingularValueRoundings * kEpsilon * largest);
    }
    const auto sum = std::accumulate(squares.begin(), squares.end(), 0.0L);
    const double share = largest * largest / static_cast<double>(sum);
    EXPECT_NEAR(record.embedding_rank_one, share, 8.0 * kSingularValueRoundings * kEpsilon * share);
  }
}

// W1 = Q diag(1, 1e-4, 1e-8, 1e-12): the last two are lost in a Gram matrix of doubles.
TEST(RecordOf, ResolvesSmallSingularValues) {
  Parameters<double> p = random_parameters("RecordOf/small");
  const Matrix<long double> basis = orthonormal_columns(in_long_double(p.unembedding));
  const double planted[] = {1.0, 1e-4, 1e-8, 1e-12};
  for (std::size_t i = 0; i < kWidth; ++i) {
    for (std::size_t k = 0; k < kTokens; ++k) {
      p.unembedding(i, k) = static_cast<double>(basis(i, k) * static_cast<long double>(planted[k]));
    }
  }
  const Record record = record_at(p);
  for (std::size_t k = 0; k < kTokens; ++k) {
    EXPECT_NEAR(record.unembedding_singular_values[k], planted[k],
                kSingularValueRoundings * kEpsilon);
  }
  EXPECT_NEAR(record.unembedding_rank_one, 1.0 - 1e-8, 1e-15);
}

TEST(RecordOf, HasSizesThatAgreeWithTheSingularValues) {
  const Parameters<double> p = random_parameters("RecordOf/sizes");
  const Record record = record_at(p);
  const auto length = [](const std::vector<double>& values) {
    return std::hypot(std::hypot(values[0], values[1]), std::hypot(values[2], values[3]));
  };
  const double tolerance = 2.0 * kSingularValueRoundings * kEpsilon;  // property (3)
  EXPECT_NEAR(record.embedding_size / length(record.embedding_singular_values), 1.0, tolerance);
  EXPECT_NEAR(record.unembedding_size / length(record.unembedding_singular_values), 1.0, tolerance);
  // Sums of m² squares: relative error below m² ε/2.
  const double roundings = kWidth * kWidth * kEpsilon;
  EXPECT_NEAR(record.query_size, std::sqrt(dewpoint::test::inner(p.query, p.query)),
              roundings * record.query_size);
  EXPECT_NEAR(record.key_size, std::sqrt(dewpoint::test::inner(p.key, p.key)),
              roundings * record.key_size);
}

TEST(RecordOf, FillsUpWithZerosWhereTheWidthIsSmallerThanTheVocabulary) {
  const Record record = record_at(random_parameters("RecordOf/narrow", 2));
  ASSERT_EQ(record.embedding_singular_values.size(), kTokens);
  EXPECT_GT(record.embedding_singular_values[1], 0.0);
  EXPECT_EQ(record.embedding_singular_values[2], 0.0);
  EXPECT_EQ(record.unembedding_singular_values[3], 0.0);
}

TEST(RecordOf, GivesWeightsOfZeroNoRankOneFraction) {
  const Record record = record_at(Parameters<double>(kTokens, kWidth));
  EXPECT_EQ(record.embedding_rank_one, 0.0);
  EXPECT_EQ(record.embedding_size, 0.0);
  EXPECT_DOUBLE_EQ(record.entropy[0], std::log(4.0));
}

TEST(RecordOf, SaysWithNaNThatWeightsAreNotFinite) {
  Parameters<double> p = random_parameters("RecordOf/not finite");
  p.embedding(1, 2) = std::numeric_limits<double>::infinity();
  const Record record = record_at(p);
  EXPECT_TRUE(std::isnan(record.embedding_singular_values[0]));
  EXPECT_TRUE(std::isnan(record.embedding_rank_one));
}

}  // namespace
}  // namespace dewpoint::training
