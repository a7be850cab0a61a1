// The numbers of one cell of a phase diagram: everything that one layer at one temperature tells
// about one cloud, and the running means over clouds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/observables/contraction.hpp"
#include "dewpoint/observables/row_observables.hpp"

namespace dewpoint::experiments {

/// Names of the observables of a cell, in storage order (docs/guide/phase.md).
inline constexpr std::array<const char*, 11> kPhaseObservables = {
    "contraction",  "smallest_cosine", "mean_cosine",   "largest_cosine",
    "entropy",      "largest_weight",  "participation", "self_mass",
    "cluster_mass", "rest_mass",       "jacobian_norm"};
/// The last of them, which may not be asked for: frames then have no variable of this name.
inline constexpr std::size_t kJacobianNorm = kPhaseObservables.size() - 1;

/// One value per observable.
using PhaseValues = std::array<double, kPhaseObservables.size()>;

/// `norm`: η, or NaN where it was not asked for.
[[nodiscard]] PhaseValues phase_values(const observables::Contraction& pairs,
                                       const observables::RowMeans& rows, double norm);

/// Means over replicas, added in replica order.
class PhaseMeans {
 public:
  void add(const PhaseValues& values);
  /// `exact`: the law has no randomness, so that one replica is the truth and its error is 0.
  [[nodiscard]] Estimate estimate(std::size_t observable, bool exact) const;

 private:
  std::array<RunningMoments, kPhaseObservables.size()> means_;
};

}  // namespace dewpoint::experiments
