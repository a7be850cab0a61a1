// What all figures of a training run share: its times, tokens, stages and captions.
//
// A run holds a frame "trajectory" over time, token, query, key, rank, component and cycle, and may
// hold
//
//     frame "stages"         "time" over stage, labelled "focus", "peak", "new direction" and more,
//                            NaN: not seen; "threshold", that of the peak being how far attention
//                            must rise to count as focus
//     frame "data"           "stationary" over token: how frequent each is
//     frame "condensation"   cosines at chosen moments (training_figures.hpp)
//
// Stages are those of [FD]: I until focus starts, II until it peaks, III until a new direction has
// grown, IV from there on. A boundary that was not seen is not drawn, and the caption says so.
// Tokens are numbered by decreasing frequency; the first kMostTokensShown are drawn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

inline constexpr std::size_t kMostTokensShown = 8;

/// Six colours of Okabe and Ito, then brown and grey; no black, which is left to totals.
///
///   Domain      token < kMostTokensShown; more begin again.
///   Properties  (1) all eight differ.
[[nodiscard]] Colour token_colour(std::size_t token);

/// The times between two boundaries, both included.
struct TrainingStage {
  std::string name;  // "I", "II", "III", "IV"
  double from;
  double until;
};

class TrainingRun {
 public:
  /// `study` must outlive the run. Throws Error{bad_value} when it has no trajectory, when its
  /// times do not increase, or when a frame is of another form.
  explicit TrainingRun(const store::StudyRecord& study);

  [[nodiscard]] const Frame& trajectory() const { return *trajectory_; }
  [[nodiscard]] const std::vector<double>& times() const { return *times_; }
  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::size_t tokens() const;  // shown

  /// "query 0 (π = 0.75)", or "query 0" where π is not known.
  [[nodiscard]] std::string label(const std::string& role, std::size_t token) const;

  /// "step" of an optimiser, "time t" of the flow.
  [[nodiscard]] Axis time_axis() const;
  /// "step 200", "t = 12.5".
  [[nodiscard]] std::string time_text(double time) const;

  /// Where stages II, III and IV begin, as far as they were seen.
  [[nodiscard]] std::vector<Marker> markers() const;
  /// Those that were seen, I included; none when no focus was.
  [[nodiscard]] std::vector<TrainingStage> stages() const;

  /// Number `offset` of a variable over time and whatever else, at all times.
  [[nodiscard]] std::vector<double> over_time(const std::string& variable, const Names& others = {},
                                              std::size_t offset = 0) const;
  /// The same as a curve.
  [[nodiscard]] Series curve(std::string label, SeriesStyle style, Colour colour,
                             const std::string& variable, const Names& others = {},
                             std::size_t offset = 0) const;

  /// "The 8 most frequent of 20 tokens are shown."; empty where all are.
  [[nodiscard]] std::string token_note() const;
  /// `notes`, stages, then parameters, seed and version.
  [[nodiscard]] std::string caption(const Names& notes) const;

 private:
  [[nodiscard]] std::string stage_note() const;
  [[nodiscard]] std::string rise_note() const;

  const store::StudyRecord* study_;
  const Frame* trajectory_;
  const std::vector<double>* times_;
  std::size_t vocabulary_;
  bool is_flow_;
  bool has_stages_;
  std::array<std::optional<double>, 3> boundaries_;  // where II, III, IV begin
  std::vector<double> stationary_;                   // empty: not known
};

}  // namespace dewpoint::report
