// How texts and figures fit the terminal.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "dewpoint/report/terminal_figure.hpp"

namespace dewpoint::cli {

/// As wide as the terminal, with the colours that it has.
[[nodiscard]] report::TerminalStyle terminal_style();

/// A paragraph in lines of at most `width` columns, each after `margin` blanks.
[[nodiscard]] std::string indented(const std::string& paragraph, std::size_t margin,
                                   std::size_t width);

}  // namespace dewpoint::cli
