// Where the edge of a law of scores is expected to freeze.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::studies {

/// β_edge, the hazard of the scores at their upper 1/n quantile; nothing for laws with atoms.
[[nodiscard]] std::optional<double> edge_of(const scores::TopLaw& law, double n);

}  // namespace dewpoint::studies
