// Figures as data for the interactive page: what web/src/data.ts calls FigureData.
//
// Everything that gnuplot would draw is there, as values and not as places on axes; ranges are
// places, because that is what an axis is linear in. NaN is null, infinities are "inf" and "-inf".
// Rows of more than kMostPlainNumbers numbers are the base64 of their little-endian doubles:
// about half the size, and bit for bit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "dewpoint/report/figure_file.hpp"

namespace dewpoint::report {

inline constexpr std::size_t kMostPlainNumbers = 256;

[[nodiscard]] nlohmann::ordered_json to_json(const Figure& figure);

}  // namespace dewpoint::report
