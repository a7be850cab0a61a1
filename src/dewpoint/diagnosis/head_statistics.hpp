// What a head does at every context length: means and medians over the rows of each bin.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/diagnosis/head_bins.hpp"

namespace dewpoint::diagnosis {

/// The frame of HeadDiagnosis::statistics without dew_point_fitted; head_diagnosis.hpp has the list
/// of its variables.
[[nodiscard]] Frame head_statistics(const std::vector<HeadBin>& bins, const HeadOptions& options,
                                    const RunContext& context);

/// The dew point that n Gaussian scores of variance 1 have in the median,
///
///     log β = log β_half + kEmpiricalMedianShift,      E w_max(β_half) = 1/2 at n scores.
///
/// β_half is the root of theory::finite_largest_weight, tabulated at powers of two and interpolated
/// in log log n. The median of β_dew, where the median of w_max is 1/2, lies above it.
///
///   Domain      16 ≤ n; beyond 2^24 by the law √(log n) from there.
///   Accuracy    β_half to 0.3 %, the median to 1.5 %.
///   Properties  (1) E w_max = 1/2 at β e^{−kEmpiricalMedianShift}.
///               (2) the median of the dew points of samples.
[[nodiscard]] double gaussian_dew_point(double keys);

/// Measured on independent normal scores (November 2026): 0.085, 0.080, 0.079, 0.078 and 0.073
/// with errors of 0.003, 0.003, 0.004, 0.007 and 0.010 at n = 64, 256, 1024, 4096 and 16384.
inline constexpr double kEmpiricalMedianShift = 0.08;

}  // namespace dewpoint::diagnosis
