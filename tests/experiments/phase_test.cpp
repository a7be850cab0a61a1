#include "dewpoint/experiments/phase.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {
namespace {

bool same_bytes(const Estimate& a, const Estimate& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

PhasePoint point_of_map() {
  PhasePoint point;
  point.cloud.n = 130;
  point.cloud.d = 20;
  point.residual = 0.2;
  point.seed = test::seed();
  return point;
}

// Property (1), with everything that may be shared: noise, exponentials and probes.
TEST(MapReplica, ACellDoesNotDependOnTheOthers) {
  for (const auto method : {attention::NormMethod::automatic, attention::NormMethod::hutchinson}) {
    PhasePoint point = point_of_map();
    point.norm->method = method;
    const MapReplica whole(point, 3);
    const std::vector<double> gammas = {0.5, 1.0, 1.3, 3.0};
    const auto row = whole.row(0.5, gammas, {2, {}, {}});
    (void)whole.row(0.9, gammas, {});
    EXPECT_EQ(whole.row(0.5, gammas, {1, {}, {}}), row);
    EXPECT_EQ(MapReplica(point, 3).row(0.5, std::vector{1.3}, {})[0], row[2]);
  }
}

// The map climbs the ladder from the noise's Gram matrix, the point streams the tokens; the cloud
// is the same. Relative: twice the error of a weight (ladder, exponential, three roundings of an
// exponent up to β). Absolute, for cosines of single pairs: inner products of length 20.
TEST(MapReplica, AgreesWithThePoint) {
  const std::vector<double> gammas = {0.5, 1.0, 1.3, 3.0};
  for (const double rho : {0.0, 0.5, 0.9}) {
    const auto row = MapReplica(point_of_map(), 1).row(rho, gammas, {});
    for (std::size_t g = 0; g < gammas.size(); ++g) {
      PhasePoint point = point_of_map();
      point.cloud.rho = rho;
      point.inverse_temperature = gammas[g] * std::log(130.0);
      const PhaseValues expected = sample_point(resolved(point), 1, {}).values;
      const double weight =
          attention::kLadderUlp + kernels::kExpUlp + 1.5 * point.inverse_temperature;
      const double relative = 2.0 * weight * 0x1p-23;
      const double absolute = 2.0 * 20.0 * 0x1p-23;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_NEAR(row[g][k], expected[k], relative * std::abs(expected[k]) + absolute)
            << kPhaseObservables[k];
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
TEST(MapReplica, AColdCellIsThatOfThePoint) {
  PhasePoint point;
  point.cloud.common = tokens::Common::fixed;
  point.cloud.n = 64;
  point.cloud.d = 2;
  point.norm->method = attention::NormMethod::exact;
  const auto cells = MapReplica(point, 0).row(0.2, std::vector{2.0, 2e4}, {});
  point.cloud.rho = 0.2;
  point.inverse_temperature = 2e4 * std::log(64.0);
  EXPECT_EQ(cells[1], sample_point(resolved(point), 0, {}).values);
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
}

}  // namespace
}  // namespace dewpoint::experiments
