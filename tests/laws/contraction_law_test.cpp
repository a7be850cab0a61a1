// Measured contraction against an independent implementation and against theory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "laws/reference_table.hpp"
#include "support/test_seed.hpp"

namespace dewpoint {
namespace {

using test::kReferenceTable;

// With the fixed seed the published bound of 4 standard errors holds. Under a fresh seed 144
// comparisons at 4 would raise a false alarm too often, so they are allowed kSigmas.
double allowed_sigmas() {
  return std::getenv("DEWPOINT_TEST_SEED") == nullptr ? 4.0 : test::kSigmas;
}

// Both sides are means over clouds; the table's side adds the rounding of its four decimals, of the
// mean and of its standard error.
void expect_agreement(double reference, double reference_error, const Estimate& measured,
                      const std::string& what) {
  const double sigma = std::hypot(reference_error + test::kPrinted, measured.standard_error);
  EXPECT_NEAR(measured.mean, reference, allowed_sigmas() * sigma + test::kPrinted) << what;
}

std::size_t observable(const std::string& name) {
  const auto& names = experiments::kPhaseObservables;
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

TEST(ContractionLaw, AgreesWithTheReferenceTable) {
  using Tile = std::tuple<std::size_t, std::size_t, double>;
  std::map<Tile, std::vector<test::ReferenceRow>> tiles;
  for (const auto& row : kReferenceTable) tiles[{row.n, row.d, row.rho}].push_back(row);
  ASSERT_EQ(tiles.size(), 12U);

  for (const auto& [tile, rows] : tiles) {
    const auto [n, d, rho] = tile;
    experiments::PhasePoint point;
    point.cloud.n = n;
    point.cloud.d = d;
    point.norm.reset();  // jacobian_norm_law_test.cpp
    point.seed = test::seed();
    std::vector<double> gammas;
    for (const auto& row : rows) gammas.push_back(row.reduced_scale / (1.0 - rho));
    std::vector<experiments::PhaseMeans> means(rows.size());
    for (std::uint64_t replica = 0; replica < 48; ++replica) {
      const auto values = experiments::MapReplica(point, replica).row(rho, gammas, {});
      for (std::size_t g = 0; g < rows.size(); ++g) means[g].add(values[g]);
    }
    for (std::size_t g = 0; g < rows.size(); ++g) {
      const std::string what = "n=" + std::to_string(n) + " d=" + std::to_string(d) +
                               " rho=" + std::to_string(rho) +
                               " c=" + std::to_string(rows[g].reduced_scale);
      expect_agreement(rows[g].contraction, rows[g].contraction_error,
                       means[g].estimate(observable("contraction"), false), "contraction " + what);
      expect_agreement(rows[g].self_mass, rows[g].self_mass_error,
                       means[g].estimate(observable("self_mass"), false), "self mass " + what);
    }
  }
}

// Measured at n = 1024, ρ = 1/2 (2026-11): the annealed average puts the line at most 0.005 too
// high in c for d ≥ 64; self mass, a skewed function of the fluctuating log-odds, is at most 0.01
// from 1/2 where their mean is zero.
constexpr double kEmpiricalAnnealedShift = 0.005;
constexpr double kEmpiricalSkew = 0.01;

// At the annealed critical line the mean log-odds of the others against self are even: a typical
// token gives half of its attention to itself. The slope of self mass in c there is log(n)/4.
TEST(CriticalLine, IsWhereATypicalTokenReadsItselfHalfTheTime) {
  const double log_n = std::log(1024.0);
  for (const std::size_t d : {64U, 512U}) {
    const auto scale = theory::annealed_critical_scale(log_n, static_cast<int>(d), 0.5);
    ASSERT_TRUE(scale.has_value());
    experiments::PhasePoint point;
    point.cloud.n = 1024;
    point.cloud.d = d;
    point.cloud.common = tokens::Common::fixed;
    point.inverse_temperature = *scale * log_n / 0.5;
    point.norm.reset();
    point.replication.replicas = 16;
    point.seed = test::seed();
    const Frame frame = experiments::phase_point(point);
    const Estimate self = frame.variable("self_mass").cells[0];
    EXPECT_NEAR(self.mean, 0.5,
                kEmpiricalAnnealedShift * log_n / 4.0 + kEmpiricalSkew +
                    test::kSigmas * self.standard_error)
        << d;
  }
}

}  // namespace
}  // namespace dewpoint
