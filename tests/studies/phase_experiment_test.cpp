#include "dewpoint/studies/phase_experiment.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

const RunContext kOneThread{1, {}, {}};

Point resolved(const Point& given) { return phase_experiment().resolved(given); }

std::string word(const char* text) { return text; }

bool same_bytes(const Estimate& a, const Estimate& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Position of an observable among the numbers of a replica.
std::size_t place_of(const Point& point, const std::string& name) {
  const auto observables = phase_experiment().observables(point);
  for (std::size_t k = 0; k < observables.size(); ++k) {
    if (observables[k].name == name) return k;
  }
  ADD_FAILURE() << "no observable " << name;
  return 0;
}

// Numbers that are not known are equal, too.
std::vector<std::uint64_t> bits_of(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> bits;
  for (const double number : numbers) {
    bits.push_back(std::isnan(number) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(number));
  }
  return bits;
}

// The mean over replicas of every number of every point of a tile, as a study makes it.
std::vector<std::vector<Estimate>> studied(const std::vector<Point>& tile, std::size_t replicas) {
  const std::size_t numbers = phase_experiment().observables(tile[0]).size();
  std::vector<std::vector<RunningMoments>> moments(tile.size(),
                                                   std::vector<RunningMoments>(numbers));
  for (std::size_t r = 0; r < replicas; ++r) {
    const auto values = phase_experiment().measure(tile, test::seed(), r, kOneThread);
    for (std::size_t p = 0; p < tile.size(); ++p) {
      EXPECT_EQ(values[p].size(), numbers);
      for (std::size_t k = 0; k < numbers; ++k) moments[p][k].add(values[p][k]);
    }
  }
  std::vector<std::vector<Estimate>> estimates(tile.size());
  for (std::size_t p = 0; p < tile.size(); ++p) {
    for (const RunningMoments& one : moments[p]) estimates[p].push_back(one.estimate());
  }
  return estimates;
}

std::optional<attention::NormOptions> norm_named(const std::string& word) {
  return norm_of(question::question_of<experiments::NormQuestion>({{"eta", word}}));
}

Point map_point(const std::string& law, double rho, double gamma, const char* eta) {
  return resolved({{"tokens", law},
                   {"n", 96.0},
                   {"d", 20.0},
                   {"rho", rho},
                   {"alpha", 0.25},
                   {"gamma", gamma},
                   {"eta", word(eta)}});
}

// Property (1) for what shares clouds: on the ladder of γ, between its rungs, and where it is too
// cold for either. Rows of several ρ in any order of cells.
TEST(PhaseExperiment, EqualsTheCellsOfAMapBitForBit) {
  for (const std::string law : {"equicorrelated", "clustered"}) {
    for (const char* eta : {"none", "auto", "hutchinson"}) {
      std::vector<Point> tile;
      for (const double gamma : {0.5, 1.3, 3.0, 2e4}) {
        for (const double rho : {0.0, 0.5}) tile.push_back(map_point(law, rho, gamma, eta));
      }
      experiments::PhasePoint point;
      point.cloud.law = law;
      point.cloud.n = 96;
      point.cloud.d = 20;
      point.residual = 0.25;
      point.norm = norm_named(eta);
      point.seed = test::seed();
      for (const std::uint64_t replica : {0U, 2U}) {
        const auto numbers = phase_experiment().measure(tile, test::seed(), replica, {2, {}, {}});
        const experiments::MapReplica map(experiments::resolved(point), replica);
        for (std::size_t p = 0; p < tile.size(); ++p) {
          const double gamma = number_of(tile[p], "gamma");
          const auto cell = map.row(number_of(tile[p], "rho"), {{gamma}}, kOneThread)[0];
          const std::vector<double> expected(cell.begin(), cell.begin() + numbers[p].size());
          EXPECT_EQ(bits_of(numbers[p]), bits_of(expected)) << law << " " << eta << " " << p;
        }
      }
    }
  }
}

// Property (2).
TEST(PhaseExperiment, APointDoesNotDependOnItsTile) {
  std::vector<Point> tile;
  for (const double gamma : {0.3, 1.0, 1.25, 2.2}) {
    for (const double rho : {0.5, 0.75}) {
      tile.push_back(map_point("equicorrelated", rho, gamma, "auto"));
    }
  }
  const auto together = phase_experiment().measure(tile, test::seed(), 4, kOneThread);
  for (std::size_t p = 0; p < tile.size(); ++p) {
    const std::span<const Point> alone(&tile[p], 1);
    EXPECT_EQ(phase_experiment().measure(alone, test::seed(), 4, {2, {}, {}})[0], together[p]);
  }
}

// Property (1) for what only a point can do.
TEST(PhaseExperiment, EqualsThePhasePointBitForBit) {
  const std::vector<Point> given = {
      {{"mask", word("causal")}, {"eta", word("auto")}},
      {{"mask", word("window:7")}, {"attention", word("off-by-one")}},
      {{"rows", 20.0}, {"tokens", word("clustered")}},
      {{"rows", 20.0}, {"eta", word("auto")}},
      {{"tokens", word("sphere")}, {"eta", word("exact")}},
      {{"tokens", word("half-sphere")}, {"alpha", 0.5}, {"norm", word("gauss")}}};
  for (Point point : given) {
    point.insert({{"n", 96.0}, {"d", 12.0}, {"gamma", 1.7}});
    const Point full = resolved(point);
    experiments::PhasePoint p;
    p.cloud.law = has(point, "tokens") ? word_of(point, "tokens") : "equicorrelated";
    p.cloud.n = 96;
    p.cloud.d = 12;
    if (has(point, "norm")) p.cloud.norm = tokens::Norm::gauss;
    p.inverse_temperature = 1.7 * std::log(96.0);
    p.residual = has(point, "alpha") ? 0.5 : 0.0;
    p.rows = has(point, "rows") ? 20 : 0;
    if (has(point, "mask")) p.form.mask = attention::parse_key_pattern(word_of(point, "mask"));
    if (has(point, "attention")) {
      p.form = attention::parse_layer_form(word_of(point, "mask"), word_of(point, "attention"),
                                           "none", 0.0);
    }
    p.norm = norm_named(has(point, "eta") ? word_of(point, "eta") : "none");
    p.replication.replicas = 2;
    p.seed = test::seed();
    const Frame frame = experiments::phase_point(p);
    const auto estimates = studied({full}, 2);
    std::size_t compared = 0;
    for (const Variable& variable : frame.variables()) {
      if (variable.name == "norm_sampling_error") continue;
      EXPECT_TRUE(same_bytes(estimates[0][place_of(full, variable.name)], variable.cells[0]))
          << canonical_text(full) << " " << variable.name;
      ++compared;
    }
    EXPECT_EQ(compared, estimates[0].size());
  }
}

// 0.4/(1 − 0.5) and 0.8 log 100/log 100: exact, and within two roundings.
TEST(PhaseExperiment, KeepsEveryTemperatureAsGamma) {
  const Point by_gamma = resolved({{"gamma", 0.8}, {"n", 100.0}});
  EXPECT_EQ(canonical_text(resolved({{"c", 0.4}, {"n", 100.0}})), canonical_text(by_gamma));
  const Point by_beta = resolved({{"beta", 0.8 * std::log(100.0)}, {"n", 100.0}});
  EXPECT_NEAR(number_of(by_beta, "gamma"), 0.8, 2.0 * 0x1p-53);
  EXPECT_FALSE(has(by_beta, "beta"));
  const auto units = phase_experiment().units();
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].stands_for, "c");
}

// As a law of beta says it, and 1 where nothing is said.
TEST(PhaseExperiment, HasATemperatureInEveryCase) {
  const auto gamma = [](const Point& given) { return number_of(resolved(given), "gamma"); };
  EXPECT_EQ(gamma({}), 1.0);
  EXPECT_EQ(gamma({{"law", word("constant")}, {"strength", 3.0}}), gamma({{"beta", 3.0}}));
  EXPECT_NEAR(gamma({{"law", word("log")}, {"strength", 1.7}}), 1.7, 2.0 * 0x1p-52);
  EXPECT_NEAR(gamma({{"law", word("log")}}), 1.0, 2.0 * 0x1p-53);
}

TEST(PhaseExperiment, OneCloudIsOnePoint) {
  const auto text = [](Point point) {
    point["gamma"] = 1.0;
    return canonical_text(resolved(point));
  };
  const std::string sphere = word("sphere");
  EXPECT_EQ(text({{"tokens", sphere}, {"rho", 0.2}, {"common", word("fixed")}}),
            text({{"tokens", sphere}}));
  EXPECT_EQ(text({{"rho-inner", 0.9}, {"cluster-size", 4.0}, {"d", 0.0}}), text({{"d", 64.0}}));
  EXPECT_EQ(text({{"norm", word("gauss")}, {"eta-error", 0.5}}), text({}));
  EXPECT_NE(text({{"norm", word("gauss")}, {"alpha", 0.5}}), text({{"alpha", 0.5}}));
  EXPECT_NE(text({{"norm", word("gauss")}, {"eta", word("auto")}}), text({{"eta", word("auto")}}));
  EXPECT_NE(text({{"common", word("fixed")}}), text({}));
  EXPECT_NE(text({{"tokens", word("clustered")}, {"rho-inner", 0.9}}),
            text({{"tokens", word("clustered")}}));
}

TEST(PhaseExperiment, ResolvingAgainChangesNothing) {
  const std::vector<Point> given = {
      {{"c", 1.1}, {"rho", 0.3}},
      {{"beta", 7.0}, {"tokens", word("sphere")}, {"d", 7.0}},
      {{"gamma", 2.0}, {"tokens", word("simplex")}, {"n", 32.0}, {"eta", word("exact")}},
      {{"gamma", 2.0}, {"eta", word("mixed")}, {"eta-probes", 3.0}, {"mask", word("window:9")}},
      {{"gamma", 2.0}, {"tokens", word("clustered")}, {"rows", 30.0}}};
  for (const Point& point : given) {
    const Point once = resolved(point);
    EXPECT_EQ(canonical_text(resolved(once)), canonical_text(once));
  }
}

std::string complaint(const Point& given) {
  try {
    (void)resolved(given);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(PhaseExperiment, BadPointsAreNamed) {
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"beta", 2.0}}),
            "beta: 2 is given beside gamma; allowed: one of them");
  EXPECT_EQ(complaint({{"gamma", -1.0}}), "gamma: -1 is not a number in [0, 1e6]");
  EXPECT_EQ(complaint({{"c", 1.0}, {"tokens", word("sphere")}}),
            "c: tokens 'sphere' have no correlation rho to reduce a scale by; use gamma or beta");
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"rho", 1.0}}), "rho: 1 is not a number in [0, 1)");
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"alpha", -2.0}}), "alpha: -2 is not a number in [0, 1e6]");
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"rows", 2.0}}),
            "rows: 2 is neither 0 (all) nor within 3..n = 512");
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"rows", 64.0}, {"n", 1e6}, {"eta", word("auto")}}),
            "eta: the Jacobian norm needs the whole cloud, which sampled rows of n = 1000000 >= "
            "262144 tokens do without; use eta none, or rows 0");
}

// float32: kSweepError where no weight is above 1/2 (c < 1), and four times the layer's error for
// η, of fourth order in the weights, each also off by the ladder's.
TEST(PhaseExperiment, OnASimplexTheMeasurementIsTheTheory) {
  for (const double c : {0.5, 0.75}) {
    const Point point = resolved({{"tokens", word("simplex")},
                                  {"n", 128.0},
                                  {"rho", 0.5},
                                  {"c", c},
                                  {"alpha", 0.3},
                                  {"eta", word("exact")}});
    EXPECT_TRUE(phase_experiment().deterministic(point));
    const auto values = phase_experiment().measure({&point, 1}, 1, 0, kOneThread)[0];
    const auto theory = phase_experiment().predict(point);
    ASSERT_EQ(theory.size(), phase_experiment().predictions(point).size());
    EXPECT_NEAR(values[0], theory[0], attention::kSweepError * theory[0]);
    EXPECT_NEAR(values[place_of(point, "jacobian_norm")], theory[1],
                2.0 * attention::kSweepError * 2.0 * theory[1]);
    EXPECT_EQ(theory[2], 2.0);
  }
}

TEST(PhaseExperiment, TheoryKnowsWhatItDoesNotDescribe) {
  const Point sphere = resolved({{"tokens", word("sphere")}, {"gamma", 1.0}});
  for (const double value : phase_experiment().predict(sphere)) EXPECT_TRUE(std::isnan(value));
  const Point masked = resolved({{"mask", word("causal")}, {"gamma", 1.0}, {"rho", 0.75}});
  const auto theory = phase_experiment().predict(masked);
  EXPECT_TRUE(std::isnan(theory[0]));
  EXPECT_EQ(theory[1], 4.0);
  EXPECT_TRUE(std::isnan(theory[2]));
  EXPECT_FALSE(phase_experiment().deterministic(masked));
}

// The line at finite dimension is that of the tokens it describes, where its formula is defined;
// asked for again, it is remembered.
TEST(PhaseExperiment, KnowsTheCriticalLineAtFiniteDimension) {
  const auto line = [](const Point& given) {
    const Point point = resolved(given);
    const auto predictions = phase_experiment().predictions(point);
    EXPECT_EQ(predictions.back().name, "critical_gamma_at_finite_d");
    const auto known = phase_experiment().predict(point);
    EXPECT_EQ(bits_of(known), bits_of(phase_experiment().predict(point)));
    return known.back();
  };
  for (const double rho : {0.0, 0.75}) {
    const Point given = {{"n", 256.0}, {"d", 64.0}, {"rho", rho}, {"gamma", 1.0}};
    const auto scale = theory::annealed_critical_scale(std::log(256.0), 64, rho);
    EXPECT_EQ(line(given), scale.value() / (1.0 - rho));
    Point simplex = given;
    simplex["tokens"] = word("simplex");
    simplex["d"] = 0.0;
    EXPECT_TRUE(std::isnan(line(simplex)));
  }
  EXPECT_TRUE(std::isnan(line({{"n", 2.0}, {"gamma", 1.0}})));
  EXPECT_TRUE(std::isnan(line({{"d", 5000.0}, {"gamma", 1.0}})));
  EXPECT_TRUE(std::isnan(line({{"rho", 0.995}, {"gamma", 1.0}})));
  EXPECT_TRUE(std::isnan(line({{"rho", 0.5}, {"d", 2.0}, {"n", 4096.0}, {"gamma", 1.0}})));
}

// Sampled rows of many tokens come in parts; joined they are the whole, bit for bit.
TEST(PhaseExperiment, PartsOfAHugePointJoinToTheWhole) {
  const Point point = resolved({{"n", 262144.0}, {"d", 3.0}, {"rows", 12.0}, {"gamma", 1.0}});
  const std::size_t count = phase_experiment().parts(point);
  EXPECT_EQ(count, 4U);
  std::vector<std::vector<double>> parts;
  for (std::size_t k = 0; k < count; ++k) {
    parts.push_back(phase_experiment().measure_part(point, test::seed(), 1, k, kOneThread));
  }
  const auto joined = phase_experiment().join(point, test::seed(), 1, parts);
  EXPECT_EQ(joined, phase_experiment().measure({&point, 1}, test::seed(), 1, {2, {}, {}})[0]);
  EXPECT_GT(joined[place_of(point, "row_sampling_error")], 0.0);
  EXPECT_EQ(phase_experiment().parts(resolved({{"n", 262143.0}, {"rows", 12.0}, {"gamma", 1.0}})),
            1U);
}

TEST(PhaseExperiment, WorkGrowsWithTheProblem) {
  const auto work = [](Point point) {
    point["gamma"] = 1.0;
    return phase_experiment().work(resolved(point));
  };
  EXPECT_GT(work({{"n", 1024.0}}), 3.9 * work({{"n", 512.0}}));
  EXPECT_GT(work({{"eta", word("auto")}}), work({}));
  EXPECT_LT(work({{"n", 65536.0}, {"rows", 64.0}}), work({{"n", 65536.0}}));
  EXPECT_GT(work({{"n", 1e8}, {"rows", 64.0}}), 99.0 * work({{"n", 1e6}, {"rows", 64.0}}));
}

}  // namespace
}  // namespace dewpoint::studies
