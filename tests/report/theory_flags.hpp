// Which series of a figure say that they are theory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/report/line_figure.hpp"

namespace dewpoint::test {

/// A letter per series, 't' for theory and 'm' for measured; panels are parted by a space.
inline std::string theory_flags(const report::LineFigure& figure) {
  std::string flags;
  for (const report::LinePanel& panel : figure.panels) {
    if (!flags.empty()) flags += ' ';
    for (const report::Series& series : panel.series) flags += series.theory ? 't' : 'm';
  }
  return flags;
}

}  // namespace dewpoint::test
