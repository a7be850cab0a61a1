// A run on a terminal while it trains: the loss so far, attention now, focus, and one line of
// numbers.
//
//         loss                                  attention of row to column
//     1.4 ┤ ⣄                                      0      1      2      3         loss
//         │ ⠈⣇                                  0  ██ 1.0    .00    .00    .00   0.778
//     1.2 ┤   ⡇                                 1  ██ .99    .00    .00    .00   1.535
//         │   ⢸                                 2  ██ .99    .00    .00    .00   1.598
//       1 ┤    ⢇                                3  ██ .99    .00    .00    .00   1.586
//         └─┬──────┬───────┬───────┬──────┬─    focus: s0 0.99 s1 0.33 s2 0.50
//           0     50      100     150    200
//                        time
//     time 205  loss 0.97312  rank one 0.98
//
// Row and column are query and key; the loss at the right is that of sequences that end in the
// query; "rank one" is σ₁²/Σσ² of W0. A narrow terminal has attention below the loss, in cells
// without numbers where these have no room. Where both do not fit, the loss is shown; on a terminal
// too low for it, as much of attention as fits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/report/text_canvas.hpp"

namespace dewpoint::report {

/// Tokens shown; of a larger vocabulary, the most frequent.
inline constexpr std::size_t kMostTokensOnScreen = 12;

/// The state at the last time of a frame "trajectory" (training_run.hpp), in `rows` lines of at
/// most `columns` characters; at least 2 rows and kNarrowest columns are used. With colours the
/// losses after each token are drawn as well, in the colours of the query's numbers. Throws
/// Error{bad_value} when the frame lacks what is shown; only "focus" may be absent.
[[nodiscard]] std::string training_screen(const Frame& trajectory, std::size_t columns,
                                          std::size_t rows,
                                          TerminalColours colours = TerminalColours::none);

}  // namespace dewpoint::report
