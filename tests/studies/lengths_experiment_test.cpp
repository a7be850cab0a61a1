#include "dewpoint/studies/lengths_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/core/kernels.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"
#include "dewpoint/scaling/schedule.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "studies/experiment_values.hpp"

namespace dewpoint::studies {
namespace {

using namespace dewpoint::test;  // NOLINT(google-build-using-namespace)

Point resolved(const Point& given) { return lengths_experiment().resolved(given); }

double number_named(const Point& point, const std::string& name) {
  const auto values = replica_of(lengths_experiment(), point, seed(), 0);
  return measured(lengths_experiment(), point, values, name);
}

const std::vector<std::string> kLaws = {"constant",       "sqrt-log", "log-n",    "qwen",
                                        "ssmax",          "yarn",     "longrope", "llama-4",
                                        "llama-4:n0=100", "power",    "critical"};

// Property (1). A quotient of two multipliers that are the same number is 1.
TEST(Lengths, MakesEveryLawCriticalAtItsTrainingLength) {
  for (const std::string tokens : {"equicorrelated", "sphere"})
    for (const std::string& law : kLaws) {
      const Point at =
          resolved({{"tokens", tokens}, {"d", 12.0}, {"n", 64.0}, {"n0", 64.0}, {"law", law}});
      EXPECT_NEAR(number_named(at, "phase"), 1.0, 1e-15) << tokens << ' ' << law;
    }
  const Point longer = resolved({{"d", 12.0}, {"n", 256.0}, {"n0", 64.0}, {"law", "critical"}});
  EXPECT_EQ(number_named(longer, "phase"), 1.0);
}

// β is β_c(n0) times the schedule; the simplex has log(n − 1)/(1 − ρ), the sphere its own root. Two
// divisions and a product round.
TEST(Lengths, MultipliesTheCriticalTemperatureByTheSchedule) {
  constexpr double n0 = 64.0, n = 192.0, rounding = 1e-15;
  for (const std::string law : {"sqrt-log", "ssmax", "yarn", "llama-4"}) {
    const auto schedule = scaling::named_schedule(law, n0);
    const double ratio = scaling::multiplier(schedule, n) / scaling::multiplier(schedule, n0);
    const Point simplex = resolved({{"rho", 0.25}, {"n", n}, {"n0", n0}, {"law", law}});
    const double expected = std::log(63.0) / 0.75 * ratio;
    EXPECT_NEAR(number_named(simplex, "beta"), expected, 4.0 * rounding * expected) << law;
    EXPECT_NEAR(number_named(simplex, "phase"), ratio * std::log(63.0) / std::log(191.0),
                4.0 * rounding * ratio);
    const Point sphere =
        resolved({{"tokens", "sphere"}, {"d", 10.0}, {"n", n}, {"n0", n0}, {"law", law}});
    const double root = theory::sphere_critical_inverse_temperature(std::log(n0), 10) * ratio;
    EXPECT_NEAR(number_named(sphere, "beta"), root, 4.0 * rounding * root) << law;
  }
}

// β is in proportion; a strength of 1 leaves the point as it was, so that its cells are found.
TEST(Lengths, AStrengthMultipliesTheTemperature) {
  const Point plain = resolved({{"n", 192.0}, {"n0", 64.0}, {"law", "ssmax"}});
  const Point strong = resolved({{"n", 192.0}, {"n0", 64.0}, {"law", "ssmax"}, {"strength", 1.25}});
  EXPECT_EQ(number_named(strong, "beta"), 1.25 * number_named(plain, "beta"));
  EXPECT_EQ(
      canonical_text(resolved({{"n", 192.0}, {"n0", 64.0}, {"law", "ssmax"}, {"strength", 1.0}})),
      canonical_text(plain));
  EXPECT_THROW((void)resolved({{"strength", 0.0}}), Error);
}

// Property (2): every number that both give, to the last bit.
TEST(Lengths, MeasuresWhatAPhasePointMeasures) {
  const Point point = resolved(
      {{"n", 80.0}, {"d", 24.0}, {"n0", 32.0}, {"law", "yarn"}, {"alpha", 0.5}, {"eta", "exact"}});
  experiments::PhasePoint same;
  same.cloud.n = 80;
  same.cloud.d = 24;
  same.cloud.common = tokens::Common::fixed;
  same.inverse_temperature = number_named(point, "beta");
  same.residual = 0.5;
  same.norm->method = attention::NormMethod::exact;
  same.seed = seed();
  const Frame frame = experiments::phase_point(same, {1, {}, {}});
  for (const char* name : {"contraction", "mean_cosine", "entropy", "largest_weight",
                           "participation", "self_mass", "jacobian_norm"}) {
    EXPECT_EQ(number_named(point, name), frame.variable(name).cells[0].mean) << name;
  }
  EXPECT_EQ(number_named(point, "normalised_entropy"),
            number_named(point, "entropy") / std::log(80.0));
}

// On the exact simplex theory is the measurement, to the accuracy of float32: an exponent of size β
// rounded three times, sums over n keys, squares of weights.
TEST(Lengths, IsItsOwnPredictionOnASimplex) {
  for (const std::string law : {"constant", "ssmax", "yarn"}) {
    const Point point = resolved(
        {{"tokens", "simplex"}, {"n", 96.0}, {"n0", 24.0}, {"law", law}, {"eta", "exact"}});
    const double beta = number_named(point, "beta");
    const double tolerance = 4.0 * 0x1p-23 * (2.0 + 2.0 * beta + 96.0);
    const auto values = replica_of(lengths_experiment(), point, seed(), 0);
    for (const char* name : {"contraction", "entropy", "normalised_entropy", "largest_weight",
                             "participation", "self_mass", "jacobian_norm"}) {
      const double theory = predicted(lengths_experiment(), point, std::string(name) + "_theory");
      EXPECT_NEAR(measured(lengths_experiment(), point, values, name), theory, tolerance * theory)
          << law << ' ' << name;
    }
    EXPECT_TRUE(lengths_experiment().deterministic(point));
  }
}

// A layer of attention shrinks all differences on a simplex alike: n − 1 equal eigenvalues. The
// outputs are float32 sums; their relative errors enter the spectrum twice.
TEST(Lengths, FindsTheFullRankOfASimplexAtAnyTemperature) {
  for (const std::string law : {"constant", "yarn"}) {
    const Point point = resolved({{"tokens", "simplex"}, {"n", 60.0}, {"n0", 12.0}, {"law", law}});
    EXPECT_NEAR(number_named(point, "effective_rank"), 59.0, 59.0 * 59.0 * 0x1p-20) << law;
  }
}

// Beyond kAllRowsTokens some queries stand for all, and η ends at eta-most.
TEST(Lengths, SamplesQueriesOfLongContextsAndLeavesTheirJacobianOut) {
  const Point point = resolved({{"n", 20000.0},
                                {"d", 8.0},
                                {"rows", 40.0},
                                {"law", "critical"},
                                {"eta", "mixed"},
                                {"n0", 64.0}});
  EXPECT_EQ(lengths_experiment().parts(point), 1U);
  EXPECT_TRUE(std::isnan(number_named(point, "jacobian_norm")));
  EXPECT_GT(number_named(point, "effective_rank"), 1.0);
  const Point longer = resolved({{"n", 300000.0}, {"d", 3.0}, {"rows", 16.0}, {"n0", 64.0}});
  EXPECT_GT(lengths_experiment().parts(longer), 1U);
}

// Property (3): parts joined are the replica; whether in memory or not is decided by n alone, and
// streamed_rows_test.cpp compares the two.
TEST(Lengths, JoinsItsPartsToTheReplica) {
  const Point point = resolved({{"n", 270000.0}, {"d", 3.0}, {"rows", 16.0}, {"n0", 64.0}});
  const Experiment& lengths = lengths_experiment();
  std::vector<std::vector<double>> parts;
  for (std::size_t k = 0; k < lengths.parts(point); ++k) {
    parts.push_back(lengths.measure_part(point, seed(), 1, k, {}));
  }
  EXPECT_TRUE(
      same_bytes(lengths.join(point, seed(), 1, parts), replica_of(lengths, point, seed(), 1)));
}

TEST(Lengths, CompletesWhatItIsAskedFor) {
  const Point power = resolved({{"law", "power"}, {"d", 32.0}});
  EXPECT_EQ(word_of(power, "law"), "power:d=32");
  EXPECT_FALSE(has(power, "eta-most"));
  const Point sphere = resolved({{"tokens", "sphere"}});
  EXPECT_FALSE(has(sphere, "rho") || has(sphere, "common"));
  EXPECT_EQ(number_of(sphere, "d"), 64.0);
}

TEST(Lengths, RefusesWhatHasNoMeaning) {
  const Experiment& lengths = lengths_experiment();
  expect_refused(lengths, {{"law", "logarithm"}}, "law: ");
  expect_refused(lengths, {{"law", "yarn:d=3"}}, "law: ");
  expect_refused(lengths, {{"n0", 2.0}}, "n0: ");
  expect_refused(lengths, {{"n", 2.0}}, "n: ");
  expect_refused(lengths, {{"rows", 2.0}}, "rows: ");
  expect_refused(lengths, {{"rho", 1.0}}, "rho: ");
  expect_refused(lengths, {{"eta", "mixed"}, {"eta-most", 1e6}}, "eta-most: ");
  expect_refused(lengths, {{"tokens", "sphere"}, {"d", 1.0}}, "d: ");
}

}  // namespace
}  // namespace dewpoint::studies
