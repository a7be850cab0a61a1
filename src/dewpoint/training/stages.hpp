// The stages of training, found in what was recorded.
//
//   s_k(t)          attention of the rarer queries q > k on token k among tokens ≥ k, on average;
//                   1/(d − k), its base, where these queries spend less than half of their
//                   attention on tokens ≥ k: there it means nothing
//   condensation    first time with rank-one fraction of W0 at least 0.9
//   cycle k         s_k rises above base + ρ (1 − base); its maximum until it first falls below
//                   half of that maximum is the PEAK, the fall HALF-DILUTION; FOCUS STARTS at the
//                   first time from which on s_k stays above base + 0.02 (1 − base) until the peak.
//                   While half-dilution has not been seen, the start is the rise above ρ
//   new direction   first time from the peak of cycle 0 on at which a token k > 0 has at least 0.9
//                   of its embedding across token 0 and 1.25 times as much of it as at the peak
//   retraction      a norm that falls more than 10 % below its running maximum: from there to its
//                   running minimum, until it is more than 10 % above that
//
// All times are recorded times: the first at which the sentence holds. Cycles are looked for one
// after the other, each once: s_k has to rise above ρ not before the start of the last completed
// cycle. "Not seen" is an answer. The count of cycles depends on ρ where focus is weak: it is never
// given without it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/record.hpp"

namespace dewpoint::training {

struct StageThresholds {
  double rank_one = 0.9;
  double rise = 0.1;  // ρ: 0.1 for Adam, 0.02 for descent, 0.005 for flow
  double start = 0.02;
  double fall = 0.5;  // of the peak
  double least_mass = 0.5;
  double across = 0.9;
  double growth = 1.25;
  double retraction = 0.1;
};

struct Cycle {
  std::size_t token = 0;
  double base = 0.0;
  std::optional<double> start, peak, half;
  double peak_value = 0.0;  // s_k at the peak; the largest s_k seen where no cycle was
};

struct Retraction {
  double from = 0.0, until = 0.0;  // times of the maximum and of the minimum
  double largest = 0.0, smallest = 0.0;
  [[nodiscard]] double depth() const { return 1.0 - smallest / largest; }
};

struct Stages {
  StageThresholds thresholds;
  std::optional<double> condensation;
  std::vector<Cycle> cycles;  // d − 1 of them, seen or not
  std::optional<double> new_direction;
  std::vector<std::size_t> new_tokens;               // that took it
  std::vector<std::vector<Retraction>> retractions;  // per token

  /// Cycles with a peak and a half-dilution.
  [[nodiscard]] std::size_t completed_cycles() const;
};

/// s_k at one attention map; a query without any attention on tokens ≥ k counts with the base.
///
///   Domain      k < d − 1.
[[nodiscard]] double focus_share(MatrixView<const double> attention, std::size_t k,
                                 double least_mass);

/// Retractions of one norm, in order of time; times and norms go together.
[[nodiscard]] std::vector<Retraction> retractions_of(std::span<const double> times,
                                                     std::span<const double> norms, double share);

/// Records in order of time; none give no cycles.
///
///   Properties  (1) times scale with time: t → a t + b with a > 0 changes nothing else.
///               (2) start ≤ peak ≤ half, and every time is one of those recorded.
///               (3) scaling W0 by any factor changes only the sizes in retractions.
[[nodiscard]] Stages find_stages(std::span<const Record> records,
                                 const StageThresholds& thresholds);

/// Frames "stages" (over stage, labelled: condensation, focus, peak, half-dilution, new direction:
/// "time", "threshold"; those of cycle 0), "cycles" (over cycle: start, peak, half, peak_value,
/// base; over nothing: "completed" and the "rise" ρ they were counted with) and "retraction" (over
/// token: from, until, depth of the deepest). NaN with 0 samples: not seen.
[[nodiscard]] std::vector<Frame> stage_frames(const Stages& stages);

}  // namespace dewpoint::training
