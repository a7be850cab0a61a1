#include "dewpoint/attention/rowwise_layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "dewpoint/attention/jacobian_reference.hpp"
#include "dewpoint/attention/reference.hpp"
#include "dewpoint/core/random.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

constexpr double kEps = 0x1p-23;

struct Case {
  std::size_t n;
  std::size_t d;
  double beta;
  double residual;
  Mask mask;
};

const std::vector<Case> kCases = {
    {60, 5, 0.4, 0.0, Mask::none()},       {60, 20, 8.0, 0.3, Mask::none()},
    {300, 12, 11.0, 0.0, Mask::none()},    {300, 12, 34.0, 0.7, Mask::none()},
    {60, 20, 8.0, 0.3, Mask::causal()},    {300, 12, 5.0, 0.0, Mask::causal()},
    {300, 5, 12.0, 0.2, Mask::window(40)}, {1, 3, 1.0, 0.5, Mask::none()},
    {7, 1, 2.0, 0.5, Mask::none()},        {40, 2, 3.0, 0.0, Mask::window(1)}};

// Gaussian tokens about a common vector of the same length: cosines around one half, norms of many
// sizes.
TokenCloud cloud_of(const Case& c) {
  const Stream draw = test::stream("tokens");
  Matrix<double> raw(c.n, c.d);
  for (std::size_t i = 0; i < c.n; ++i) {
    for (std::size_t k = 0; k < c.d; ++k) {
      raw(i, k) = draw.normal(k) + draw.normal((i + 1) * c.d + k);
    }
  }
  return split_norms(std::move(raw));
}

std::vector<std::size_t> all(std::size_t n) {
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

std::string text(const Case& c) {
  return "n=" + std::to_string(c.n) + " d=" + std::to_string(c.d) +
         " beta=" + std::to_string(c.beta) + " " + c.mask.name();
}

NormOptions options_of(NormMethod method) {
  NormOptions options;
  options.method = method;
  options.seed = test::seed();
  return options;
}

double exact_norm(const TokenCloud& tokens, const Case& c) {
  return ReferenceJacobian(tokens, {c.beta, c.residual}, c.mask)
      .eta(cheaper_second_moment(c.n, c.d))
      .total();
}

// Property (2).
TEST(RowwiseLayer, GivesTheOutputsOfTheReferenceUnderEveryMask) {
  for (const Case& c : kCases) {
    const TokenCloud tokens = cloud_of(c);
    const auto result = rowwise_layer(tokens, {c.beta, c.residual}, c.mask, all(c.n), std::nullopt);
    const Matrix<double> exact = ReferenceJacobian(tokens, {c.beta, c.residual}, c.mask).outputs();
    for (std::size_t i = 0; i < c.n; ++i) {
      for (std::size_t k = 0; k < c.d; ++k) {
        // Outputs are averages of unit vectors: weights off by (kExpUlp + β Δ) ulp, Δ ≤ 2.
        EXPECT_NEAR(result.layer.base[k] + result.layer.deviations(i, k), exact(i, k),
                    (kernels::kExpUlp + 2.0 * c.beta + 8.0) * kEps)
            << text(c);
      }
    }
  }
}

// Property (3).
TEST(RowwiseLayer, TheExactNormIsThatOfTheReference) {
  for (const Case& c : kCases) {
    const TokenCloud tokens = cloud_of(c);
    const double exact = exact_norm(tokens, c);
    const Estimate norm =
        jacobian_norm(tokens, {c.beta, c.residual}, c.mask, options_of(NormMethod::exact));
    EXPECT_EQ(norm.standard_error, 0.0);
    EXPECT_NEAR(norm.mean, exact, kFastNormError * exact) << text(c);
  }
}

TEST(RowwiseLayer, ASampledDiagonalIsWithinItsError) {
  for (const Case& c : kCases) {
    for (const NormMethod method : {NormMethod::mixed, NormMethod::hutchinson}) {
      const TokenCloud tokens = cloud_of(c);
      const double exact = exact_norm(tokens, c);
      const Estimate norm = jacobian_norm(tokens, {c.beta, c.residual}, c.mask, options_of(method));
      // Few degrees of freedom stand behind the error of Hutchinson's eight probes (Student's t has
      // heavier tails than kSigmas assumes): twice the error, and the target besides.
      const double slack = method == NormMethod::hutchinson ? 2.0 : 1.0;
      EXPECT_NEAR(norm.mean, exact,
                  slack * test::kSigmas * norm.standard_error + kFastNormError * exact)
          << text(c) << ' ' << name_of(method);
      EXPECT_LE(norm.standard_error, 1.5 * 0.01 * norm.mean) << text(c) << ' ' << name_of(method);
    }
  }
}

// The error that a sampled diagonal states is the spread that one sees: 64 seeds, mean square of
// deviation over error. One probe per query overstates (property of the spread between queries),
// several must not: a chi-squared with 64 degrees of freedom, relative spread √(2/64).
TEST(RowwiseLayer, TheErrorOfASampledDiagonalIsHonest) {
  const Case c{160, 24, 9.0, 0.0, Mask::none()};
  const TokenCloud tokens = cloud_of(c);
  const double exact = exact_norm(tokens, c);
  for (const std::size_t probes : {1U, 4U}) {
    RunningMoments ratio;
    for (std::uint64_t replica = 0; replica < 64; ++replica) {
      NormOptions options = options_of(NormMethod::mixed);
      options.probes = probes;
      options.replica = replica;
      const Estimate norm = jacobian_norm(tokens, {c.beta, 0.0}, c.mask, options);
      const double z = (norm.mean - exact) / norm.standard_error;
      ratio.add(z * z);
    }
    EXPECT_LE(ratio.mean(), 1.0 + test::kSigmas * std::sqrt(2.0 / 64.0)) << probes;
    if (probes == 1) continue;
    EXPECT_GE(ratio.mean(), 1.0 / (1.0 + test::kSigmas * std::sqrt(2.0 / 64.0)));
  }
}

// norm_of_sample: half of the queries, against all of them.
TEST(RowwiseLayer, ASampleOfQueriesEstimatesTheNorm) {
  const Case c{600, 16, 9.0, 0.4, Mask::none()};
  const TokenCloud tokens = cloud_of(c);
  const auto rows = sample_without_replacement(600, 300, test::stream("rows"));
  const Estimate norm =
      rowwise_layer(tokens, {c.beta, c.residual}, c.mask, rows, options_of(NormMethod::exact))
          .norm_of_sample(tokens, c.residual);
  const double exact = exact_norm(tokens, c);
  EXPECT_GT(norm.standard_error, 0.0);
  EXPECT_LT(norm.standard_error, 0.1 * exact);
  EXPECT_NEAR(norm.mean, exact, test::kSigmas * norm.standard_error + kFastNormError * exact);
}

// Property (1).
TEST(RowwiseLayer, GivesTheSameBytesOnAnyNumberOfThreads) {
  const Case c{700, 16, 9.0, 0.4, Mask::causal()};
  const TokenCloud tokens = cloud_of(c);
  const auto run = [&](int threads) {
    return rowwise_layer(tokens, {c.beta, c.residual}, c.mask, all(c.n),
                         options_of(NormMethod::mixed), {threads, {}, {}});
  };
  const auto one = run(1);
  const auto two = run(2);
  EXPECT_EQ(one.columns, two.columns);
  EXPECT_EQ(std::memcmp(one.rows.data(), two.rows.data(), one.rows.size() * sizeof(NormRow)), 0);
  EXPECT_EQ(std::memcmp(one.layer.deviations.data(), two.layer.deviations.data(),
                        one.layer.deviations.size() * sizeof(double)),
            0);
}

// Where weights condense, φ is a small difference of large numbers; its bounds keep it in place.
TEST(RowwiseLayer, TheNormOfAFrozenLayerStaysExact) {
  for (const double beta : {200.0, 2000.0}) {
    const Case c{200, 10, beta, 0.0, Mask::none()};
    const TokenCloud tokens = cloud_of(c);
    const double exact = exact_norm(tokens, c);
    const Estimate norm = jacobian_norm(tokens, {beta, 0.0}, c.mask, options_of(NormMethod::exact));
    // The nearest pairs still compete: their gaps, rounded to 2e-8, are multiplied by β.
    EXPECT_NEAR(norm.mean, exact, (kFastNormError + 4.0 * beta * kEps) * exact) << beta;
  }
}

// Only the own weight is left: η = (d − 1)/d, whatever rounding is multiplied by β².
TEST(RowwiseLayer, TheNormIsThatOfTheProjectionWhereNoOtherKeyHasAWeight) {
  for (const double beta : {1e5, 1e7, 1e8}) {
    for (const NormMethod method : {NormMethod::exact, NormMethod::mixed}) {
      const Case c{96, 8, beta, 0.0, Mask::causal()};
      TokenCloud tokens = cloud_of(c);
      set_unit_norms(tokens);
      const Estimate norm = jacobian_norm(tokens, {beta, 0.0}, c.mask, options_of(method));
      EXPECT_DOUBLE_EQ(norm.mean, 7.0 / 8.0) << beta;
      EXPECT_EQ(norm.standard_error, 0.0);
    }
  }
}

// On a circle the nearest of 300 tokens are so near that they compete at β far beyond what products
// of float32 tell. A difference of two offsets of size 1 is off by 2·2^-24, so βΔ = ½β‖e‖² by
// √(2βΔ)·√β·2^-23, and a weight that matters has βΔ ≤ 20. In η weights are squared, and so are
// two differences beside them: eight such errors at most. The reference, in double, subtracts the
// square of a mean from φ: β²·2^-52.
TEST(RowwiseLayer, NearTokensCompeteAtAnyTemperature) {
  Matrix<double> raw(300, 2);
  const Stream draw = test::stream("circle");
  for (std::size_t i = 0; i < raw.rows(); ++i) {
    const double angle = 6.283185307179586 * draw.uniform(i);
    raw(i, 0) = std::cos(angle);
    raw(i, 1) = std::sin(angle);
  }
  const TokenCloud tokens = split_norms(std::move(raw));
  for (const double beta : {3e3, 3e4, 3e5}) {
    const double error = std::sqrt(40.0 * beta) * 0x1p-23;
    const ReferenceJacobian reference(tokens, {beta, 0.0});
    const double exact = reference.eta(SecondMoment::khatri_rao).total();
    ASSERT_GT(std::abs(exact - 0.5), 0.01) << beta;  // others have weights
    const Estimate norm =
        jacobian_norm(tokens, {beta, 0.0}, Mask::none(), options_of(NormMethod::exact));
    EXPECT_NEAR(norm.mean, exact, 8.0 * error * exact + beta * beta * 0x1p-52) << beta;
    const auto layer =
        rowwise_layer(tokens, {beta, 0.0}, Mask::none(), all(tokens.size()), std::nullopt);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_NEAR(1.0 / layer.layer.moments[i].partition, reference.weights()(i, i), error) << beta;
    }
  }
}

// JacobianNorm, property (1): other norms and another residual from the same pass.
TEST(JacobianNorm, IsReweightedForOtherNormsAndResiduals) {
  const Case c{80, 9, 6.0, 0.0, Mask::none()};
  TokenCloud tokens = cloud_of(c);
  const auto rowwise =
      rowwise_layer(tokens, {c.beta, 0.0}, c.mask, all(c.n), options_of(NormMethod::exact));
  for (double& norm : tokens.norms) norm = 0.5 + norm;
  const double exact =
      ReferenceJacobian(tokens, {c.beta, 1.3}).eta(SecondMoment::khatri_rao).total();
  EXPECT_NEAR(rowwise.norm(tokens.norms, 1.3).mean, exact, kFastNormError * exact);
}

TEST(SecondMoments, TheTwoWaysAgree) {
  const TokenCloud tokens = cloud_of({200, 7, 0.0, 0.0, Mask::none()});
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  Matrix<float> weights(3, padded(200));
  const Stream draw = test::stream("weights");
  const std::vector<std::size_t> queries = {0, 57, 199};
  for (std::size_t q = 0; q < 3; ++q) {
    for (std::size_t i = 0; i < 200; ++i) {
      weights(q, i) = i == queries[q] ? 0.0F : static_cast<float>(draw.uniform(200 * q + i));
    }
  }
  std::vector<double> pairs(3);
  std::vector<double> products(3);
  SecondMoments(cloud, SecondMoment::pairs_of_keys).of_strip(weights, queries, pairs);
  SecondMoments(cloud, SecondMoment::khatri_rao).of_strip(weights, queries, products);
  for (std::size_t q = 0; q < 3; ++q) {
    // Sums of 200 terms in float32 on either side, squared once: 2 · 200 roundings at the most.
    EXPECT_NEAR(pairs[q], products[q], 400 * kEps * pairs[q]);
  }
}

TEST(NormMethod, AutomaticTakesTheNarrowerProduct) {
  EXPECT_EQ(cheaper_norm_method(512, 8), NormMethod::exact);    // 36 products of coordinates
  EXPECT_EQ(cheaper_norm_method(512, 512), NormMethod::exact);  // 512 keys
  EXPECT_EQ(cheaper_norm_method(2048, 64), NormMethod::mixed);  // 2048 keys against 160
}

TEST(NormOptions, BadNumbersAreRefused) {
  NormOptions options;
  options.target_error = 0.0;
  EXPECT_THROW(check(options), Error);
  options = options_of(NormMethod::hutchinson);
  options.probes = 1;
  EXPECT_THROW(check(options), Error);
}

}  // namespace
}  // namespace dewpoint::attention
