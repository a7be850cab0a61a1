// A figure as text: a quick look over ssh.
//
// Heat maps are two cells to a character, the upper half block in two colours; without colours a
// ramp of ten characters from blank (low) to @ (high), with ? for the unknown and o for curves.
// Curves are dots of Braille, eight to a character, with a mark per line at measured points and its
// error as a vertical stroke; in ASCII a letter per line. Lines too dark for a dark terminal are
// drawn lighter. Panels stand below each other, the caption last.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/text_plot.hpp"

namespace dewpoint::report {

/// What a terminal can show, from what its environment says; null where a variable is not set.
///   none     without a terminal, with NO_COLOR set to anything but nothing, or on TERM=dumb
///   full     where COLORTERM is truecolor or 24bit
///   palette  elsewhere
[[nodiscard]] TerminalColours terminal_colours(bool is_terminal, const char* no_color,
                                               const char* colorterm, const char* term);

/// One panel without legend or caption, style.height + 5 rows (4 without a title).
[[nodiscard]] TextCanvas terminal_panel(const LinePanel& panel, const TerminalStyle& style);

/// The figure in lines of at most style.width columns (kNarrowest at least).
[[nodiscard]] std::string terminal_text(const HeatmapFigure& figure, const TerminalStyle& style);
[[nodiscard]] std::string terminal_text(const LineFigure& figure, const TerminalStyle& style);
[[nodiscard]] std::string terminal_text(const Figure& figure, const TerminalStyle& style);

}  // namespace dewpoint::report
