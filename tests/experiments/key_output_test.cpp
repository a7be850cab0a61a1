// Outputs of attention over explicit keys: against a plain double loop, against exact identities,
// and against the central limit theorem.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/experiments/key_output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "experiments/key_laws.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

using test::NormalKeys;
using test::VonMisesFisherKeys;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

KeyOutput question(std::size_t keys, std::size_t draws, std::vector<double> betas) {
  KeyOutput asked;
  asked.keys = keys;
  asked.draws = draws;
  asked.inverse_temperatures = std::move(betas);
  asked.seed = test::seed();
  return asked;
}

double allowed(const Estimate& estimate) { return test::kSigmas * estimate.standard_error; }

// ---- the plain double loop ------------------------------------------------------------------

struct Plain {
  std::vector<double> output, bias, scored_key;
  double tangential_square = 0.0, tangential_spread = 0.0;
  double participation = 0.0, largest_weight = 0.0, entropy = 0.0;
};

std::vector<double> plain_weights(const Matrix<double>& keys, double beta) {
  double best = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (std::size_t j = 0; j < keys.rows(); ++j) best = std::max(best, keys(j, 0));
  std::vector<double> weights;
  for (std::size_t j = 0; j < keys.rows(); ++j)
    sum += weights.emplace_back(std::exp(beta * (keys(j, 0) - best)));
  for (double& weight : weights) weight /= sum;
  return weights;
}

// Values V k_j of every key, as the rows of a matrix.
Matrix<double> plain_values(const Matrix<double>& keys, const Matrix<double>& values) {
  if (values.rows() == 0) return keys;
  Matrix<double> result(keys.rows(), values.rows());
  for (std::size_t j = 0; j < keys.rows(); ++j)
    for (std::size_t r = 0; r < values.rows(); ++r)
      for (std::size_t k = 0; k < keys.cols(); ++k) result(j, r) += values(r, k) * keys(j, k);
  return result;
}

Plain plain_output(const Matrix<double>& keys, const Matrix<double>& values, double beta) {
  const std::vector<double> weights = plain_weights(keys, beta);
  const Matrix<double> rows = plain_values(keys, values);
  Plain plain;
  plain.output.assign(rows.cols(), 0.0);
  plain.bias.assign(rows.cols(), 0.0);
  plain.scored_key.assign(keys.cols(), 0.0);
  std::vector<double> key_mean(keys.cols(), 0.0);
  for (std::size_t j = 0; j < keys.rows(); ++j) {
    const double w = weights[j];
    for (std::size_t r = 0; r < rows.cols(); ++r) plain.output[r] += w * rows(j, r);
    for (std::size_t k = 0; k < keys.cols(); ++k) {
      key_mean[k] += w * keys(j, k);
      plain.scored_key[k] += w * keys(j, 0) * keys(j, k);
      if (k > 0) plain.tangential_spread += w * (1.0 - w) * keys(j, k) * keys(j, k);
    }
    plain.participation += w * w;
    plain.largest_weight = std::max(plain.largest_weight, w);
    if (w > 0.0) plain.entropy -= w * std::log(w);
  }
  for (std::size_t j = 0; j < keys.rows(); ++j)
    for (std::size_t r = 0; r < rows.cols(); ++r)
      plain.bias[r] -= weights[j] * weights[j] * (rows(j, r) - plain.output[r]);
  for (std::size_t k = 1; k < keys.cols(); ++k)
    plain.tangential_square += key_mean[k] * key_mean[k];
  return plain;
}

// The mean of two draws is known when each of them is. Entries are at most `size`; a sum of n terms
// has n roundings in the plain loop, scores of size `size` shift a weight by 4 β size roundings.
void expect_plain(const scores::KeyLaw& law, const KeyOutput& asked, double size) {
  const auto moments = key_output(law, asked, {1, {}, {}});
  std::vector<Matrix<double>> keys;
  for (std::size_t draw = 0; draw < 2; ++draw) {
    keys.emplace_back(asked.keys, law.dimension());
    law.draw(0, keys.back(), Stream(asked.seed, "key-output", draw));
  }
  for (const KeyOutputMoments& measured : moments) {
    const double beta = measured.inverse_temperature;
    const Plain a = plain_output(keys[0], asked.values, beta);
    const Plain b = plain_output(keys[1], asked.values, beta);
    const double roundings =
        (2.0 * static_cast<double>(asked.keys) + 4.0 * beta * size) * kEpsilon * size * size;
    const auto same = [&](const Estimate& mean, double one, double other) {
      EXPECT_NEAR(mean.mean, 0.5 * (one + other), roundings) << law.name() << ' ' << beta;
    };
    same(measured.tangential_square, a.tangential_square, b.tangential_square);
    same(measured.tangential_spread, a.tangential_spread, b.tangential_spread);
    same(measured.participation, a.participation, b.participation);
    same(measured.largest_weight, a.largest_weight, b.largest_weight);
    EXPECT_NEAR(measured.entropy.mean, 0.5 * (a.entropy + b.entropy),
                roundings * (1.0 + std::log(static_cast<double>(asked.keys))));
    for (std::size_t k = 0; k < a.scored_key.size(); ++k)
      same(measured.scored_key[k], a.scored_key[k], b.scored_key[k]);
    ASSERT_EQ(measured.mean.size(), a.output.size());
    for (std::size_t r = 0; r < a.output.size(); ++r) {
      same(measured.mean[r], a.output[r], b.output[r]);
      same(measured.bias[r], a.bias[r], b.bias[r]);
      for (std::size_t s = 0; s < a.output.size(); ++s) {
        const double product = (a.output[r] - b.output[r]) * (a.output[s] - b.output[s]);
        const double n = static_cast<double>(asked.keys);
        EXPECT_NEAR(measured.covariance[r * a.output.size() + s].mean, 0.5 * n * product,
                    n * 4.0 * size * roundings);
      }
    }
  }
}

// Property (1). 2500 keys are three blocks, the last of them short; β = 1e6 leaves one key.
TEST(KeyOutput, IsThePlainDoubleLoop) {
  const std::vector<double> betas{0.0, 1.0, 30.0, 2e3, 1e6};
  KeyOutput asked = question(2500, 2, betas);
  expect_plain(NormalKeys(4, true), asked, 1.0);
  expect_plain(NormalKeys(4, false), asked, 6.0);
  asked.values = test::normal_matrix(6, 4, "KeyOutput/values");
  const double size = 4.0 * test::largest(asked.values);
  expect_plain(NormalKeys(4, true), asked, size);
  expect_plain(NormalKeys(4, false), asked, 6.0 * size);
}

// Property (1) for the gap, which the plain loop above cannot resolve. Keys at distance r from the
// query have 1 − ⟨q, k⟩ = r²/2 to a few roundings of r²/2, although ⟨q, k⟩ itself is 1.
class NearKeys final : public scores::KeyLaw {
 public:
  [[nodiscard]] std::string name() const override { return "near"; }
  [[nodiscard]] std::size_t dimension() const override { return 2; }
  void draw(std::size_t first, MatrixView<double> keys, const Stream&) const override {
    for (std::size_t j = 0; j < keys.rows(); ++j) {
      const double angle = 1e-9 * static_cast<double>(first + j + 1);
      keys(j, 0) = std::cos(angle);
      keys(j, 1) = std::sin(angle);
    }
  }
};

TEST(KeyOutput, ResolvesGapsFarBelowRoundingsOfOne) {
  const double beta = 1e18;
  const KeyOutputMoments measured = key_output(NearKeys(), question(3, 2, {beta}))[0];
  double partition = 0.0, gap = 0.0;
  for (double j : {1.0, 2.0, 3.0}) {
    const double weight = std::exp(-0.5 * j * j);
    partition += weight;
    gap += weight * 0.5e-18 * j * j;
  }
  // The cosine is 1 to a rounding of 1, which adds (ε/2)²/2 < 1e-32; angles of 1e-9 add 1e-18.
  EXPECT_NEAR(measured.gap.mean, gap / partition, 32.0 * kEpsilon * gap);
  EXPECT_NEAR(measured.largest_weight.mean, std::exp(-0.5) / partition, 32.0 * kEpsilon);
}

bool same_bytes(const std::vector<Estimate>& a, const std::vector<Estimate>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// Property (2).
TEST(KeyOutput, IsTheSameForAnyNumberOfThreads) {
  KeyOutput asked = question(3000, 9, {2.0, 50.0});
  asked.values = test::normal_matrix(2, 5, "KeyOutput/threads");
  const auto one = key_output(NormalKeys(5, true), asked, {1, {}, {}});
  const auto two = key_output(NormalKeys(5, true), asked, {2, {}, {}});
  for (std::size_t b = 0; b < one.size(); ++b) {
    EXPECT_TRUE(same_bytes(one[b].mean, two[b].mean));
    EXPECT_TRUE(same_bytes(one[b].bias, two[b].bias));
    EXPECT_TRUE(same_bytes(one[b].covariance, two[b].covariance));
    EXPECT_TRUE(same_bytes({one[b].gap, one[b].parallel_variance, one[b].entropy},
                           {two[b].gap, two[b].parallel_variance, two[b].entropy}));
  }
}

// Property (3): entry by entry, D products of entries below `size` and as many sums.
TEST(KeyOutput, PassesThroughTheValueMatrix) {
  const NormalKeys law(5, true);
  KeyOutput asked = question(2000, 20, {20.0});
  const KeyOutputMoments plain = key_output(law, asked)[0];
  asked.values = test::normal_matrix(3, 5, "KeyOutput/through");
  const KeyOutputMoments valued = key_output(law, asked)[0];
  const Matrix<double>& v = asked.values;
  const double roundings = 64.0 * kEpsilon * test::largest(v);
  for (std::size_t r = 0; r < 3; ++r) {
    double mean = 0.0, bias = 0.0;
    for (std::size_t k = 0; k < 5; ++k) {
      mean += v(r, k) * plain.mean[k].mean;
      bias += v(r, k) * plain.bias[k].mean;
    }
    EXPECT_NEAR(valued.mean[r].mean, mean, roundings);
    EXPECT_NEAR(valued.bias[r].mean, bias, roundings);
    for (std::size_t s = 0; s < 3; ++s) {
      double covariance = 0.0;
      for (std::size_t k = 0; k < 5; ++k)
        for (std::size_t l = 0; l < 5; ++l)
          covariance += v(r, k) * plain.covariance[5 * k + l].mean * v(s, l);
      EXPECT_NEAR(valued.covariance[3 * r + s].mean, covariance,
                  25.0 * 2000.0 * roundings * test::largest(v));
    }
  }
}

// Property (4).
TEST(KeyOutput, IsThePlainMeanAtInfiniteTemperature) {
  const KeyOutputMoments flat = key_output(NormalKeys(3, true), question(4096, 3, {0.0}))[0];
  constexpr double roundings = 4096.0 * kEpsilon;
  EXPECT_NEAR(flat.participation.mean, 1.0 / 4096.0, roundings / 4096.0);
  EXPECT_NEAR(flat.largest_weight.mean, 1.0 / 4096.0, roundings / 4096.0);
  EXPECT_NEAR(flat.entropy.mean, std::log(4096.0), roundings);
  for (const Estimate& bias : flat.bias) EXPECT_NEAR(bias.mean, 0.0, roundings / 4096.0);
}

// ---- exact identities -----------------------------------------------------------------------

// Σ w|k⊥|² of unit keys.
double weighted_tangential(const KeyOutputMoments& m) { return 1.0 - m.scored_key[0].mean; }

// Properties (5) and (6) without a density, at few keys and at an n_eff of about 2.
TEST(KeyOutput, OfUniformKeysObeysTheVirialIdentity) {
  for (const std::size_t d : {2U, 5U, 9U}) {
    const auto dimension = static_cast<double>(d);
    for (const KeyOutputMoments& m :
         key_output(NormalKeys(d, true), question(50, 4000, {2.0, 20.0}))) {
      const double beta = m.inverse_temperature;
      EXPECT_NEAR((dimension - 1.0) * (1.0 - m.gap.mean), beta * m.tangential_spread.mean,
                  (dimension - 1.0) * allowed(m.gap) + beta * allowed(m.tangential_spread))
          << d << ' ' << beta;
      EXPECT_NEAR(
          m.tangential_square.mean, weighted_tangential(m) - m.tangential_spread.mean,
          allowed(m.tangential_square) + allowed(m.scored_key[0]) + allowed(m.tangential_spread))
          << d << ' ' << beta;
    }
  }
}

// Property (5) with ∇log f(k) = κμ: the term is κ(⟨q, μ⟩ − ⟨Σ w U k, μ⟩), and leaving it out shows.
TEST(KeyOutput, OfDirectedKeysObeysTheVirialIdentityWithItsDensityTerm) {
  constexpr double kappa = 4.0, angle = 0.7, d = 5.0;
  const VonMisesFisherKeys law(kappa, angle);
  for (const KeyOutputMoments& m : key_output(law, question(60, 4000, {1.0, 6.0, 15.0}))) {
    const double beta = m.inverse_temperature;
    const double density_term = kappa * (std::cos(angle) - std::cos(angle) * m.scored_key[0].mean -
                                         std::sin(angle) * m.scored_key[1].mean);
    const double left = (d - 1.0) * (1.0 - m.gap.mean), right = beta * m.tangential_spread.mean;
    const double error = (d - 1.0) * allowed(m.gap) + beta * allowed(m.tangential_spread) +
                         kappa * (allowed(m.scored_key[0]) + allowed(m.scored_key[1]));
    EXPECT_NEAR(left, right + density_term, error) << beta;
    EXPECT_GT(std::abs(left - right), error) << beta;
  }
}

// ---- the limit of many keys -----------------------------------------------------------------

// E[T^p e^{−βT}] for d = 5, where T has density (3/4) t(2 − t): Simpson's rule with 20000 steps has
// a relative error below (β h)⁴/180 = 1e-14 at β ≤ 20.
double sphere_moment(double beta, int power) {
  constexpr int steps = 20'000;
  constexpr double h = 2.0 / steps;
  double sum = 0.0;
  for (int k = 0; k <= steps; ++k) {
    const double t = h * k, factor = k == 0 || k == steps ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0);
    sum += factor * std::pow(t, power) * 0.75 * t * (2.0 - t) * std::exp(-beta * t);
  }
  return sum * h / 3.0;
}

struct LargeSample {
  double gap, bias, ratio, parallel, tangential;  // 1 − A, −R(A(2β) − A), R, V_par, V_perp
};

LargeSample large_sample(double beta) {
  const double z = sphere_moment(beta, 0), z2 = sphere_moment(2.0 * beta, 0);
  const double gap = sphere_moment(beta, 1) / z, gap2 = sphere_moment(2.0 * beta, 1) / z2;
  const double square2 = sphere_moment(2.0 * beta, 2) / z2, ratio = z2 / (z * z);
  return {gap, -ratio * (gap - gap2), ratio, ratio * (square2 - 2.0 * gap * gap2 + gap * gap),
          ratio * (2.0 * gap2 - square2) / 4.0};
}

// How far a variance of k + 1 Gaussian values may be from the true one, relative to it: it is
// χ²_k/k, and P(χ²_k/k > 1 + 2√(x/k) + 2x/k) ≤ e^{−x} [Laurent and Massart 2000], with x =
// kSigmas²/2. The lower tail is lighter.
double variance_tolerance(double k) {
  return test::kSigmas * std::sqrt(2.0 / k) + test::kSigmas * test::kSigmas / k;
}

// n Cov = V [V_par qqᵀ + V_perp (I − qqᵀ)] Vᵀ. The first neglected term is of relative order
// 1/n_eff = R/n = 5e-4 here. A covariance is the difference of two variances of sums.
TEST(KeyOutput, HasTheCovarianceOfTheCentralLimitTheorem) {
  constexpr double beta = 10.0, keys = 40'000.0, draws = 300.0;
  const LargeSample limit = large_sample(beta);
  KeyOutput asked =
      question(static_cast<std::size_t>(keys), static_cast<std::size_t>(draws), {beta});
  asked.values = test::normal_matrix(3, 5, "KeyOutput/covariance");
  const KeyOutputMoments m = key_output(NormalKeys(5, true), asked)[0];
  const double neglected = limit.ratio / keys;
  const double relative = variance_tolerance(draws - 1.0) + 4.0 * neglected;
  EXPECT_NEAR(m.parallel_variance.mean, limit.parallel, relative * limit.parallel);
  EXPECT_NEAR(m.tangential_variance.mean, limit.tangential,
              (variance_tolerance(4.0 * (draws - 1.0)) + 4.0 * neglected) * limit.tangential);
  EXPECT_NEAR(m.participation.mean * keys, limit.ratio,
              keys * allowed(m.participation) + 8.0 * neglected * limit.ratio);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t s = 0; s < 3; ++s) {
      const auto a = asked.values.row(r), b = asked.values.row(s);
      const double expected =
          limit.parallel * a[0] * b[0] + limit.tangential * inner(a.subspan(1), b.subspan(1));
      const double bound = limit.tangential * std::sqrt(inner(a, a) * inner(b, b));
      EXPECT_NEAR(m.covariance[3 * r + s].mean, expected, relative * bound);
    }
  }
}

// At n_eff = n/R = 51 the mean differs from its limit by more than its error, and the bias that the
// draws themselves estimate is that difference; the next order is 1/n_eff² of the gap.
TEST(KeyOutput, EstimatesItsBiasOfSecondOrder) {
  constexpr double beta = 10.0, keys = 1000.0;
  const LargeSample limit = large_sample(beta);
  const KeyOutputMoments m =
      key_output(NormalKeys(5, true), question(static_cast<std::size_t>(keys), 4000, {beta}))[0];
  const double next_order = limit.gap * std::pow(limit.ratio / keys, 2.0);
  EXPECT_NEAR(m.bias[0].mean, limit.bias / keys, allowed(m.bias[0]) + 8.0 * next_order);
  EXPECT_NEAR(1.0 - m.gap.mean - m.bias[0].mean, 1.0 - limit.gap,
              allowed(m.gap) + allowed(m.bias[0]) + 8.0 * next_order);
  EXPECT_GT(std::abs(m.gap.mean - limit.gap), allowed(m.gap));
}

// ---- refusals -------------------------------------------------------------------------------

void expect_refused(const KeyOutput& asked, const std::string& message) {
  try {
    (void)key_output(NormalKeys(3, true), asked);
    ADD_FAILURE() << "accepted: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(KeyOutput, RefusesWhatCannotBeAsked) {
  expect_refused(question(1, 2, {1.0}), "n: 1 is not at least 2");
  expect_refused(question(10, 1, {1.0}), "draws: 1 is not at least 2");
  expect_refused(question(10, 2, {}), "beta: the list is empty");
  expect_refused(question(10, 2, {-1.0}), "beta: -1 is not a finite number >= 0");
  KeyOutput asked = question(10, 2, {1.0});
  asked.values = Matrix<double>(2, 4);
  expect_refused(asked, "values: 4 columns are not the 3 coordinates of a key");
  asked.values = Matrix<double>(1025, 3);
  expect_refused(asked, "values: 1025 rows are not at most 1024");
}

}  // namespace
}  // namespace dewpoint::experiments
