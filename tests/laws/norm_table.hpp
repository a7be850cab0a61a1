// Jacobian norms of many clouds against a table of reference values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"
#include "laws/reference_table.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::test {

// With the fixed seed the published bound of 4 standard errors holds. Under a fresh seed so many
// comparisons at 4 would raise a false alarm too often, so they are allowed kSigmas.
inline double allowed_sigmas() {
  return std::getenv("DEWPOINT_TEST_SEED") == nullptr ? 4.0 : kSigmas;
}

// Both sides are means over clouds; the table's side adds the rounding of its four decimals, of the
// mean and of its standard error.
inline void expect_agreement(double reference, double reference_error, const Estimate& measured,
                             const std::string& what) {
  const double sigma = std::hypot(reference_error + kPrinted, measured.standard_error);
  EXPECT_NEAR(measured.mean, reference, allowed_sigmas() * sigma + kPrinted) << what;
}

// η at both norms, from one pass per cloud.
using BothNorms = std::array<double, 2>;

inline std::vector<BothNorms> norms_of_cloud(std::span<const ReferenceRow> rows,
                                             std::uint64_t replica) {
  const auto& [n, d, rho] = std::tie(rows[0].n, rows[0].d, rows[0].rho);
  const tokens::EquicorrelatedNoise noise(n, d, tokens::Common::random, seed(), replica);
  const TokenCloud unit = noise.cloud(rho, tokens::Norm::unit);
  const TokenCloud gauss = noise.cloud(rho, tokens::Norm::gauss_per_d);
  std::vector<double> gammas;
  for (const ReferenceRow& row : rows) gammas.push_back(row.reduced_scale / (1.0 - rho));
  attention::SweepOptions options;
  options.norm = attention::NormOptions{};
  options.norm->seed = seed();
  options.norm->replica = replica;
  std::vector<BothNorms> result;
  for (const auto& cell :
       attention::sweep(unit, tokens::EquicorrelatedGaps(noise, rho), gammas, options)) {
    result.push_back(
        {cell.norm->at(unit.norms, 0.0).total(), cell.norm->at(gauss.norms, 0.0).total()});
  }
  return result;
}

inline void expect_table(std::span<const ReferenceRow> table, std::size_t clouds) {
  using Tile = std::tuple<std::size_t, std::size_t, double>;
  std::map<Tile, std::vector<ReferenceRow>> tiles;
  for (const auto& row : table) tiles[{row.n, row.d, row.rho}].push_back(row);
  for (const auto& [tile, rows] : tiles) {
    std::vector<std::vector<BothNorms>> values(clouds);
    parallel_for(clouds, {},
                 [&, &rows = rows](std::size_t r) { values[r] = norms_of_cloud(rows, r); });
    for (std::size_t g = 0; g < rows.size(); ++g) {
      RunningMoments unit;
      RunningMoments gauss;
      for (const auto& cloud : values) {
        unit.add(cloud[g][0]);
        gauss.add(cloud[g][1]);
      }
      const std::string what =
          "n=" + std::to_string(rows[g].n) + " d=" + std::to_string(rows[g].d) +
          " rho=" + std::to_string(rows[g].rho) + " c=" + std::to_string(rows[g].reduced_scale);
      expect_agreement(rows[g].unit_norm, rows[g].unit_norm_error, unit.estimate(), "unit " + what);
      expect_agreement(rows[g].gauss_norm, rows[g].gauss_norm_error, gauss.estimate(),
                       "gauss " + what);
    }
  }
}

}  // namespace dewpoint::test
