// Where the central limit theorem of attention over uniform keys is shown beside a measurement.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dewpoint/theory/sphere_clt.hpp"

namespace dewpoint::studies {

/// Below this n_eff, or where the law's own skewness is larger than this, the part of the output
/// along the query is not Gaussian, and the Gaussian law is not given. The second condition fails
/// first in many dimensions: there 2β reaches the edge of the keys while n_eff is still in the
/// hundreds.
inline constexpr double kLeastGaussianKeys = 7.0;
inline constexpr double kMostGaussianSkewness = 1.0;

/// Beyond it theory's moments of the sphere are not defined.
inline constexpr double kMostMomentBeta = 1e11;

struct ManyKeys {
  double parallel_variance;  // n Var⟨q, ATT⟩
  double skewness;           // of 1 − ⟨q, ATT⟩
};

/// Nothing where the theorem does not apply, or β is beyond the moments of theory.
[[nodiscard]] std::optional<ManyKeys> many_keys(const theory::SphereQuery& query);

}  // namespace dewpoint::studies
