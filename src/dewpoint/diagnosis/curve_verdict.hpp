// The law of growth of a measured curve of dew points.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/frame.hpp"
#include "dewpoint/diagnosis/growth_law.hpp"

namespace dewpoint::diagnosis {

/// judge_growth() of β_PR, or of the mean of log β_dew, from the logarithms in the frame and the
/// covariance of these over lengths. `frame` is that of experiments::dew_curve().
[[nodiscard]] GrowthVerdict judge_curve(const Frame& frame, bool participation);

}  // namespace dewpoint::diagnosis
