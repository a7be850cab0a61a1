#include "dewpoint/studies/variants_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/variant_dew.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

const Experiment& variants() { return variants_experiment(); }

Point resolved(const Point& given) { return variants().resolved(given); }

double number_named(const Point& point, const std::string& name) {
  return measured(variants(), point, replica_of(variants(), point, seed(), 0), name);
}

double theory_of(const Point& point) { return predicted(variants(), point, "dew_point_theory"); }

// Property (3). Scores of a simplex of d = n coordinates are off by d roundings, and an error of a
// gap 1 − ρ is one of β; n = 48 tokens, gaps of 1/2.
TEST(Variants, AreTheirOwnPredictionOnASimplex) {
  constexpr double tolerance = 4.0 * 48.0 * 0x1p-52 + 2.0 * observables::kDewPointError;
  for (const std::string mask : {"none", "causal", "window:10", "dilated:9:3", "global:8:4"})
    for (const std::string attention : {"softmax", "off-by-one", "sink:9", "sink:-3", "top:6"}) {
      const Point point = resolved({{"tokens", "simplex"},
                                    {"n", 48.0},
                                    {"mask", mask},
                                    {"attention", attention},
                                    {"rows", 16.0}});
      const double exact = theory_of(point);
      ASSERT_TRUE(std::isfinite(exact)) << mask << ' ' << attention;
      EXPECT_NEAR(number_named(point, "dew_point") / exact, 1.0, tolerance)
          << mask << ' ' << attention;
      EXPECT_EQ(number_named(point, "without_dew"), 0.0);
      EXPECT_TRUE(variants().deterministic(point));
    }
}

// The closed forms themselves, written out.
TEST(Variants, CountTheKeysInView) {
  const auto dew = [](const std::string& mask, const std::string& attention) {
    return theory_of(resolved({{"tokens", "simplex"},
                               {"n", 64.0},
                               {"rho", 0.25},
                               {"mask", mask},
                               {"attention", attention},
                               {"rows", 8.0}}));
  };
  EXPECT_DOUBLE_EQ(dew("none", "softmax"), std::log(63.0) / 0.75);
  EXPECT_DOUBLE_EQ(dew("window:20", "softmax"), std::log(19.0) / 0.75);
  EXPECT_DOUBLE_EQ(dew("dilated:20:2", "softmax"), std::log(19.0) / 0.75);
  EXPECT_DOUBLE_EQ(dew("global:20:5", "softmax"), std::log(24.0) / 0.75);
  EXPECT_DOUBLE_EQ(dew("none", "top:7"), std::log(6.0) / 0.75);
  // The last eight queries see 57 .. 64 keys.
  EXPECT_DOUBLE_EQ(dew("causal", "softmax"), 0.5 * (std::log(59.0) + std::log(60.0)) / 0.75);
  const double sunk = dew("none", "sink:7");
  EXPECT_NEAR(63.0 * std::exp(-0.75 * sunk) + std::exp(7.0 - sunk), 1.0, 1e-12);
}

// Keys without a place of honour. The law of the weights is that of v → ∞; at v = 2048 and with
// b_v in place of its limit it is good to a few percent.
TEST(Variants, FreezeLikeRandomEnergiesUnderRandomMatrices) {
  const auto heads = [](const std::string& projections) {
    return resolved({{"tokens", "sphere"},
                     {"d", 64.0},
                     {"n", 2048.0},
                     {"projections", projections},
                     {"rows", 32.0}});
  };
  const Point one = heads("orthogonal:1");
  expect_theory(variants(), one, over_replicas(variants(), one), "dew_point",
                0.05 * theory_of(one));
  EXPECT_DOUBLE_EQ(theory_of(heads("orthogonal:4")), 2.0 * theory_of(one));
}

TEST(Variants, KnowTheTheoryOfSpheresAndOfFluctuatingCorrelations) {
  const Point sphere = resolved({{"tokens", "sphere"}, {"d", 16.0}, {"n", 100.0}});
  EXPECT_EQ(theory_of(sphere), theory::sphere_critical_inverse_temperature(std::log(100.0), 16));
  const Point almost = resolved({{"d", 32.0}, {"n", 100.0}, {"rho", 0.3}});
  EXPECT_EQ(theory_of(almost), theory::annealed_critical_scale(std::log(100.0), 32, 0.3).value() *
                                   std::log(100.0) / 0.7);
  for (const Point& unknown : {Point{{"attention", "linear"}}, Point{{"attention", "top:4"}},
                               Point{{"rope", 100.0}}, Point{{"projections", "orthogonal:2"}}}) {
    EXPECT_TRUE(std::isnan(theory_of(resolved(unknown)))) << canonical_text(unknown);
  }
}

// Property (1).
TEST(Variants, MeasureOneReplicaOfTheirQuestion) {
  const Point point = resolved({{"n", 60.0}, {"d", 12.0}, {"mask", "causal"}, {"rows", 20.0}});
  experiments::VariantDew question;
  question.cloud.n = 60;
  question.cloud.d = 12;
  question.cloud.common = tokens::Common::fixed;
  question.form = attention::parse_layer_form("causal", "softmax", "none", 0.0);
  question.rows = 20;
  question.seed = seed();
  const auto sample = experiments::sample_variant_dew(question, 0, {});
  EXPECT_EQ(number_named(point, "dew_point"), sample.dew_point);
  EXPECT_EQ(number_named(point, "visible"), 50.5);
}

// Property (2).
TEST(Variants, TakeANumberInPlaceOfALetter) {
  EXPECT_EQ(resolved_text(variants(), {{"mask", "window:W"}, {"size", 256.0}}),
            resolved_text(variants(), {{"mask", "window:256"}}));
  EXPECT_EQ(resolved_text(variants(), {{"mask", "dilated:64:S"}, {"size", 4.0}}),
            resolved_text(variants(), {{"mask", "dilated:64:4"}}));
  EXPECT_EQ(resolved_text(variants(), {{"attention", "sink:B"}, {"size", 7.5}}),
            resolved_text(variants(), {{"attention", "sink:7.5"}}));
}

TEST(Variants, RefuseWhatTheyCannotDo) {
  expect_refused(variants(), {{"n", 2.0}}, "n: ");
  expect_refused(variants(), {{"rows", 2.0}}, "rows: ");
  expect_refused(variants(), {{"size", 64.0}}, "size: ");
  expect_refused(variants(), {{"mask", "window:W"}}, "size: ");
  expect_refused(variants(), {{"mask", "window:W"}, {"size", 2.5}}, "mask: ");
  expect_refused(variants(), {{"tokens", "sphere"}, {"d", 1.0}}, "d: ");
}

}  // namespace
}  // namespace dewpoint::studies
