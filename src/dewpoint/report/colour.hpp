// The colours of the figures.
//
// Viridis [Smith, van der Walt 2015]: lightness grows evenly, so that the map reads the same in
// grey and to the colour-blind. Written out because gnuplot 5.4 has none of its own.
//
// Where a value in the middle divides two regimes, blue and red part at white [ColorBrewer RdBu,
// Harrower, Brewer 2003], which the colour-blind tell apart too.
//
// Curves that differ in kind have colours of Okabe and Ito [Color Universal Design, 2008], which
// the colour-blind can tell apart; curves that differ in degree have colours of viridis.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace dewpoint::report {

/// 0xRRGGBB.
using Colour = std::uint32_t;

/// A cell without a value. Darker where white is a value.
inline constexpr Colour kUnknownColour = 0xe4e4e4;
inline constexpr Colour kUnknownBesideWhite = 0xb4b4b4;

/// Viridis at t, linear between eighteen of its 256 published colours.
///
///   Domain      t below 0 is taken for 0, above 1 for 1; NaN gives kUnknownColour.
///   Properties  (1) viridis(0) = 0x440154 and viridis(1) = 0xfde725, its published ends.
///               (2) luma grows with t.
[[nodiscard]] Colour viridis(double t);

/// Blue, white, red at t, linear between eleven published colours.
///
///   Domain      t below 0 is taken for 0, above 1 for 1; NaN gives kUnknownBesideWhite.
///   Properties  (1) diverging(0) = 0x053061, diverging(1/2) = 0xf7f7f7, diverging(1) = 0x67001f.
///               (2) luma grows up to the middle and falls from there.
[[nodiscard]] Colour diverging(double t);

enum class ColourMap { viridis, diverging };
[[nodiscard]] Colour mapped_colour(ColourMap map, double t);

/// The colour of the curve of kind `index`: black, blue, vermillion, bluish green, reddish purple,
/// orange, sky blue of Okabe and Ito, and from the start again. Their yellow is left out: it does
/// not show on paper.
///
///   Properties  (1) seven colours, all different.
///               (2) the first is black, so that a single curve needs no colour.
[[nodiscard]] Colour kind_colour(std::size_t index);

/// The colour of the curve of degree `index` among `count`, dark to light: viridis from its start
/// up to where it still shows on paper.
///
///   Domain      index < count.
///   Properties  (1) luma grows with the index, by the same part of viridis each time.
///               (2) luma stays below 3/4 of white's.
[[nodiscard]] Colour degree_colour(std::size_t index, std::size_t count);

/// The colour of single runs beside that of their mean: two thirds of the way to white.
[[nodiscard]] Colour pale(Colour colour);

}  // namespace dewpoint::report
