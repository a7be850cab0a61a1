// Finite-size scaling as a study: near the transition, contraction and Jacobian norm depend on
// length and temperature through x = (c − 1) log n alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

struct ScalingCollapse {
  double rho = 0.5;
  std::vector<double> lengths = {128, 512, 1e4, 1e6, 1e8};  // n = d, exact; e⁴ at least
  std::vector<std::size_t> measured_lengths = {128, 512};   // n = d
  std::uint64_t seed = 1;
};

/// Frames "scaling_collapse", "crossover" and "scaling_collapse_measured" of
/// report/scaling_collapse.hpp, x from −4 to 6. Tokens are a simplex: nothing is random.
[[nodiscard]] store::StudyRecord scaling_collapse_study(const ScalingCollapse& parameters,
                                                        int threads, const std::string& command);

}  // namespace dewpoint::cli
