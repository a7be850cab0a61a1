#include "dewpoint/observables/contraction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dewpoint/attention/layer.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::observables {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

Matrix<double> unit_rows(std::size_t n, std::size_t d, const char* name) {
  Matrix<double> x(n, d);
  test::stream(name).normals(0, {x.data(), x.size()});
  return split_norms(std::move(x)).directions;
}

struct Truth {
  double ratio = 0.0;
  double smallest = 2.0;
  double mean = 0.0;
  double largest = -2.0;
};

Truth plain(const Matrix<double>& before, const Matrix<double>& after) {
  Truth truth;
  const std::size_t n = before.rows();
  const double pairs = static_cast<double>(n * (n - 1) / 2);
  const auto cosine = [](const Matrix<double>& y, std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < y.cols(); ++k) sum += y(i, k) * y(j, k);
    return sum;
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double c = cosine(after, i, j);
      truth.ratio += (1.0 - c) / (1.0 - cosine(before, i, j)) / pairs;
      truth.mean += c / pairs;
      truth.smallest = std::min(truth.smallest, c);
      truth.largest = std::max(truth.largest, c);
    }
  }
  return truth;
}

// 0/0 is not a number, and zero outputs have no angles.
TEST(Contraction, OfIdenticalTokensIsUnknown) {
  Matrix<double> same(5, 3);
  for (std::size_t i = 0; i < 5; ++i) same(i, 1) = 1.0;
  const CentredCloud tokens = CentredCloud::of_unit_vectors(same);
  EXPECT_TRUE(std::isnan(contraction(tokens, tokens).contraction));
  EXPECT_EQ(contraction(tokens, tokens).unresolved_pairs, 10U);
  EXPECT_EQ(contraction(tokens, tokens).mean_cosine, 1.0);
  const Contraction none = contraction(tokens, CentredCloud{});
  EXPECT_TRUE(std::isnan(none.contraction) && std::isnan(none.mean_cosine));
}

// Several strips and a remainder. A ratio of gaps of order 1 is off by (d + 6) ε each way at worst.
TEST(Contraction, IsTheMeanRatioOverPairs) {
  const Matrix<double> before = unit_rows(203, 11, "Contraction/before");
  const Matrix<double> after = unit_rows(203, 7, "Contraction/after");
  const Truth truth = plain(before, after);
  const auto got =
      contraction(CentredCloud::of_unit_vectors(before), CentredCloud::of_unit_vectors(after));
  EXPECT_NEAR(got.contraction, truth.ratio, 2 * (11 + 6) * kEps * truth.ratio);
  EXPECT_NEAR(got.smallest_cosine, truth.smallest, (7 + 6) * kEps * 2);
  EXPECT_NEAR(got.mean_cosine, truth.mean, 4 * kEps);
  EXPECT_NEAR(got.largest_cosine, truth.largest, (7 + 6) * kEps * 2);
  EXPECT_EQ(got.unresolved_pairs, 0U);
  EXPECT_NEAR(reference_contraction(before, after), truth.ratio, 1e-12 * truth.ratio);
}

TEST(Contraction, GivesEqualBytesForAnyNumberOfThreads) {
  const auto before = CentredCloud::of_unit_vectors(unit_rows(500, 8, "a"));
  const auto after = CentredCloud::of_unit_vectors(unit_rows(500, 8, "b"));
  const auto one = contraction(before, after, {1, {}, {}});
  const auto two = contraction(before, after, {2, {}, {}});
  EXPECT_EQ(std::memcmp(&one, &two, sizeof one), 0);
}

TEST(Contraction, LeavesOutAndCountsTokensThatCannotBeToldApart) {
  Matrix<double> before = unit_rows(100, 5, "dup");
  for (std::size_t k = 0; k < 5; ++k) before(99, k) = before(3, k);
  const auto inputs = CentredCloud::of_unit_vectors(before);
  const auto same = contraction(inputs, inputs);
  EXPECT_EQ(same.unresolved_pairs, 1U);
  EXPECT_NEAR(same.contraction, 1.0, 20 * kEps);
  EXPECT_NEAR(reference_contraction(before, before), 1.0, 1e-13);
}

// The error from sampling rows is honest: over many samples, the mean square of the actual error is
// the mean square of the stated one. Both means carry their own standard error over the 200
// samples. The jackknife overstates a variance by a fraction of order 1/r [Efron and Stein 1981]:
// 15/150 is granted. Ratios error/stated are not compared: where few tokens carry λ, both grow
// together and the ratio is far from Gaussian.
TEST(ContractionOfSample, StatesItsErrorHonestly) {
  tokens::CloudParameters p;
  p.n = 600;
  p.d = 12;
  const TokenCloud tokens = tokens::make_cloud(tokens::resolved(p), test::seed(), 0);
  const auto result = attention::layer(tokens, {10.0, 0.0});
  const auto inputs = CentredCloud::of_unit_vectors(tokens.directions);
  const auto outputs = result.directions();
  const double whole = contraction(inputs, outputs).contraction;
  RunningMoments actual, stated;
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const Stream stream(test::seed(), "StatesItsErrorHonestly", sample);
    const auto rows = sample_without_replacement(600, 150, stream);
    const auto part = contraction_of_sample(inputs.subset(rows), outputs.subset(rows), 600);
    actual.add(std::pow(part.contraction - whole, 2));
    stated.add(std::pow(part.sampling_error, 2));
  }
  const double noise =
      std::hypot(actual.estimate().standard_error, stated.estimate().standard_error);
  EXPECT_NEAR(actual.mean(), stated.mean(), test::kSigmas * noise + 0.1 * stated.mean());
}

}  // namespace
}  // namespace dewpoint::observables
