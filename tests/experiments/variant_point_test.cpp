// Layers of every form on a cloud: against the plain layer, against the definition, and with
// sampled rows.
#include "dewpoint/experiments/variant_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "dewpoint/attention/variants/variant_reference.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

constexpr std::size_t kTokens = 300, kDimension = 16;
constexpr double kBeta = 6.0;

PhasePoint point_with(const char* mask, const char* kind, const char* projections = "none",
                      double base = 0.0) {
  PhasePoint p;
  p.cloud.n = kTokens;
  p.cloud.d = kDimension;
  p.cloud.rho = 0.4;
  p.inverse_temperature = kBeta;
  p.form = attention::parse_layer_form(mask, kind, projections, base);
  p.norm.reset();
  p.seed = test::seed();
  return resolved(p);
}

const std::vector<PhasePoint>& every_form() {
  static const std::vector<PhasePoint> points = {point_with("dilated:9:3", "softmax"),
                                                 point_with("global:9:3", "softmax"),
                                                 point_with("none", "sink:5"),
                                                 point_with("window:40", "off-by-one"),
                                                 point_with("causal", "top:7"),
                                                 point_with("causal", "linear"),
                                                 point_with("none", "features:32"),
                                                 point_with("none", "softmax", "orthogonal:4"),
                                                 point_with("none", "softmax", "none", 1e4)};
  return points;
}

// Twice the rounding of weights and outputs in float32; unit tokens are at most 2 apart.
double rounding() { return 2.0 * 2.0 * attention::variant_error(kTokens, kDimension, kBeta); }

// Property (1). An output is off by r, so a gap g by 2 r √(2g) or so; relative to the smallest one
// 2 r √(2/g).
TEST(VariantPoint, OfAPlainFormAgreesWithThePlainLayer) {
  for (const char* mask : {"none", "causal", "window:40"}) {
    PhasePoint p = point_with(mask, "softmax");
    p.norm = attention::NormOptions{attention::NormMethod::hutchinson, 0.01, 4};
    const PointSample plain = sample_point(p, 1, {});
    const PointSample variant = sample_variant_point(p, 1, {});
    const double gap = 1.0 - plain.values[3];
    EXPECT_NEAR(variant.values[0], plain.values[0],
                2.0 * rounding() * std::sqrt(2.0 / gap) * plain.values[0])
        << mask;
    for (std::size_t k = 1; k < 4; ++k) {
      EXPECT_NEAR(variant.values[k], plain.values[k], 2.0 * rounding()) << kPhaseObservables[k];
    }
    // −Σ p log p of weights that are off by a factor 1 ± r moves by r (H + 1) ≤ r (log n + 1).
    for (std::size_t k = 4; k < kJacobianNorm; ++k) {
      EXPECT_NEAR(variant.values[k], plain.values[k],
                  rounding() * (std::log(static_cast<double>(kTokens)) + 1.0))
          << kPhaseObservables[k];
    }
    // The same probes, in double on both sides.
    EXPECT_NEAR(variant.values[kJacobianNorm], plain.values[kJacobianNorm],
                1e-10 * plain.values[kJacobianNorm]);
  }
}

// The contraction of the plain formula, pair by pair, and the weights of one row.
TEST(VariantPoint, OfEveryFormIsWhatTheDefinitionSays) {
  for (const PhasePoint& p : every_form()) {
    SCOPED_TRACE(attention::name_of(p.form));
    const PointSample found = sample_variant_point(p, 2, {});
    const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, 2);
    const auto layer =
        attention::layer_variant(p.form, kDimension, p.inverse_temperature, 0.0, p.seed, 2);
    const Matrix<double> outputs = attention::reference_variant_layer(cloud.directions, layer);
    double contraction = 0.0, mean_cosine = 0.0, closest = 2.0;
    for (std::size_t i = 0; i < kTokens; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double before = 1.0 - inner(cloud.directions.row(i), cloud.directions.row(j));
        const double cosine = inner(outputs.row(i), outputs.row(j)) /
                              std::sqrt(inner(outputs.row(i), outputs.row(i)) *
                                        inner(outputs.row(j), outputs.row(j)));
        contraction += (1.0 - cosine) / before;
        mean_cosine += cosine;
        closest = std::min(closest, 1.0 - cosine);
      }
    }
    const double pairs = 0.5 * static_cast<double>(kTokens * (kTokens - 1));
    // Outputs may be shorter than 1: directions are off by r over their length, which exceeds 0.1.
    const double allowed = 10.0 * rounding() * (1.0 + std::sqrt(2.0 / closest));
    EXPECT_NEAR(found.values[0], contraction / pairs, allowed * contraction / pairs);
    EXPECT_NEAR(found.values[2], mean_cosine / pairs, 10.0 * 2.0 * rounding());
  }
}

TEST(VariantPoint, GivesEqualBytesForAnyNumberOfThreads) {
  for (PhasePoint p : every_form()) {
    p.norm = attention::NormOptions{attention::NormMethod::hutchinson, 0.01, 2};
    const PointSample one = sample_variant_point(p, 0, {1, {}, {}});
    const PointSample two = sample_variant_point(p, 0, {2, {}, {}});
    EXPECT_EQ(std::memcmp(one.values.data(), two.values.data(), sizeof one.values), 0)
        << attention::name_of(p.form);
  }
}

// λ over pairs of sampled rows is unbiased: off by its stated error, times as many sigmas as a
// false alarm in 1e5 takes.
TEST(VariantPoint, SampledRowsAgreeWithAllWithinTheirError) {
  for (PhasePoint p : every_form()) {
    const PointSample all = sample_variant_point(p, 0, {});
    p.rows = 120;
    const PointSample some = sample_variant_point(p, 0, {});
    EXPECT_GT(some.row_sampling_error, 0.0);
    EXPECT_NEAR(some.values[0], all.values[0], test::kSigmas * some.row_sampling_error)
        << attention::name_of(p.form);
  }
}

// Weights of a row and the sink add up to 1.
TEST(VariantPoint, ASinkTakesItsShareFromTheMasses) {
  const PointSample without = sample_variant_point(point_with("none", "softmax"), 0, {});
  const PointSample with = sample_variant_point(point_with("none", "sink:8"), 0, {});
  const auto mass = [](const PointSample& s) { return s.values[7] + s.values[8] + s.values[9]; };
  EXPECT_NEAR(mass(without), 1.0, rounding());
  EXPECT_LT(mass(with), 0.9);
  // Every weight is multiplied with the same factor, so their ratio stays.
  EXPECT_LT(with.values[7], without.values[7]);
}

TEST(VariantPoint, NormsOfOtherFormsAreSampledOrRefused) {
  PhasePoint p = point_with("none", "sink:5");
  p.norm = attention::NormOptions{};
  EXPECT_EQ(resolved(p).norm->method, attention::NormMethod::hutchinson);
  p.norm->method = attention::NormMethod::exact;
  try {
    (void)resolved(p);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "eta: exact is known for plain softmax only, not with attention sink:5; use auto "
                 "or hutchinson");
  }
}

}  // namespace
}  // namespace dewpoint::experiments
