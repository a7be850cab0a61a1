// Numbers about a sample of independent values, each with its standard error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::experiments {

/// The mean. Values are scaled by a power of two first, so that squares of weights of 1e-200 are
/// still numbers.
///
///   Domain      at least 2 values, here and below.
///   Properties  (1) scales with the values, down to 1e-290.
[[nodiscard]] Estimate mean_of(const std::vector<double>& values);

/// The mean of every column, rows being independent.
[[nodiscard]] std::vector<Estimate> column_means(const Matrix<double>& rows);

/// The value below which the share p of the others lies, linear between neighbours. Its rank
/// scatters by √(n p(1 − p)), so the error is half the distance of the values that far to either
/// side. Values may be infinite.
///
///   Domain      0 < p < 1.
///   Properties  (1) p = 1/2, normal values: the error is √(π/2) times that of the mean.
[[nodiscard]] Estimate quantile_of(std::vector<double> values, double share);

/// The middle value, p = 1/2.
[[nodiscard]] Estimate median_of(std::vector<double> values);

/// The standard deviation, μ_2^{1/2}. Its error is that of the variance, √((μ_4 − μ_2²)/n), over
/// twice it.
///
///   Properties  (1) for normal values the error is 1/√2 of that of the mean.
[[nodiscard]] Estimate deviation_of(const std::vector<double>& values);

/// The unbiased variance, with the error ((m_4 − m_2²)/N)^{1/2} from the sample's central moments.
///
///   Domain      finite values; NaN for fewer than two.
///   Properties  (1) N(0, σ²): the error is σ² √(2/N).
///               (2) c x has c² times the variance and error of x.
[[nodiscard]] Estimate variance_of(std::span<const double> values);

/// g = m_3/m_2^{3/2}, with the error from its influence function: with z = (x − mean)/deviation,
/// the mean of z³ − 3z − (3/2) g (z² − 1) − g is zero and its deviation is √N times the error.
///
///   Domain      finite values; NaN for fewer than three, or all equal.
///   Properties  (1) N(0, σ²): 0, and the error is √(6/N).
///               (2) an exponential law: 2.
///               (3) does not change when values are multiplied by a positive number.
[[nodiscard]] Estimate skewness_of(std::span<const double> values);

/// log of the mean of e^value, with the relative error of that mean.
///
///   Properties  (1) shifts with the values, however large they are.
[[nodiscard]] Estimate log_mean_exp(std::vector<double> values);

/// The argument whose row of values has the largest mean; values of one column belong to one draw.
/// The error is half the span of arguments that are not worse by more than the standard error of
/// the difference, draw by draw.
///
///   Properties  (1) a shift of a draw that all rows share changes nothing.
[[nodiscard]] Estimate best_argument(const std::vector<double>& arguments,
                                     const std::vector<std::vector<double>>& rows);

}  // namespace dewpoint::experiments
