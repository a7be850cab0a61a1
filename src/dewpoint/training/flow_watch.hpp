// The events of a flow as roots, armed one after the other.
//
//     condensed         r1 rises through 0.9          from the start
//     focus start       s_0 rises above its base      once condensed
//     focus peak        ds_0/dt falls through 0       once focus has started
//     half-dilution     s_0 falls through half        once the peak is known
//     token i turned    W0_i·W0_0 falls through 0     once condensed
//     second direction  r1 falls through 0.99         once it has risen through 0.99
//
// A root that is not armed, or that was found, shows the solver the constant 1. The solver looks at
// all roots anew after each that it found, so a signal that begins to show never fakes a crossing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/training/flow.hpp"
#include "dewpoint/training/flow_system.hpp"

namespace dewpoint::training {

inline constexpr double kCondensedFraction = 0.9;
inline constexpr double kSingleFraction = 0.99;

class FlowWatch {
 public:
  /// A start that is condensed already counts as condensed then.
  FlowWatch(FlowSystem& system, double focus_rise, double t, std::span<const double> y);
  FlowWatch(FlowEvents events, bool single, double focus_rise);

  [[nodiscard]] const FlowEvents& events() const { return events_; }
  /// Whether r1 has risen through 0.99 and not fallen since.
  [[nodiscard]] bool single() const { return single_; }

  [[nodiscard]] std::vector<int> directions() const;
  void signals(FlowSystem& system, std::span<const double> y, std::span<double> values) const;
  /// The solver found root `which` at (t, y).
  void note(std::size_t which, FlowSystem& system, double t, std::span<const double> y);

 private:
  void condense(FlowSystem& system, double t, std::span<const double> y);
  [[nodiscard]] double focus_threshold() const;
  [[nodiscard]] bool armed(std::size_t which) const;
  [[nodiscard]] double signal(std::size_t which, FlowSystem& system,
                              std::span<const double> y) const;

  FlowEvents events_;
  bool single_ = false;
  double focus_rise_;
};

}  // namespace dewpoint::training
