// The number that stands where nothing was measured or is known: shown as a blank, kept as null.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace dewpoint {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace dewpoint
