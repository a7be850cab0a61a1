// The statistics and the output of a head, written once plainly: double, one key after the other,
// the formulas of core/head_row.hpp and of observables/dew_point.hpp and nothing else. For tests
// and for checks before timing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/attention/head.hpp"

namespace dewpoint::attention {

/// What measure_rows promises.
[[nodiscard]] std::vector<HeadRow> reference_rows(const Head& head,
                                                  std::span<const std::size_t> queries,
                                                  std::span<const LogitMultiplier> multipliers,
                                                  bool dew_points);

/// What attend promises, one row per query.
[[nodiscard]] Matrix<double> reference_attend(const Head& head, const LogitMultiplier& multiplier);

}  // namespace dewpoint::attention
