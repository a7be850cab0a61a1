// What the user sees and does while something runs: progress on standard error, Ctrl-C.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "dewpoint/core/run_context.hpp"

namespace dewpoint::cli {

/// A progress line with the time that is left: rewritten in place on a terminal, a plain line every
/// ten seconds elsewhere. Silent for work that is over within a second.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  [[nodiscard]] Progress callback();

 private:
  void show(double done, double total);

  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// "3 s", "2 min 5 s", "1 h 20 min".
[[nodiscard]] std::string duration_text(double seconds);

/// Requests a stop at the first Ctrl-C or SIGTERM; the second ends the program at once.
[[nodiscard]] std::stop_token stop_on_signals();
/// The signal that requested the stop: 128 + its number is the exit status. 0: none came.
[[nodiscard]] int received_signal();

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};
/// Of standard output; 80 x 24 where it is no terminal.
[[nodiscard]] TerminalSize terminal_size();

/// Now, as ISO 8601 in UTC.
[[nodiscard]] std::string utc_now();

}  // namespace dewpoint::cli
