// The dew points of one row of float32 scores, with and without its first key.
//
// What a dew point is, and the equation in which it is well-conditioned, is written in
// observables/dew_point.hpp: with gaps from the winner, T that of the runner-up,
//
//     1 − e^{−βT} = Σ_{others} e^{−βT_j}.
//
// Here the same root is found in few passes over a long row, usually two. The three best of the
// keys but the first are known exactly, as is the first key; all other keys, the crowd, are summed
// relative to the third best. One pass at β gives the crowd's mass and four cumulants of its
// exponents, hence
//
//     log mass(β(1+t)) = log mass(β) − κ₁t + κ₂t²/2 − κ₃t³/6 + κ₄t⁴/24 − ...
//
// near β. The equation is solved on that series in double. If the root lies where the series can be
// trusted, it stands; if not, the next pass is taken at the root of a cruder continuation. Passes
// also keep a bracket, which begins with property (5) of dew_point. Both dew points share passes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "dewpoint/core/head_kernels.hpp"

namespace dewpoint::attention {

/// The keys of a row but its first one, and sums over them that a pass has already made.
struct RestOfRow {
  std::span<const float> scores;
  kernels::GapSums plain;  // gaps from the largest of them
  RowMoments moments;      // at `rate`, as score_moments gives them: where the search begins
  double rate = 1.0;       // > 0; the nearer to the dew point, the fewer passes
};

struct RowDewPoints {
  double all;            // +∞: the maximum is tied; NaN: fewer than 3 keys
  double without_first;  // the same of the rest alone
};

/// Both dew points; `all` counts the first key where there is one.
///
///   Domain      finite scores; two that are closer than kTiedGap count as tied.
///   Accuracy    relative error at most kRowDewPointError, scores taken as exact.
///   Properties  (1) equal observables::dew_point of the same scores, within both errors.
[[nodiscard]] RowDewPoints row_dew_points(const RestOfRow& rest, std::optional<float> first);

/// The series is trusted where its fifth term is estimated at 2e-7, and the estimate may be short
/// by a factor of ten; float32 sums of exponents up to log n + 5 leave about 1e-6.
inline constexpr double kRowDewPointError = 3e-6;

/// Keeps inverse temperatures within float32.
inline constexpr double kTiedGap = 1e-36;

}  // namespace dewpoint::attention
