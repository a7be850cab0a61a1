// Rows of histograms against plain counting, against the enumeration of all sequences, against
// closed forms of a chain that starts uniformly, and sampled against exact.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/training/histograms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/training/histogram_index.hpp"
#include "support/test_seed.hpp"
#include "training/standard_chain.hpp"
#include "training/statistics.hpp"

namespace dewpoint::training {
namespace {

using dewpoint::test::kSigmas;
using dewpoint::test::outcome;
using dewpoint::test::Outcome;
using test::freedman_bound;
using test::kStandardContext;
using test::kStandardLaw;
using test::kStandardPersistence;
using test::moved;
using test::standard_chain;
using Law = std::vector<double>;

constexpr double kRounding = 0x1p-53;

// l, n_0, n_1, ... and y_0, y_1, ...: a plain picture of rows.
using Key = std::vector<std::size_t>;
using Picture = std::map<Key, Law>;

Key key_of(const HistogramRows& rows, std::size_t row) {
  Key key{rows.last[row]};
  for (const double n : rows.counts.row(row)) key.push_back(static_cast<std::size_t>(n));
  return key;
}

Picture picture(const HistogramRows& rows) {
  Picture result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result[key_of(rows, i)] = Law(rows.labels.row(i).begin(), rows.labels.row(i).end());
  }
  return result;
}

void add(Picture& picture, std::span<const std::uint8_t> sequence, std::size_t d, double weight) {
  Key key(d + 1, 0);
  key[0] = sequence[sequence.size() - 2];
  for (std::size_t j = 0; j + 1 < sequence.size(); ++j) ++key[1 + sequence[j]];
  Law& labels = picture.try_emplace(key, d, 0.0).first->second;
  labels[sequence.back()] += weight;
}

// Shapes fit, rows are sorted and different, histograms are of `context` tokens with the last one.
void expect_well_formed(const HistogramRows& rows) {
  ASSERT_EQ(rows.counts.rows(), rows.size());
  ASSERT_EQ(rows.labels.rows(), rows.size());
  ASSERT_EQ(rows.counts.cols(), rows.vocabulary);
  ASSERT_EQ(rows.labels.cols(), rows.vocabulary);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const double> counts = rows.counts.row(i);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0),
              static_cast<double>(rows.context));
    EXPECT_GE(counts[rows.last[i]], 1.0);
    if (i > 0) {
      EXPECT_LT(key_of(rows, i - 1), key_of(rows, i));
    }
  }
}

// Sums over rows are taken in extended precision, so that they err as their terms do.
using Wide = long double;

Wide weight_of(const HistogramRows& rows, std::size_t row) {
  const std::span<const double> labels = rows.labels.row(row);
  return std::accumulate(labels.begin(), labels.end(), Wide{0});
}

// Σ of the weights of the rows with this last token times term(row).
template <class Term>
double sum_over(const HistogramRows& rows, std::size_t last, Term term) {
  Wide sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.last[i] == last) sum += weight_of(rows, i) * static_cast<Wide>(term(i));
  }
  return static_cast<double>(sum);
}

Law last_token_law(const HistogramRows& rows) {
  Law law;
  for (std::size_t l = 0; l < rows.vocabulary; ++l) {
    law.push_back(sum_over(rows, l, [](std::size_t) { return 1.0; }));
  }
  return law;
}

double total_weight(const HistogramRows& rows) {
  const Law law = last_token_law(rows);
  return std::accumulate(law.begin(), law.end(), 0.0);
}

Law mean_histogram(const HistogramRows& rows) {
  Law mean(rows.vocabulary, 0.0);
  for (std::size_t j = 0; j < mean.size(); ++j) {
    for (std::size_t l = 0; l < rows.vocabulary; ++l) {
      mean[j] += sum_over(rows, l, [&](std::size_t i) { return rows.counts(i, j); });
    }
    mean[j] /= static_cast<double>(rows.context);
  }
  return mean;
}

SequenceSet sample(const Chain& chain, std::size_t context, std::size_t count,
                   std::uint64_t replica) {
  return sample_sequences(chain, context, count, dewpoint::test::seed(), replica, {1, {}, {}});
}

// --- sequences -----------------------------------------------------------------------------------

TEST(CollapsedSequences, ShareTheRowOfTheirLastTokenAndCounts) {
  SequenceSet set{3, 3, {}};
  set.tokens = {0, 1, 2, 0,  // last 2, counts 1 1 1
                1, 0, 2, 2,  // the same row, another label
                2, 1, 0, 0,  // the same counts, another last token
                1, 0, 2, 2,  // once more
                0, 0, 0, 1};
  const HistogramRows rows = collapse(set);
  expect_well_formed(rows);
  EXPECT_EQ(rows.weight, 5.0);
  EXPECT_EQ(rows.context, 3U);
  EXPECT_EQ(
      picture(rows),
      (Picture{{{0, 1, 1, 1}, {1, 0, 0}}, {{0, 3, 0, 0}, {0, 1, 0}}, {{2, 1, 1, 1}, {1, 0, 2}}}));
}

// One set has contexts of one token, one counts beyond 255, one the largest vocabulary.
TEST(CollapsedSequences, AreCountedAsAPlainMapCountsThem) {
  const auto expect = [](const Chain& chain, std::size_t context, std::size_t count) {
    const SequenceSet set = sample(chain, context, count, 0);
    Picture counted;
    for (std::size_t i = 0; i < set.size(); ++i) {
      add(counted, set.sequence(i), chain.vocabulary(), 1.0);
    }
    const HistogramRows rows = collapse(set);
    expect_well_formed(rows);
    EXPECT_EQ(picture(rows), counted);
    EXPECT_EQ(rows.weight, static_cast<double>(count));
    EXPECT_EQ(total_weight(rows), rows.weight);
  };
  for (const std::string& name : chain_names()) expect(standard_chain(name), 19, 20'000);
  expect(standard_chain(), 1, 1000);
  expect(named_chain("lambda", {0.9, 0.1}, 0.5), 400, 3000);
  expect(named_chain("lambda", Law(kMostTokens, 1.0 / 255), 0.5), 8, 300);
}

// --- numbers of histograms -----------------------------------------------------------------------

TEST(Binomial, IsPascalsTriangleAndBeyond) {
  Law row{1.0};
  for (int n = 1; n <= 50; ++n) {
    Law next(row.size() + 1, 1.0);
    for (std::size_t k = 1; k < row.size(); ++k) next[k] = row[k - 1] + row[k];
    row = next;
    for (std::size_t k = 0; k < row.size(); ++k) {
      EXPECT_EQ(binomial(n, static_cast<double>(k)), row[k]) << n << " " << k;
    }
  }
  EXPECT_EQ(binomial(1e6, 1), 1e6);
  EXPECT_EQ(binomial(1e6, 2), 499999500000.0);
  EXPECT_TRUE(std::isinf(binomial(1e9, 254)));
}

// Properties (1) to (3) of histogram_index.hpp, over all histograms of up to seven tokens.
TEST(HistogramIndex, NumbersHistogramsInOrderAndFindsTheNextOnes) {
  for (const std::size_t d : {2U, 3U, 5U}) {
    const HistogramIndex index(d, 7);
    std::map<Law, std::size_t> shorter;
    for (std::size_t t = 1; t <= 7; ++t) {
      std::map<Law, std::size_t> numbers;
      for (std::size_t rank = 0; rank < index.size(t); ++rank) {
        Law counts(d);
        index.counts(rank, t, counts);
        EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), static_cast<double>(t));
        EXPECT_GE(*std::min_element(counts.begin(), counts.end()), 0.0);
        numbers[counts] = rank;
      }
      EXPECT_EQ(static_cast<double>(numbers.size()),
                binomial(static_cast<double>(t + d - 1), static_cast<double>(d - 1)));
      std::size_t expected = numbers.size();
      for (const auto& [counts, rank] : numbers) EXPECT_EQ(rank, --expected);
      for (const auto& [counts, rank] : shorter) {
        for (std::size_t j = 0; j < d; ++j) {
          Law more = counts;
          ++more[j];
          EXPECT_EQ(index.with_one_more(rank, j), numbers.at(more));
        }
      }
      shorter = numbers;
    }
  }
}

// --- the exact law -------------------------------------------------------------------------------

// All d^{s+1} sequences with their probabilities.
Picture enumerated(const Chain& chain, std::size_t context) {
  const std::size_t d = chain.vocabulary();
  Picture result;
  std::vector<std::uint8_t> sequence(context + 1, 0);
  for (;;) {
    double probability = 1.0 / static_cast<double>(d);
    for (std::size_t j = 0; j < context; ++j) {
      probability *= chain.transition(sequence[j], sequence[j + 1]);
    }
    if (probability > 0.0) add(result, sequence, d, probability);
    std::size_t at = 0;
    while (at <= context && sequence[at] + 1U == d) sequence[at++] = 0;
    if (at > context) return result;
    ++sequence[at];
  }
}

// Property (2) of exact_rows. A y of the enumeration is a sum of at most d^s products of s + 1
// numbers; one of the dynamic programming errs by (s + 1)(d + 1) roundings.
void expect_enumeration(const Chain& chain, std::size_t context) {
  const HistogramRows rows = exact_rows(chain, context);
  expect_well_formed(rows);
  EXPECT_EQ(rows.weight, 1.0);
  const Picture exact = picture(rows), expected = enumerated(chain, context);
  ASSERT_EQ(exact.size(), expected.size()) << chain.name << context;
  const auto d = static_cast<double>(chain.vocabulary()), s = static_cast<double>(context);
  const double error = (std::pow(d, s) + s + 1.0 + (s + 1.0) * (d + 1.0)) * kRounding;
  for (const auto& [key, labels] : expected) {
    ASSERT_TRUE(exact.contains(key));
    for (std::size_t k = 0; k < labels.size(); ++k) {
      EXPECT_NEAR(exact.at(key)[k], labels[k], error * labels[k]) << chain.name << context;
    }
  }
}

TEST(ExactRows, AreTheSumOverAllSequences) {
  for (const std::string& name : chain_names()) {
    expect_enumeration(named_chain(name, {0.6, 0.3, 0.1}, 0.7), 5);
    expect_enumeration(standard_chain(name), 4);
    for (const std::size_t context : {1U, 2U, 3U, 9U}) {
      expect_enumeration(named_chain(name, {0.7, 0.3}, 0.4), context);
    }
  }
}

// Moves of probability 0 leave out more than birth-death does: from 0 only to 1.
TEST(ExactRows, LeaveOutWhatCannotHappen) {
  Matrix<double> transition(3, 3);
  transition(0, 1) = transition(2, 0) = 1.0;
  transition(1, 0) = transition(1, 2) = 0.5;
  const Chain chain = chain_of(transition, "m");
  expect_enumeration(chain, 6);
  EXPECT_LT(static_cast<double>(exact_rows(chain, 6).size()), 3.0 * binomial(7, 2));
}

// d C(s + d − 2, d − 1), where everything can happen.
TEST(ExactRows, AreAsManyAsThereAreHistogramsWithTheLastToken) {
  EXPECT_EQ(exact_rows(standard_chain(), 19).size(), 5320U);
  EXPECT_EQ(exact_rows(named_chain("lambda", {0.6, 0.2, 0.2}, 0.8), 19).size(), 570U);
  EXPECT_EQ(exact_rows(named_chain("lambda", Law(5, 0.2), 0.8), 19).size(), 36'575U);
  EXPECT_EQ(exact_rows(named_chain("lambda", Law(6, 1.0 / 6), 0.8), 19).size(), 201'894U);
  EXPECT_EQ(exact_rows(named_chain("lambda", Law(255, 1.0 / 255), 0.8), 2).size(), 65'025U);
}

// Every y errs by at most (s + 1)(d + 1) = 100 roundings, 1.1e-14 of it; a law moved 18 times by
// fewer, and so do the powers in the closed forms.
constexpr double kMarginalError = 3 * 100 * kRounding;

// Property (1) of exact_rows and laws of the chain alone: after t moves, P^t applied to 1/d.
TEST(ExactRows, HaveTheMarginalsOfTheChain) {
  for (const std::string& name : chain_names()) {
    const Chain chain = standard_chain(name);
    const HistogramRows rows = exact_rows(chain, kStandardContext);
    EXPECT_NEAR(total_weight(rows), 1.0, kMarginalError) << name;
    Law law(4, 0.25), mean(4, 0.0);
    for (std::size_t t = 0; t < kStandardContext; ++t) {
      for (std::size_t k = 0; k < 4; ++k) mean[k] += law[k] / 19.0;
      if (t + 1 < kStandardContext) law = moved(law, chain.transition);
    }
    const Law found_mean = mean_histogram(rows), found_last = last_token_law(rows);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(found_mean[k], mean[k], kMarginalError) << name;
      EXPECT_NEAR(found_last[k], law[k], kMarginalError) << name;
    }
  }
}

// With λ for its second eigenvalue the chain forgets as λ^t: the closed forms, and their published
// digits.
TEST(ExactRows, HaveTheMarginalsInClosedForm) {
  const HistogramRows rows = exact_rows(standard_chain(), kStandardContext);
  const double lambda = kStandardPersistence, s = kStandardContext;
  const double start = (1.0 - std::pow(lambda, s)) / (s * (1.0 - lambda));
  EXPECT_NEAR(start, 0.259365, 5e-7);
  const Law mean = mean_histogram(rows), last = last_token_law(rows);
  const Law known_mean{0.62032, 0.20556, 0.10187, 0.07225};
  const Law known_last{0.740993, 0.191081, 0.053603, 0.014323};
  for (std::size_t k = 0; k < 4; ++k) {
    const double pi = kStandardLaw[k];
    EXPECT_NEAR(mean[k], (1.0 - start) * pi + start / 4.0, kMarginalError);
    EXPECT_NEAR(last[k], pi + std::pow(lambda, s - 1.0) * (0.25 - pi), kMarginalError);
    EXPECT_NEAR(mean[k], known_mean[k], 5e-6);
    EXPECT_NEAR(last[k], known_last[k], 5e-7);
  }
}

// The loss of whoever knows the chain, published to ten digits.
TEST(ExactRows, GiveTheLossOfTheBestPredictor) {
  const Chain chain = standard_chain();
  const HistogramRows rows = exact_rows(chain, kStandardContext);
  double loss = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      loss -= rows.labels(i, k) * std::log(chain.transition(rows.last[i], k));
    }
  }
  EXPECT_NEAR(loss, 0.3061525898, 5e-11);
}

TEST(ExactRows, AreRefusedBeforeTheyTakeTooMuch) {
  const auto expect = [](std::size_t d, std::size_t context, const std::string& message) {
    const Chain chain = named_chain("lambda", Law(d, 1.0 / static_cast<double>(d)), 0.8);
    const Outcome refused = outcome([&] { (void)exact_rows(chain, context); });
    EXPECT_EQ(refused.code, Code::bad_value);
    EXPECT_EQ(refused.message, message);
  };
  // 4 C(184, 3) and 16 C(33, 15) rows; 16 · 157 · 157 C(158, 2) + 24 · 157 C(159, 3) bytes.
  expect(4, 182, "exact data: 4 tokens in contexts of 182 need 4085536 rows, not at most 4000000");
  expect(16, 19,
         "exact data: 16 tokens in contexts of 19 need 1.659453312e+10 rows, not at most 4000000");
  expect(255, 1'000'000'000,
         "exact data: 255 tokens in contexts of 1000000000 need inf rows, not at most 4000000");
  expect(157, 3, "exact data: 157 tokens in contexts of 3 need 6.86 GiB, not at most 4 GiB");
  expect(2, 100'000,
         "exact data: 2 tokens in contexts of 100000 need 2e+10 products, not at most 1e+10");
}

// --- sampled against exact -----------------------------------------------------------------------

constexpr std::size_t kSequences = 100'000;

TEST(SampledRows, HaveTheExactMarginals) {
  for (const std::string& name : chain_names()) {
    const Chain chain = standard_chain(name);
    const HistogramRows exact = exact_rows(chain, kStandardContext);
    const HistogramRows sampled = collapse(sample(chain, kStandardContext, kSequences, 1));
    const Law law = last_token_law(exact), found = last_token_law(sampled);
    Matrix<double> pairs(4, 4);
    for (std::size_t i = 0; i < sampled.size(); ++i) {
      for (std::size_t k = 0; k < 4; ++k) pairs(sampled.last[i], k) += sampled.labels(i, k);
    }
    const auto expect_count = [&](double count, double p) {
      const double n = static_cast<double>(kSequences);
      EXPECT_NEAR(count, n * p, p > 0.0 ? freedman_bound(n * p * (1.0 - p)) : 0.0) << name;
    };
    for (std::size_t k = 0; k < 4; ++k) {
      expect_count(found[k], law[k]);
      for (std::size_t j = 0; j < 4; ++j)
        expect_count(pairs(k, j), law[k] * chain.transition(k, j));
    }
  }
}

// Mean and covariance with the last token of the counts: standard errors from the exact rows.
TEST(SampledRows, HaveTheExactMeanHistogramOfEveryLastToken) {
  const Chain chain = standard_chain();
  const HistogramRows exact = exact_rows(chain, kStandardContext);
  const HistogramRows sampled = collapse(sample(chain, kStandardContext, kSequences, 2));
  const auto moment = [](const HistogramRows& rows, std::size_t l, std::size_t j, int power) {
    return sum_over(rows, l, [&](std::size_t i) { return std::pow(rows.counts(i, j), power); }) /
           rows.weight;
  };
  for (std::size_t l = 0; l < 4; ++l) {
    for (std::size_t j = 0; j < 4; ++j) {
      const double mean = moment(exact, l, j, 1);
      const double variance = moment(exact, l, j, 2) - mean * mean;
      EXPECT_NEAR(moment(sampled, l, j, 1), mean, kSigmas * std::sqrt(variance / kSequences))
          << l << j;
    }
  }
}

// Pearson's statistic over the rows that are expected at least ten times, the others taken as one.
// With k cells and N draws its mean is k − 1 and its variance
// 2(k − 1) + (Σ 1/p − k² − 2k + 2)/N [Haldane 1937].
TEST(SampledRows, HaveTheExactJointLaw) {
  const Chain chain = standard_chain();
  const HistogramRows exact = exact_rows(chain, kStandardContext);
  const Picture found = picture(collapse(sample(chain, kStandardContext, kSequences, 3)));
  constexpr auto n = static_cast<double>(kSequences);
  std::vector<double> chances{0.0}, counts{n};  // of the rest, then of each row
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto p = static_cast<double>(weight_of(exact, i));
    if (n * p < 10.0) continue;
    const auto row = found.find(key_of(exact, i));
    chances.push_back(p);
    counts.push_back(
        row == found.end() ? 0.0 : std::accumulate(row->second.begin(), row->second.end(), 0.0));
    counts[0] -= counts.back();
  }
  chances[0] = 1.0 - std::accumulate(chances.begin(), chances.end(), 0.0);
  double statistic = 0.0, inverse = 0.0;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    statistic += std::pow(counts[i] - n * chances[i], 2) / (n * chances[i]);
    inverse += 1.0 / chances[i];
  }
  const auto k = static_cast<double>(chances.size());
  EXPECT_GT(k, 500.0);
  const double variance = 2.0 * (k - 1.0) + (inverse - k * k - 2.0 * k + 2.0) / n;
  EXPECT_NEAR(statistic, k - 1.0, kSigmas * std::sqrt(variance));
}

// A row of probability p is missing from N sequences with probability q = (1 − p)^N. That one is
// missing makes it less likely that another is (occupancies are negatively associated
// [Joag-Dev and Proschan 1983]), so the number of rows found has the mean Σ(1 − q) and a variance
// of at most Σ q(1 − q), and the tail bounds of independent rows [Dubhashi and Ranjan 1998].
TEST(SampledRows, AreAsManyAsTheExactLawExpects) {
  const Chain chain = standard_chain();
  const HistogramRows exact = exact_rows(chain, kStandardContext);
  double mean = 0.0, variance = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto p = static_cast<double>(weight_of(exact, i));
    const double missing = std::exp(kSequences * std::log1p(-p));
    mean += 1.0 - missing;
    variance += missing * (1.0 - missing);
  }
  const double bound = freedman_bound(variance);
  RecordProperty("expected_rows", std::to_string(mean));
  // Three sets drawn by another program have these numbers of rows.
  for (const double published : {2898.0, 2876.0, 2869.0}) EXPECT_NEAR(published, mean, bound);
  for (std::uint64_t replica = 0; replica < 5; ++replica) {
    const HistogramRows rows = collapse(sample(chain, kStandardContext, kSequences, replica));
    EXPECT_NEAR(static_cast<double>(rows.size()), mean, bound);
  }
}

}  // namespace
}  // namespace dewpoint::training
