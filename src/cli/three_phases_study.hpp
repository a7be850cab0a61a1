// Theorem C.2 of [CAS] as a study: where a row of attention goes among clusters as γ grows, exactly
// for any length and measured at one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

struct ThreePhases {
  double rho_rest = 0.1;                      // ρ_a, between clusters
  double rho_cluster = 0.7;                   // ρ_b, within a cluster
  double cluster_exponent = 0.7;              // τ: n^τ neighbours; γ_1 < γ_2 must exist
  std::vector<double> lengths = {1e6, 1e12};  // n, exact
  std::size_t measured_length = 1000;  // n, exact too: with the measured number of neighbours
  std::size_t cluster_size = 125;      // neighbours and token, at the measured length
  std::uint64_t seed = 1;
};

/// Frames "three_phases", "three_phases_measured" and "cluster_thresholds" of
/// report/three_phases.hpp, γ from 0 to 4. Tokens are a two-level simplex: nothing is random.
[[nodiscard]] store::StudyRecord three_phases_study(const ThreePhases& parameters, int threads,
                                                    const std::string& command);

}  // namespace dewpoint::cli
