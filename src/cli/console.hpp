// What the user sees and does while something runs: progress on standard error, Ctrl-C.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/store/new_study.hpp"

namespace dewpoint::cli {

class Listener;

/// A progress line with the time that is left: rewritten in place on a terminal, a plain line every
/// ten seconds elsewhere. Silent for work that is over within a second, and while a WholeProgress
/// lives, which then speaks for it.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  [[nodiscard]] Progress callback();
  /// Stands behind the time that is left, from now on: ", loss 5.1".
  void set_note(std::string note) { note_ = std::move(note); }

 private:
  friend class WholeProgress;
  void show(double done, double total, const std::string& note = {});

  using Clock = std::chrono::steady_clock;
  std::string label_;
  std::string note_;
  const Listener* listener_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// One line for work in many parts: "reproduce: 43 %, 1 min 10 s left (cas-depth)". While it lives,
/// every ProgressLine tells it how far the current part is, and prints nothing. One at a time.
class WholeProgress {
 public:
  /// `cost`: of all parts that will be worked on, in any unit.
  WholeProgress(std::string label, double cost);
  WholeProgress(const WholeProgress&) = delete;
  WholeProgress& operator=(const WholeProgress&) = delete;
  ~WholeProgress();

  /// The part before is finished, this one begins.
  void begin(std::string part, double cost);

 private:
  friend class ProgressLine;
  void report(double fraction);

  std::mutex mutex_;
  ProgressLine line_;
  double total_;
  double done_ = 0.0;  // parts that are finished
  double cost_ = 0.0;  // of the current part
  double best_ = 0.0;  // the furthest it was: one part may have several lines, each from 0 to 1
  std::string part_;
};

/// Another program that runs verbs on this thread. While it lives, it and not the terminal hears of
/// progress and notes, and it says when to stop. Both functions may be called on any thread.
class Listener {
 public:
  using Heard = std::function<void(const std::string& label, double done, double total)>;
  using Told = std::function<void(const std::string& note)>;

  Listener(std::stop_token stop, Heard heard, Told told);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

 private:
  friend class ProgressLine;
  friend std::stop_token stop_token();
  friend void tell(const std::string& note);

  std::stop_token stop_;
  Heard heard_;
  Told told_;
};

/// One line that the user should know while the verb goes on: on standard error, made printable.
void tell(const std::string& note);

/// "3 s", "2 min 5 s", "1 h 20 min".
[[nodiscard]] std::string duration_text(double seconds);

/// From now on the first Ctrl-C, SIGTERM or SIGHUP requests a stop; the second ends the program at
/// once. Under nohup SIGHUP is ignored as before.
void stop_on_signals();
/// What verbs look at: the request of signals, or of the Listener of this thread.
[[nodiscard]] std::stop_token stop_token();
/// The signal that requested the stop: 128 + its number is the exit status. 0: none came.
[[nodiscard]] int received_signal();

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};
/// Of standard output; 80 x 24 where it is no terminal.
[[nodiscard]] TerminalSize terminal_size();

using store::utc_now;

}  // namespace dewpoint::cli
