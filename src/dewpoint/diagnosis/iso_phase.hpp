// Which multiplier keeps heads in the phase they were trained in.
//
//     m(n) = β_dew(n, as deployed)/β_dew(n_train, as trained)
//
// Per head, per layer and for all heads. "As deployed" matters: a model whose rotation is stretched
// for longer contexts has other scores at every length, so its dew points must be measured with the
// stretched rotation at the target length, and compared with the untouched model at its own.
//
// A length N stands for the queries that see N/2 to N keys (dew_curve.hpp): log β_dew is read from
// the bin that ends there or interpolated between bins, and beyond the longest bin it follows the
// law of growth that the frame names, or its slope, and the factor is marked as extrapolated.
//
// Factors of a layer and of all heads are Huber's location of log m (robust_location.hpp), with an
// error from redrawn heads, so that the spread between heads is in it. Warnings begin with a stable
// id: outlying-head (more than 3 deviations and 20 % from all), no-dew-points, extrapolated.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::diagnosis {

struct IsoPhaseQuestion {
  std::size_t train_length = 0;  // n_train
  std::vector<double> targets;   // n
  bool without_first = false;    // dew points without the first key
};

/// A factor m with the error of its logarithm.
struct IsoPhaseFactor {
  Estimate log_factor;
  bool extrapolated = false;  // the target lies outside the lengths that were measured
  [[nodiscard]] double lower(double deviations = 2.0) const;  // of m
  [[nodiscard]] double upper(double deviations = 2.0) const;
  [[nodiscard]] double value() const;
};

struct IsoPhaseHead {
  std::size_t layer, head;
  std::vector<std::optional<IsoPhaseFactor>> factors;  // one per target; none: no dew point
};

struct IsoPhaseLayer {
  std::size_t layer;
  std::vector<std::optional<IsoPhaseFactor>> factors;
};

/// How far a known schedule is from the factors of the heads.
struct ScheduleMisfit {
  scaling::Schedule schedule;
  std::vector<double> factors;    // m at the targets, relative to m at n_train
  double root_mean_square = 0.0;  // of log(m_schedule/m) over targets, m of all heads
  double deviations = 0.0;        // √(χ²/targets): in units of the errors
};

struct IsoPhaseFit {
  IsoPhaseQuestion question;
  std::vector<IsoPhaseHead> heads;
  std::vector<IsoPhaseLayer> layers;
  std::vector<std::optional<IsoPhaseFactor>> global;  // one per target, robust over heads
  std::vector<double> spread;                         // of log m over heads: robust deviation
  std::optional<scaling::Schedule> fitted;            // affine_log through the global factors
  Estimate fitted_slope;
  double fitted_from = 0.0, fitted_to = 0.0;  // lengths that the fit has seen
  std::vector<ScheduleMisfit> schedules;      // best first
  std::vector<std::string> warnings;
};

/// Reads, compares and fits.
///
///   Properties  (1) heads whose dew points all grow by one factor: that factor, per head, layer
///   and
///                   for all.
///               (2) the true centre of heads that scatter lies within two errors of the global
///                   factor in 95 % of the cases.
///               (3) the same frame twice: m = 1 without error at the training length.
///
/// `deployed` and `trained` are frames of frame_of_heads; the same one twice asks what the growth
/// inside one run says. Throws Error{bad_value} where they have no heads in common or no dew points
/// at the training length.
[[nodiscard]] IsoPhaseFit fit_iso_phase(const Frame& deployed, const Frame& trained,
                                        const IsoPhaseQuestion& question);

}  // namespace dewpoint::diagnosis
