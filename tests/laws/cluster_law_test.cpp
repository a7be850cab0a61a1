// Masses of self, cluster and rest on the exact two-level simplex against their closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/theory/two_level_simplex.hpp"

namespace dewpoint {
namespace {

// float32 weights: the exponent x = βΔ is rounded three times, the sum over 240 tokens once per
// token, and a mass is a ratio of two such sums.
double float_tolerance(double largest_exponent, std::size_t n) {
  constexpr double eps = std::numeric_limits<float>::epsilon();
  return 2.0 * eps * (2.0 + 2.0 * largest_exponent + static_cast<double>(n));
}

TEST(ClusterLaw, MassesOfTheTwoLevelSimplexAreTheirClosedForm) {
  constexpr std::size_t n = 240, p = 12;
  const double log_n = std::log(static_cast<double>(n));
  for (const double gamma : {0.0, 0.25, 0.5, 1.5, 3.0, 6.0}) {
    experiments::PhasePoint point;
    point.cloud.law = "two-level";
    point.cloud.n = n;
    point.cloud.rho = 0.1;
    point.cloud.rho_inner = 0.7;
    point.cloud.cluster_size = p;
    point.inverse_temperature = gamma * log_n;
    const Frame frame = experiments::phase_point(point);
    const theory::TwoLevelSimplex simplex{std::log(p - 1.0), std::log(static_cast<double>(n - p)),
                                          0.7, 0.1};
    const auto masses = theory::two_level_masses(simplex, point.inverse_temperature);
    const double tolerance = float_tolerance(0.9 * point.inverse_temperature, n);
    EXPECT_NEAR(frame.variable("self_mass").cells[0].mean, masses.self, tolerance) << gamma;
    EXPECT_NEAR(frame.variable("cluster_mass").cells[0].mean, masses.cluster, tolerance) << gamma;
    EXPECT_NEAR(frame.variable("rest_mass").cells[0].mean, masses.rest, tolerance) << gamma;
    EXPECT_EQ(frame.variable("self_mass").cells[0].standard_error, 0.0);  // nothing is random
  }
}

constexpr std::size_t kClusterMass = 8;
static_assert(std::string_view(experiments::kPhaseObservables[kClusterMass]) == "cluster_mass");

// The same through the map's own path.
TEST(ClusterLaw, MapAndPointAgreeOnClusters) {
  experiments::PhasePoint point;
  point.cloud.law = "two-level";
  point.cloud.n = 240;
  point.cloud.rho = 0.1;
  point.cloud.rho_inner = 0.7;
  point.cloud.cluster_size = 12;
  point.norm.reset();
  const experiments::MapReplica map(experiments::resolved(point), 0);
  const experiments::PhaseValues cell = map.row(0.1, std::vector{1.5}, {})[0];
  const theory::TwoLevelSimplex simplex{std::log(11.0), std::log(228.0), 0.7, 0.1};
  const double beta = 1.5 * std::log(240.0);
  const auto masses = theory::two_level_masses(simplex, beta);
  EXPECT_NEAR(cell[kClusterMass], masses.cluster,
              float_tolerance(0.9 * beta, 240) + 40 * std::numeric_limits<float>::epsilon());
}

// Gaussian clusters approach the exact ones: correlations fluctuate by 1/√d, so with d = 1024 the
// log-odds of a mass move by about β/√d · (a few) = 0.5; only the order of the phases is claimed.
TEST(ClusterLaw, GaussianClustersPassThroughTheSamePhases) {
  const auto masses = [](double gamma) {
    experiments::PhasePoint point;
    point.cloud.law = "clustered";
    point.cloud.n = 900;
    point.cloud.d = 512;
    point.cloud.rho = 0.1;
    point.cloud.rho_inner = 0.7;
    point.cloud.cluster_size = 100;
    point.inverse_temperature = gamma * std::log(900.0);
    return experiments::phase_point(point);
  };
  EXPECT_GT(masses(0.05).variable("rest_mass").cells[0].mean, 0.7);
  EXPECT_GT(masses(1.5).variable("cluster_mass").cells[0].mean, 0.7);
  EXPECT_GT(masses(5.0).variable("self_mass").cells[0].mean, 0.9);
}

}  // namespace
}  // namespace dewpoint
