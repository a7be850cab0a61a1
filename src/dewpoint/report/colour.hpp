// The colours of the figures.
//
// Viridis [Smith, van der Walt 2015]: lightness grows evenly, so that the map reads the same in
// grey and to the colour-blind. Written out because gnuplot 5.4 has none of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dewpoint::report {

/// 0xRRGGBB.
using Colour = std::uint32_t;

/// A cell without a value.
inline constexpr Colour kUnknownColour = 0xe4e4e4;

/// Viridis at t, linear between eighteen of its 256 published colours.
///
///   Domain      t below 0 is taken for 0, above 1 for 1; NaN gives kUnknownColour.
///   Properties  (1) viridis(0) = 0x440154 and viridis(1) = 0xfde725, its published ends.
///               (2) luma grows with t.
[[nodiscard]] Colour viridis(double t);

}  // namespace dewpoint::report
