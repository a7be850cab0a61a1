#include "dewpoint/studies/experiment.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "dewpoint/core/error.hpp"
#include "studies/test_experiment.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

using test::TestExperiment;

TEST(ExperimentNamed, FindsEveryExperimentAndSuggestsOneForAMisspeltName) {
  std::set<std::string> names;
  for (const Experiment* experiment : experiments()) {
    EXPECT_EQ(&experiment_named(experiment->name()), experiment);
    EXPECT_TRUE(names.insert(experiment->name()).second) << experiment->name();
  }
  const std::string misspelt = experiments().front()->name() + "z";
  try {
    static_cast<void>(experiment_named(misspelt));
    FAIL() << misspelt;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("no experiment '" + misspelt + "'; did you mean '" +
                                 experiments().front()->name() + "'? Allowed: "))
        << error.what();
  }
}

TEST(SeedOfReplica, IsTheStudysOwnForTheFirstAndAnotherForEveryOther) {
  EXPECT_EQ(seed_of_replica(7, 0), 7U);
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t replica = 0; replica < 500; ++replica) {
      seeds.insert(seed_of_replica(seed, replica));
    }
  }
  EXPECT_EQ(seeds.size(), 8U * 500U);
}

// Stored numbers depend on it.
TEST(SeedOfReplica, IsThisOneForever) {
  EXPECT_EQ(seed_of_replica(7, 3), 16893306031563523725ULL);
  const auto words = Stream(7, "replica", 3).bits(0);
  EXPECT_EQ(seed_of_replica(7, 3), (std::uint64_t{words[1]} << 32) | words[0]);
}

TEST(WithDefaults, FillsInWhatIsMissingAndNothingElse) {
  const TestExperiment experiment;
  const Point point = with_defaults({{"x", 2.0}, {"n", 9.0}}, experiment.parameters());
  EXPECT_EQ(number_of(point, "x"), 2.0);
  EXPECT_EQ(count_of(point, "n"), 9U);
  EXPECT_EQ(word_of(point, "law"), "early");
  EXPECT_FALSE(flag_of(point, "quiet"));
  EXPECT_FALSE(has(point, "c"));
}

// Property (1) of Experiment::resolved.
TEST(TestExperiment, ResolvesAPointOnce) {
  const TestExperiment experiment;
  const Point once = experiment.resolved({{"c", 1.5}, {"law", std::string("late")}});
  EXPECT_EQ(number_of(once, "x"), 3.0);
  EXPECT_EQ(experiment.resolved(once), once);
}

TEST(TestExperiment, MeasuresItsTheory) {
  const TestExperiment experiment;
  const std::vector<Point> tile = {experiment.resolved({{"x", 0.5}}),
                                   experiment.resolved({{"x", 1.1}, {"pieces", 5.0}})};
  constexpr std::uint64_t replicas = 400;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    RunningMoments step;
    for (std::uint64_t replica = 0; replica < replicas; ++replica) {
      const auto values = experiment.measure(tile, test::seed(), replica, RunContext{});
      ASSERT_EQ(values.at(i).size(), TestExperiment::kValues);
      step.add(values[i][0]);
    }
    // The noise of a replica is the mean of its parts.
    const double deviation =
        TestExperiment::kNoise / std::sqrt(static_cast<double>(experiment.parts(tile[i])));
    EXPECT_NEAR(step.mean(), experiment.predict(tile[i])[0],
                test::kSigmas * deviation / std::sqrt(static_cast<double>(replicas)));
  }
}

}  // namespace
}  // namespace dewpoint::studies
