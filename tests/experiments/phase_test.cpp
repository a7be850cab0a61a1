#include "dewpoint/experiments/phase.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

PhaseMap small_map() {
  PhaseMap map;
  map.n = {96, 130};
  map.d = {4, 20};
  map.rho = {0.0, 0.5, 0.9};
  map.gamma = {0.5, 1.0, 1.3, 3.0};
  map.replication.replicas = 3;
  map.seed = test::seed();
  return map;
}

bool same_bytes(const Estimate& a, const Estimate& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Property (1).
TEST(PhaseMap, GivesEqualBytesForAnyNumberOfThreads) {
  const Frame one = phase_map(small_map(), {1, {}, {}});
  const Frame two = phase_map(small_map(), {2, {}, {}});
  for (const Variable& variable : one.variables()) {
    const Variable& other = two.variable(variable.name);
    for (std::size_t c = 0; c < variable.cells.size(); ++c) {
      EXPECT_TRUE(same_bytes(variable.cells[c], other.cells[c])) << variable.name << " " << c;
    }
  }
}

// Property (2): the cell (n=130, d=20, ρ=0.5, γ=1.3) asked for alone.
TEST(PhaseMap, ACellDoesNotDependOnTheOthers) {
  const Frame whole = phase_map(small_map());
  PhaseMap lone = small_map();
  lone.n = {130};
  lone.d = {20};
  lone.rho = {0.5};
  lone.gamma = {1.3};
  const Frame alone = phase_map(lone);
  for (const char* name : kPhaseObservables) {
    const Variable& variable = whole.variable(name);
    const std::size_t cell = whole.cell_index(variable, {1, 1, 1, 2});
    EXPECT_TRUE(same_bytes(variable.cells[cell], alone.variable(name).cells[0])) << name;
  }
}

// Property (3): the map climbs the ladder from the noise's Gram matrix, the point streams the
// tokens; the cloud is the same. Relative: twice the error of a weight (ladder, exponential, three
// roundings of an exponent up to β). Absolute, for cosines of single pairs: inner products of
// length 20.
TEST(PhaseMap, AgreesWithThePoint) {
  PhaseMap map = small_map();
  map.n = {130};
  map.d = {20};
  map.replication.replicas = 2;
  map.residual = 0.2;
  const Frame frame = phase_map(map);
  for (std::size_t r = 0; r < map.rho.size(); ++r) {
    for (std::size_t g = 0; g < map.gamma.size(); ++g) {
      PhasePoint point;
      point.cloud.n = 130;
      point.cloud.d = 20;
      point.cloud.rho = map.rho[r];
      point.inverse_temperature = map.gamma[g] * std::log(130.0);
      point.residual = 0.2;
      point.replication.replicas = 2;
      point.seed = test::seed();
      const Frame expected = phase_point(point);
      const double weight =
          attention::kLadderUlp + kernels::kExpUlp + 1.5 * point.inverse_temperature;
      const double relative = 2.0 * weight * 0x1p-23;
      const double absolute = 2.0 * 20.0 * 0x1p-23;
      for (const char* name : kPhaseObservables) {
        const Variable& variable = frame.variable(name);
        const Estimate got = variable.cells[frame.cell_index(variable, {0, 0, r, g})];
        const Estimate want = expected.variable(name).cells[0];
        EXPECT_NEAR(got.mean, want.mean, relative * std::abs(want.mean) + absolute) << name;
      }
    }
  }
}

TEST(PhasePoint, GivesEqualBytesForAnyNumberOfThreads) {
  PhasePoint point;
  point.cloud.n = 1100;
  point.cloud.d = 16;
  point.inverse_temperature = 12.0;
  for (const std::size_t replicas : {1U, 3U}) {
    for (const std::size_t rows : {0U, 200U}) {
      point.replication.replicas = replicas;
      point.rows = rows;
      const Frame one = phase_point(point, {1, {}, {}});
      const Frame two = phase_point(point, {2, {}, {}});
      for (const Variable& v : one.variables()) {
        EXPECT_TRUE(same_bytes(v.cells[0], two.variable(v.name).cells[0])) << v.name;
      }
    }
  }
}

TEST(PhasePoint, KnowsWhatItDoesNotKnow) {
  PhasePoint point;
  point.cloud.n = 64;
  EXPECT_TRUE(std::isnan(phase_point(point).variable("contraction").cells[0].standard_error));
  point.replication.replicas = 4;
  EXPECT_GT(phase_point(point).variable("contraction").cells[0].standard_error, 0.0);
  point.cloud.law = "simplex";
  point.cloud.d = 64;
  EXPECT_EQ(phase_point(point).variable("contraction").cells[0].standard_error, 0.0);
}

TEST(PhasePoint, AddsReplicasUntilTheTargetIsMet) {
  PhasePoint point;
  point.cloud.n = 64;
  point.inverse_temperature = 6.0;
  point.replication.target_error = 0.01;
  const Estimate met = phase_point(point).variable("contraction").cells[0];
  EXPECT_LE(met.standard_error, 0.01);
  EXPECT_GT(met.samples, 8U);
  point.replication.most = 20;
  point.replication.target_error = 1e-9;
  EXPECT_EQ(phase_point(point).variable("contraction").cells[0].samples, 20U);
}

// Where the products that temperatures share can no longer be trusted, a cell is a point.
TEST(PhaseMap, AColdCellIsThatOfThePoint) {
  PhaseMap map;
  map.cloud.common = tokens::Common::fixed;
  map.n = {64};
  map.d = {2};
  map.rho = {0.2};
  map.gamma = {2.0, 2e4};
  map.norm->method = attention::NormMethod::exact;
  const Frame cells = phase_map(map);
  PhasePoint point;
  point.cloud = map.cloud;
  point.cloud.n = 64;
  point.cloud.d = 2;
  point.cloud.rho = 0.2;
  point.inverse_temperature = 2e4 * std::log(64.0);
  point.norm = map.norm;
  const Frame cold = phase_point(point);
  for (const char* name : {"contraction", "self_mass", "jacobian_norm"}) {
    EXPECT_EQ(cells.variable(name).cells[1].mean, cold.variable(name).cells[0].mean) << name;
  }
}

// A fixed number of replicas gives the same first clouds: the target only adds more.
TEST(PhasePoint, SampledRowsAgreeWithAllRows) {
  PhasePoint point;
  point.cloud.n = 2000;
  point.cloud.d = 16;
  point.inverse_temperature = 12.0;
  point.seed = test::seed();
  const Frame all = phase_point(point);
  point.rows = 500;
  const Frame some = phase_point(point);
  const double error = some.variable("row_sampling_error").cells[0].mean;
  EXPECT_GT(error, 0.0);
  EXPECT_NEAR(some.variable("contraction").cells[0].mean, all.variable("contraction").cells[0].mean,
              test::kSigmas * error);
}

template <class Parameters>
std::string refusal(const Parameters& parameters,
                    Frame (*run)(const Parameters&, const RunContext&)) {
  try {
    (void)run(parameters, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(Phase, RefusesImpossibleParameters) {
  PhasePoint point;
  point.inverse_temperature = -1.0;
  EXPECT_EQ(refusal(point, phase_point), "beta: -1 is not a number in [0, 1e8]");
  point = {};
  point.residual = std::nan("");
  EXPECT_EQ(refusal(point, phase_point), "alpha: nan is not a number in [0, 1e6]");
  point = {};
  point.rows = 2;
  EXPECT_EQ(refusal(point, phase_point), "rows: 2 is neither 0 (all) nor within 3..n = 512");
  point = {};
  point.replication.replicas = 0;
  EXPECT_EQ(refusal(point, phase_point), "replicas: 0 is below 1");

  PhaseMap map;
  map.gamma = {-0.5};
  EXPECT_EQ(refusal(map, phase_map), "gamma: -0.5 is not a number in [0, 1e6]");
  map = {};
  map.cloud.law = "sphere";
  EXPECT_EQ(refusal(map, phase_map),
            "tokens: 'sphere' has no correlation rho to map over; use phase point");
  map = {};
  map.cloud.law = "cube";
  EXPECT_TRUE(refusal(map, phase_map).starts_with("tokens: 'cube' is not a token law"));
}

TEST(PhaseMap, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  try {
    (void)phase_map(small_map(), {2, source.get_token(), {}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::stopped);
  }
}

TEST(PhaseMap, ReportsProgressThatNeverFallsBack) {
  double last = 0.0;
  PhaseMap map = small_map();
  map.replication.replicas = 19;  // more than two batches
  const Progress progress = [&](double done, double total) {
    EXPECT_GE(done / total, last);
    last = done / total;
  };
  (void)phase_map(map, {2, {}, progress});
  EXPECT_DOUBLE_EQ(last, 1.0);
}

}  // namespace
}  // namespace dewpoint::experiments
