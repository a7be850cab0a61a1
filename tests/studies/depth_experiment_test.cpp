#include "dewpoint/studies/depth_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dewpoint/attention/deep_layers.hpp"
#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/experiments/phase_depth.hpp"
#include "dewpoint/theory/random_heads.hpp"
#include "dewpoint/theory/simplex_depth.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::studies {
namespace {

const RunContext kOneThread{1, {}, {}};

Point resolved(const Point& given) { return depth_experiment().resolved(given); }

std::string word(const char* text) { return text; }

std::size_t positions(const Observable& observable) {
  std::size_t count = 1;
  for (const Dimension& dimension : observable.inner) count *= dimension.coordinates.size();
  return count;
}

std::size_t positions(const std::vector<Observable>& observables) {
  std::size_t count = 0;
  for (const Observable& observable : observables) count += positions(observable);
  return count;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Property (1): every variable of the frame, position by position, in the order of observables().
TEST(DepthExperiment, EqualsPhaseDepthBitForBit) {
  const Point point = resolved({{"n", 40.0},
                                {"d", 6.0},
                                {"gamma", 1.6},
                                {"layers", 3.0},
                                {"alpha", 0.2},
                                {"eta", word("auto")},
                                {"singular-values", 2.0},
                                {"probes", 3.0}});
  experiments::PhaseDepth p;
  p.cloud.n = 40;
  p.cloud.d = 6;
  p.gamma = {1.0, 1.6};
  p.layers = 3;
  p.residual = 0.2;
  p.end_to_end = experiments::EndToEnd{2, 3};
  p.replication.replicas = 3;
  p.seed = test::seed();
  const Frame frame = experiments::phase_depth(p);

  const auto observables = depth_experiment().observables(point);
  std::vector<RunningMoments> moments(positions(observables));
  for (std::size_t r = 0; r < 3; ++r) {
    const auto numbers = depth_experiment().measure({&point, 1}, test::seed(), r, kOneThread)[0];
    ASSERT_EQ(numbers.size(), moments.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) moments[k].add(numbers[k]);
  }
  EXPECT_EQ(observables.size(), frame.variables().size());
  std::size_t place = 0;
  for (const Observable& observable : observables) {
    const auto& cells = frame.variable(observable.name).cells;
    ASSERT_EQ(cells.size(), 2 * positions(observable)) << observable.name;
    for (std::size_t k = 0; k < positions(observable); ++k, ++place) {
      const Estimate& expected = cells[positions(observable) + k];  // the second γ
      const Estimate found = moments[place].estimate();
      EXPECT_TRUE(same(found.mean, expected.mean)) << observable.name << " " << k;
      EXPECT_TRUE(same(found.standard_error, expected.standard_error)) << observable.name;
    }
  }
}

// The recursion is exact and the layers are in double: errors of the logarithm of a gap at most
// treble from layer to layer (tests/attention/deep_layers_test.cpp), η is in float32.
TEST(DepthExperiment, OnASimplexTheMeasurementIsTheRecursion) {
  constexpr std::size_t n = 24;
  constexpr std::size_t layers = 5;
  const Point point = resolved({{"tokens", word("simplex")},
                                {"n", 24.0},
                                {"rho", 0.3},
                                {"c", 0.9},
                                {"layers", 5.0},
                                {"eta", word("exact")}});
  EXPECT_TRUE(depth_experiment().deterministic(point));
  const auto measured = depth_experiment().measure({&point, 1}, 1, 0, kOneThread)[0];
  const auto theory = depth_experiment().predict(point);
  ASSERT_EQ(theory.size(), positions(depth_experiment().predictions(point)));
  const theory::SimplexStack stack{std::log(24.0), 0.9 * std::log(24.0) / 0.7, 0.0};
  double bound = attention::deep_layer_error(n, n);
  const auto number = [&](std::size_t variable, std::size_t layer) {
    return measured[variable * (layers + 1) + layer];
  };
  for (std::size_t l = 0; l <= layers; ++l) {
    const double log_gap = theory[l] * std::log(10.0);
    EXPECT_NEAR(number(0, l) * std::log(10.0), log_gap, bound) << l;
    EXPECT_NEAR(number(2, l), theory[layers + 1 + l], bound * std::exp(log_gap) + 0x1p-50) << l;
    bound = 3.0 * bound + attention::deep_layer_error(n, n) +
            theory::simplex_step_error(stack, {1.0, log_gap});
    if (l == 0) continue;
    const double contraction = theory[2 * (layers + 1) + l];
    EXPECT_NEAR(number(6, l), contraction, 2.0 * bound * contraction) << l;
    const double norm = theory[3 * (layers + 1) + l];
    EXPECT_NEAR(number(9, l), norm, attention::kFastNormError * norm) << l;
  }
  EXPECT_TRUE(std::isnan(theory[2 * (layers + 1)])) << "no layer made the first tokens";
  EXPECT_NEAR(theory.back(), 1.0 / 0.7, 1e-15);
}

TEST(DepthExperiment, TheoryKnowsWhatItDoesNotDescribe) {
  const std::vector<Point> given = {{{"gamma", 1.0}, {"tokens", word("clustered")}},
                                    {{"gamma", 1.0}, {"rescale", true}},
                                    {{"gamma", 1.0}, {"mask", word("causal")}},
                                    {{"gamma", 0.0}}};
  for (const Point& point : given) {
    const auto theory = depth_experiment().predict(resolved(point));
    ASSERT_EQ(theory.size(), 3U * 13U + 1U);
    for (std::size_t k = 0; k + 1 < theory.size(); ++k) EXPECT_TRUE(std::isnan(theory[k]));
    const bool clusters = point.count("tokens") > 0;  // these have no single threshold
    EXPECT_TRUE(clusters ? std::isnan(theory.back()) : theory.back() == 2.0);
  }
}

TEST(DepthExperiment, RandomHeadsHaveTheirOwnTheory) {
  const Point point = resolved({{"tokens", word("sphere")},
                                {"n", 64.0},
                                {"d", 16.0},
                                {"c", 0.5},
                                {"layers", 3.0},
                                {"projections", word("orthogonal:2")},
                                {"eta", word("auto")},
                                {"end-to-end", true}});
  const auto theory = depth_experiment().predict(point);
  ASSERT_EQ(theory.size(), positions(depth_experiment().predictions(point)));
  const double log_n = std::log(64.0);
  const theory::RandomHeadStack stack{log_n, 16, 0.5 * std::sqrt(2.0 * log_n)};
  const auto states =
      theory::random_head_trajectory(theory::random_head_state(stack, 1.0, 0.0), stack, 3);
  // β is stored as γ = β/log n: two roundings, and as many of what is made of it.
  for (std::size_t l = 0; l <= 3; ++l) {
    EXPECT_NEAR(theory[l] * std::log(10.0), states[l].log_gap, 1e-9) << l;
    EXPECT_NEAR(theory[4 + l], 1.0 - states[l].gap(), 1e-9) << l;
    EXPECT_NEAR(theory[16 + l] / states[l].end_to_end(), 1.0, 1e-9) << l;
    if (l == 0) continue;
    EXPECT_NEAR(theory[8 + l] * states[l - 1].gap() / states[l].gap(), 1.0, 1e-9) << l;
    EXPECT_NEAR(theory[12 + l] / theory::random_head_gradient(states[l - 1], stack), 1.0, 1e-9);
  }
  // β_c = √(2 log n H d).
  EXPECT_NEAR(theory.back() * log_n, std::sqrt(2.0 * log_n * 2.0 * 16.0), 1e-12);
  const auto measured = depth_experiment().measure({&point, 1}, 1, 0, kOneThread)[0];
  EXPECT_EQ(measured.size(), positions(depth_experiment().observables(point)));
}

TEST(DepthExperiment, RandomHeadsOfOtherLayersHaveNone) {
  for (const Point& other : {Point{{"gamma", 1.0}, {"mask", word("causal")}},
                             Point{{"gamma", 1.0}, {"tokens", word("half-sphere")}},
                             Point{{"gamma", 1.0}, {"attention", word("sink:1")}}}) {
    Point point = other;
    point["projections"] = word("orthogonal:4");
    for (const double number : depth_experiment().predict(resolved(point))) {
      EXPECT_TRUE(std::isnan(number));
    }
  }
}

TEST(DepthExperiment, ObservablesFollowWhatIsAskedFor) {
  const auto names = [](const Point& point) {
    std::vector<std::string> found;
    for (const auto& observable : depth_experiment().observables(resolved(point))) {
      found.push_back(observable.name);
    }
    return found;
  };
  EXPECT_EQ(names({{"gamma", 1.0}}).back(), "unresolved_pairs");
  EXPECT_EQ(names({{"gamma", 1.0}, {"eta", word("auto")}}).back(), "jacobian_norm");
  EXPECT_EQ(names({{"gamma", 1.0}, {"singular-values", 3.0}}).back(), "singular_value");
  EXPECT_EQ(names({{"gamma", 1.0}, {"end-to-end", true}}).back(), "end_to_end_norm");
  const auto last =
      depth_experiment().observables(resolved({{"gamma", 1.0}, {"singular-values", 3.0}})).back();
  EXPECT_EQ(last.inner[0].coordinates.size(), 13U);
  EXPECT_EQ(last.inner[1].coordinates, (std::vector<double>{1.0, 2.0, 3.0}));
}

TEST(DepthExperiment, ResolvingAgainChangesNothing) {
  const std::vector<Point> given = {
      {{"c", 1.1}, {"rho", 0.3}},
      {{"gamma", 2.0}, {"singular-values", 2.0}, {"norm", word("gauss")}},
      {{"beta", 7.0}, {"tokens", word("sphere")}, {"probes", 5.0}},
      {{"gamma", 2.0}, {"end-to-end", true}},
      {{"c", 0.7}, {"tokens", word("sphere")}, {"projections", word("orthogonal:4")}}};
  for (const Point& point : given) {
    const Point once = resolved(point);
    EXPECT_EQ(canonical_text(resolved(once)), canonical_text(once));
  }
  EXPECT_EQ(canonical_text(resolved({{"gamma", 1.0}, {"probes", 5.0}, {"norm", word("gauss")}})),
            canonical_text(resolved({{"gamma", 1.0}})));
  EXPECT_NE(canonical_text(resolved(given[1])),
            canonical_text(resolved({{"gamma", 2.0}, {"singular-values", 2.0}})));
}

TEST(DepthExperiment, BadPointsAreNamed) {
  const auto complaint = [](const Point& given) {
    try {
      (void)resolved(given);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"layers", 0.0}}),
            "layers: 0 is not a whole number in [1, 1e5]");
  EXPECT_EQ(complaint({{"gamma", 1.0}, {"n", 4.0}, {"d", 2.0}, {"singular-values", 8.0}}),
            "singular-values: 8 is not below n d = 8");
  EXPECT_EQ(complaint({{"c", 1.0}, {"gamma", 1.0}}),
            "c: 1 is given beside gamma; allowed: one of them");
  EXPECT_EQ(
      complaint({{"c", 1.0},
                 {"tokens", word("sphere")},
                 {"mask", word("causal")},
                 {"projections", word("orthogonal:1")}}),
      "c: where mask causal, projections orthogonal:1 on tokens 'sphere' freeze is not known; "
      "use gamma or beta");
}

}  // namespace
}  // namespace dewpoint::studies
