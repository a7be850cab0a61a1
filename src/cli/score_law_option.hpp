// A law of scores as an option of a verb.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "dewpoint/core/distributions/depth_distribution.hpp"

namespace dewpoint::cli {

/// "Law of the scores: gaussian:sigma=1, sphere:d=..., ...", from the table of laws.
[[nodiscard]] std::string score_law_help();

/// A law whose scores are independent with a density.
struct ContinuousLaw {
  std::string name;  // with every parameter
  std::shared_ptr<const DepthDistribution> depth;
  double origin;  // score of depth 0
};

/// Throws Error{bad_value} for an unknown law, and for one with atoms or a random query.
[[nodiscard]] ContinuousLaw continuous_law(const std::string& text);

}  // namespace dewpoint::cli
