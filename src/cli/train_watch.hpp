// What `dewpoint train` does while a model learns, a chain or a text: it keeps what there is, and
// shows it; and the figures of the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/report/training_figures.hpp"

namespace dewpoint::cli {

/// Keeps a run that is under way in its files, so that whatever happens little is lost.
class Keeper {
 public:
  explicit Keeper(std::function<void()> write) : write_(std::move(write)) {}
  void keep();
  /// Every half a minute.
  void keep_sometimes();

 private:
  std::function<void()> write_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Redraws itself in place, at most ten times a second; where there is no terminal it says so.
class LiveView {
 public:
  explicit LiveView(bool wanted);
  void show(const std::function<std::string()>& draw);

 private:
  bool on_;
  std::chrono::steady_clock::time_point last_ = {};
};

/// Names of the files.
[[nodiscard]] std::vector<std::string> draw_figures(
    const std::vector<report::TrainingFigure>& figures, const store::StudyRecord& study,
    const OutputFile& folder);

}  // namespace dewpoint::cli
