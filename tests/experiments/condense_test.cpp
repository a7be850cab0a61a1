// Drawn condensation: identities of Gaussian scores, planted keys, explicit query and key vectors,
// refusals. Its numbers are held against theory in condense_reference_test.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/condense.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "experiments/condense_cells.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

bool same_bytes(const Frame& a, const Frame& b) {
  for (const Variable& variable : a.variables()) {
    const auto& other = b.variable(variable.name).cells;
    if (variable.cells.size() != other.size() ||
        std::memcmp(variable.cells.data(), other.data(), other.size() * sizeof(Estimate)) != 0) {
      return false;
    }
  }
  return a.variables().size() == b.variables().size();
}

// Property (1).
TEST(Condense, IsTheSameForAnyNumberOfThreads) {
  Condense asked = question({5.0, 1e4, 1e30}, {0.5, 1.0, 2.0}, 60);
  asked.signals = {0.8, 1.1};
  EXPECT_TRUE(same_bytes(condense(asked, {1, {}, {}}), condense(asked, {2, {}, {}})));
  asked.query_keys = QueryKeys{8, true};
  EXPECT_TRUE(same_bytes(condense(asked, {1, {}, {}}), condense(asked, {2, {}, {}})));
}

// Property (2).
TEST(Condense, DoesNotDependOnWhatElseIsAsked) {
  Condense asked = question({1e4, 1e30}, {0.5, 1.0, 2.0}, 40);
  asked.top = 32;
  const Frame all = condense(asked);
  asked.n = {1e30};
  asked.loads = {1.0};
  const Frame one = condense(asked);
  for (const char* name : {"largest_weight", "entropy", "log_partition", "retrieval_signal"}) {
    EXPECT_EQ(cell(one, name, {0, 0}).mean, cell(all, name, {1, 1}).mean) << name;
  }
}

// ---- identities -----------------------------------------------------------------------------

// Property (3). The errors of the two sides are added: they are correlated.
TEST(Condense, HasTheMeanScoreOfGaussianIntegrationByParts) {
  Condense asked = question({3.0, 1e3, 1e12, 1e300}, {0.6, 1.0, 1.7}, 2000);
  asked.deviation = 2.5;
  const Frame frame = condense(asked);
  for (std::size_t n = 0; n < asked.n.size(); ++n) {
    for (std::size_t t = 0; t < asked.loads.size(); ++t) {
      const Estimate& score = cell(frame, "mean_score", {n, t});
      const Estimate& participation = cell(frame, "participation", {n, t});
      const double factor = cell(frame, "inverse_temperature", {n, t}).mean * 2.5 * 2.5;
      const double error = score.standard_error + factor * participation.standard_error;
      EXPECT_NEAR(score.mean, factor * (1.0 - participation.mean),
                  test::kSigmas * error + 64.0 * kEpsilon * factor)
          << asked.n[n] << ' ' << asked.loads[t];
    }
  }
}

// H = log Z − β Σ w s, whose two sides are summed differently: each term is rounded a few times,
// and so is each step of three running means.
TEST(Condense, HasTheEntropyOfItsPartitionAndScores) {
  const Condense asked = question({4.0, 1e6, 1e300}, {0.3, 1.0, 2.5}, 50);
  const Frame frame = condense(asked);
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t t = 0; t < 3; ++t) {
      const double log_partition = cell(frame, "log_partition", {n, t}).mean;
      const double energy =
          cell(frame, "inverse_temperature", {n, t}).mean * cell(frame, "mean_score", {n, t}).mean;
      EXPECT_NEAR(cell(frame, "entropy", {n, t}).mean, log_partition - energy,
                  (8.0 + 3.0 * 50.0) * kEpsilon * (std::abs(log_partition) + std::abs(energy)))
          << asked.n[n] << ' ' << asked.loads[t];
    }
  }
}

// Weights of up to 8 scores are all kept: they fall and add up to 1. Beyond the k-th nothing is
// known, beyond the N-th the weight is 0.
TEST(Condense, OrdersTheWeights) {
  Condense asked = question({6.0, 1000.0}, {1.3}, 100);
  const Frame all = condense(asked);
  double sum = 0.0;
  for (std::size_t rank = 0; rank < kOrderedWeights; ++rank) {
    const Estimate& weight = cell(all, "ordered_weight", {0, 0, rank});
    EXPECT_EQ(weight.samples, 100U);
    const double before = rank == 0 ? 1.0 : cell(all, "ordered_weight", {0, 0, rank - 1}).mean;
    EXPECT_LE(weight.mean, before);
    EXPECT_EQ(weight.mean == 0.0, rank >= 6);
    sum += weight.mean;
  }
  EXPECT_NEAR(sum, 1.0, 200.0 * kEpsilon);
  EXPECT_EQ(cell(all, "ordered_weight", {1, 0, 0}).mean, cell(all, "largest_weight", {1, 0}).mean);
  asked.top = 3;
  const Frame three = condense(asked);
  EXPECT_EQ(cell(three, "ordered_weight", {1, 0, 2}).samples, 100U);
  EXPECT_EQ(cell(three, "ordered_weight", {1, 0, 3}).samples, 0U);
  EXPECT_TRUE(std::isnan(cell(three, "ordered_weight", {1, 0, 3}).mean));
}

TEST(Condense, MeetsTheBoundItWasAskedFor) {
  Condense asked = question({1e6}, {0.6, 1.0, 1.6}, 400);
  asked.bound = 1e-4;
  const Frame fine = condense(asked);
  asked.bound = 1e-2;
  const Frame coarse = condense(asked);
  for (std::size_t t = 0; t < 3; ++t) {
    // The 32 pilots of the choice leave its mean uncertain by their share of draws.
    const Estimate& bound = cell(fine, "log_partition_bound", {0, t});
    EXPECT_LE(bound.mean, 1e-4 + test::kSigmas * bound.standard_error * std::sqrt(400.0 / 32.0));
  }
  EXPECT_GT(cell(fine, "top_count", {0}).mean, cell(coarse, "top_count", {0}).mean);
}

// ---- planted keys ---------------------------------------------------------------------------

// At s = s_half the median of log Z is βm, so the median weight is 1/2: the same draws, an odd
// number of them. β m and log Z are of size 1e2 and rounded a few times.
TEST(Condense, RetrievesHalfOfTheDrawsAtTheThreshold) {
  Condense asked = question({1e6}, {1.4}, 501);
  const double half = cell(condense(asked), "retrieval_signal", {0, 0}).mean;
  asked.signals = {half};
  EXPECT_NEAR(cell(condense(asked), "median_planted_weight", {0, 0, 0}).mean, 0.5,
              16.0 * kEpsilon * 100.0);
}

// A planted score and its signal are two names; the weights left to the noise are its own less
// what the planted key takes.
TEST(Condense, PlantsAKeyBySignalOrScore) {
  Condense asked = question({1e4}, {0.8, 1.6}, 80);
  asked.deviation = 3.0;
  asked.signals = {0.9};
  const Frame by_signal = condense(asked);
  asked.planted = {0.9 * 3.0 * std::sqrt(2.0 * std::log(1e4))};
  asked.signals = {};
  const Frame by_score = condense(asked);
  EXPECT_EQ(by_score.dimension("planted").coordinates, asked.planted);
  for (std::size_t t = 0; t < 2; ++t) {
    const double weight = cell(by_signal, "planted_weight", {0, t, 0}).mean;
    EXPECT_NEAR(cell(by_score, "planted_weight", {0, t, 0}).mean, weight, 1e-12);
    const double noise = cell(by_signal, "largest_noise_weight", {0, t, 0}).mean;
    EXPECT_LT(noise, 1.0 - weight);
    EXPECT_LT(noise, cell(by_signal, "largest_weight", {0, t}).mean);
  }
}

// ---- a random query -------------------------------------------------------------------------

struct ExplicitMeans {
  RunningMoments largest_weight, participation, entropy, log_partition;
};

// Softmax over ⟨q, k_j⟩ of vectors, drawn and summed plainly.
void add_explicit_draw(const Condense& asked, std::size_t replica, ExplicitMeans& means) {
  const std::size_t d = asked.query_keys->dimension, n = static_cast<std::size_t>(asked.n[0]);
  std::vector<double> normals(d * (n + 1));
  Stream(test::seed(), "condense-test/vectors", replica).normals(0, normals);
  const double scale =
      asked.deviation / (asked.query_keys->scaled ? std::sqrt(static_cast<double>(d)) : 1.0);
  const double beta = inverse_temperature(asked, asked.n[0], asked.loads[0]);
  double partition = 0.0, squares = 0.0, energy = 0.0, largest = 0.0;
  for (std::size_t j = 1; j <= n; ++j) {
    const auto key = normals.begin() + static_cast<std::ptrdiff_t>(j * d);
    const double score =
        scale * std::inner_product(key, key + static_cast<std::ptrdiff_t>(d), normals.begin(), 0.0);
    const double weight = std::exp(beta * score);
    partition += weight;
    squares += weight * weight;
    energy += beta * score * weight;
    largest = std::max(largest, weight);
  }
  means.largest_weight.add(largest / partition);
  means.participation.add(squares / (partition * partition));
  means.entropy.add(std::log(partition) - energy / partition);
  means.log_partition.add(std::log(partition));
}

void expect_same(const Estimate& a, const RunningMoments& moments, const char* what) {
  const Estimate b = moments.estimate();
  EXPECT_NEAR(a.mean, b.mean, test::kSigmas * std::hypot(a.standard_error, b.standard_error))
      << what;
}

// Property (5).
TEST(Condense, WithARandomQueryIsTheSoftmaxOfExplicitVectors) {
  for (const bool scaled : {true, false}) {
    Condense asked = question({40.0}, {1.5}, 4000);
    asked.deviation = 1.3;
    asked.query_keys = QueryKeys{3, scaled};
    EXPECT_DOUBLE_EQ(score_deviation(asked), scaled ? 1.3 : 1.3 * std::sqrt(3.0));
    const Frame frame = condense(asked);
    ExplicitMeans means;
    for (std::size_t i = 0; i < 4000; ++i) add_explicit_draw(asked, i, means);
    expect_same(cell(frame, "largest_weight", {0, 0}), means.largest_weight, "largest weight");
    expect_same(cell(frame, "participation", {0, 0}), means.participation, "participation");
    expect_same(cell(frame, "entropy", {0, 0}), means.entropy, "entropy");
    expect_same(cell(frame, "log_partition", {0, 0}), means.log_partition, "log Z");
  }
}

// In three dimensions queries differ so much that the fixed deviation is told apart.
TEST(Condense, ARandomQueryIsNotAFixedDeviation) {
  Condense asked = question({1e4}, {1.0}, 4000);
  const Estimate fixed = cell(condense(asked), "log_partition_deviation", {0, 0});
  asked.query_keys = QueryKeys{3, true};
  const Estimate random = cell(condense(asked), "log_partition_deviation", {0, 0});
  EXPECT_GT(random.mean - fixed.mean,
            test::kSigmas * std::hypot(random.standard_error, fixed.standard_error));
}

// ---- refusals -------------------------------------------------------------------------------

TEST(Condense, RefusesWhatIsOutOfRange) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto refusal = [](const auto& change) {
    Condense asked = question({100.0}, {1.0}, 10);
    change(asked);
    try {
      (void)condense(asked);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal([](Condense& q) { q.n = {1.0}; }), "n: 1 is not a number in [2, 1e300]");
  EXPECT_EQ(refusal([](Condense& q) { q.n = {}; }),
            "n: the list is empty; allowed: a number or more");
  EXPECT_EQ(refusal([](Condense& q) { q.n = {2.5}; }), "n: 2.5 is not a whole number");
  EXPECT_EQ(refusal([](Condense& q) { q.loads = {0.0}; }), "t: 0 is not a number in (0, 1000]");
  EXPECT_EQ(refusal([](Condense& q) { q.loads = {}; }),
            "t: the list is empty; allowed: a number or more");
  EXPECT_EQ(refusal([](Condense& q) { q.deviation = 0.0; }),
            "sigma: 0 is not a number in [1e-50, 1e50]");
  EXPECT_EQ(refusal([](Condense& q) { q.draws = 1; }),
            "draws: 1 is not a whole number in [2, 1e7]");
  EXPECT_EQ(refusal([](Condense& q) { q.top = 101; }),
            "top: 101 is not a whole number in [1, 100], at most every n");
  EXPECT_EQ(refusal([&](Condense& q) { q.planted = {infinity}; }),
            "planted: inf is not a finite number in [-1e100, 1e100]");
  EXPECT_EQ(refusal([&](Condense& q) { q.signals = {nan}; }),
            "signal: nan is not a finite number in [-1e6, 1e6]");
  EXPECT_EQ(refusal([](Condense& q) {
              q.query_keys = QueryKeys{0, true};
            }),
            "keys-dimension: 0 is not a whole number in [1, 1e6]");
  const std::string unmet = refusal([](Condense& q) {
    q.n = {1e6};
    q.bound = 1e-12;
  });
  EXPECT_NE(unmet.find("bound: 1e-12 is not met by 4096 scores at n = 1000000"), std::string::npos)
      << unmet;
}

}  // namespace
}  // namespace dewpoint::experiments
