// What the axes of a panel of lines show: all points, with their error bars.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/report/line_figure.hpp"

namespace dewpoint::report {

/// The ends of a bar as places; NaN for an end that has none. An unknown error is a bar of height
/// 0.
struct ErrorBar {
  double low;
  double high;
};

/// The bar of point number i. The series must have errors.
[[nodiscard]] ErrorBar error_bar(const LinePanel& panel, const Series& series, std::size_t i);

/// Places of all points and of the ends of their bars.
[[nodiscard]] std::vector<double> y_places(const LinePanel& panel);

struct PanelRanges {
  Range x;  // places
  Range y;
};

[[nodiscard]] PanelRanges shown_ranges(const LinePanel& panel);

}  // namespace dewpoint::report
