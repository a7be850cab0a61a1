// The centre of many measured numbers that have errors, a spread of their own, and outliers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"

namespace dewpoint::diagnosis {

/// 1.4826 times the median distance from the median: the standard deviation of normal numbers.
///
///   Domain      at least one number.
[[nodiscard]] double robust_deviation(std::span<const double> values);

/// Huber's location: the x that solves Σ c_i ψ((x_i − x)/σ_i)/σ_i = 0 with ψ(z) = z up to |z| =
/// kHuberBend and constant beyond. σ_i² is the number's own variance plus the variance between
/// numbers, which is what their robust deviation has beyond their errors.
///
/// Numbers with an unknown error count with the median of the known ones, or with none.
///
///   Domain      at least one number with a positive count.
///   Accuracy    1e-10 of the spread, or 100 steps.
///   Properties  (1) equal errors and no outliers: the mean.
///               (2) one number moved to infinity moves it by a bounded amount.
///               (3) shift and scale with the numbers.
///   Reference   [Huber 1964].
[[nodiscard]] double robust_location(std::span<const Estimate> values,
                                     std::span<const std::uint32_t> counts);

/// The location with its error: that of redrawn lists, which contains the spread between numbers,
/// but at least what the numbers' own errors make. `replicates` receives the redrawn locations.
[[nodiscard]] Estimate robust_mean(std::span<const Estimate> values, const RowBootstrap& bootstrap,
                                   std::vector<double>& replicates);

inline constexpr double kHuberBend = 1.345;  // 95 % efficient for normal numbers

}  // namespace dewpoint::diagnosis
