// The studies behind the figures of [SL], and the one of dew points: what is measured, with the
// theory's curves beside it, in the frames that report/ draws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/figure_study.hpp"

namespace dewpoint::cli {

/// Ordered weights of uniform keys at θ = 1, their limit law, and the approach to it:
/// report/critical_weights.hpp.
[[nodiscard]] store::StudyRecord critical_weights_study(const StudyEffort& effort);

/// Clouds of outputs below criticality with their Gaussian law: report/output_fluctuations.hpp.
[[nodiscard]] store::StudyRecord output_study(const StudyEffort& effort);

/// The same through a value matrix that is not the identity.
[[nodiscard]] store::StudyRecord values_study(const StudyEffort& effort);

/// Drift, noise and growth of harmonics: report/backward_heat.hpp.
[[nodiscard]] store::StudyRecord backward_heat_study(const StudyEffort& effort);

/// Dew points of the simplex, of Gaussian scores and of spheres: report/dew_points.hpp.
[[nodiscard]] store::StudyRecord dew_points_study(const StudyEffort& effort);

}  // namespace dewpoint::cli
