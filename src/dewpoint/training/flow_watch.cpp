#include "dewpoint/training/flow_watch.hpp"

#include <utility>

namespace dewpoint::training {
namespace {

// Numbers of the roots; from kTurned on, one for each token.
enum Root : std::size_t { kCondensed, kFocus, kPeak, kHalf, kSingle, kSecond, kTurned };

}  // namespace

FlowWatch::FlowWatch(FlowSystem& system, double focus_rise, double t, std::span<const double> y)
    : focus_rise_(focus_rise) {
  events_.turned.resize(system.vocabulary());
  const double fraction = system.rank_one_fraction(y);
  if (fraction >= kCondensedFraction) condense(system, t, y);
  single_ = fraction >= kSingleFraction;
}

FlowWatch::FlowWatch(FlowEvents events, bool single, double focus_rise)
    : events_(std::move(events)), single_(single), focus_rise_(focus_rise) {}

// Focus may have started before: then there is no rise left to wait for.
void FlowWatch::condense(FlowSystem& system, double t, std::span<const double> y) {
  events_.condensed = t;
  if (system.focus(y) >= focus_threshold()) events_.focus_start = t;
}

double FlowWatch::focus_threshold() const {
  const double base = 1.0 / static_cast<double>(events_.turned.size());
  return base + focus_rise_ * (1.0 - base);
}

std::vector<int> FlowWatch::directions() const {
  std::vector<int> directions(kTurned + events_.turned.size(), -1);
  directions[kCondensed] = directions[kFocus] = directions[kSingle] = +1;
  return directions;
}

bool FlowWatch::armed(std::size_t which) const {
  if (which == kCondensed) return !events_.condensed;
  if (!events_.condensed) return false;
  switch (which) {
    case kFocus:
      return !events_.focus_start;
    case kPeak:
      return events_.focus_start && !events_.focus_peak;
    case kHalf:
      return events_.focus_peak && !events_.half_dilution;
    case kSingle:
      return !single_ && !events_.second_direction;
    case kSecond:
      return single_ && !events_.second_direction;
    default:
      return which > kTurned && !events_.turned[which - kTurned];
  }
}

double FlowWatch::signal(std::size_t which, FlowSystem& system, std::span<const double> y) const {
  switch (which) {
    case kCondensed:
      return system.rank_one_fraction(y) - kCondensedFraction;
    case kFocus:
      return system.focus(y) - focus_threshold();
    case kPeak:
      return system.focus_rate(y);
    case kHalf:
      return system.focus(y) - events_.focus_peak_value / 2.0;
    case kSingle:
    case kSecond:
      return system.rank_one_fraction(y) - kSingleFraction;
    default:
      return system.alignment(y, which - kTurned);
  }
}

void FlowWatch::signals(FlowSystem& system, std::span<const double> y,
                        std::span<double> values) const {
  for (std::size_t which = 0; which < values.size(); ++which) {
    values[which] = armed(which) ? signal(which, system, y) : 1.0;
  }
}

void FlowWatch::note(std::size_t which, FlowSystem& system, double t, std::span<const double> y) {
  switch (which) {
    case kCondensed:
      condense(system, t, y);
      break;
    case kFocus:
      events_.focus_start = t;
      break;
    case kPeak:
      events_.focus_peak = t;
      events_.focus_peak_value = system.focus(y);
      break;
    case kHalf:
      events_.half_dilution = t;
      break;
    case kSingle:
      single_ = true;
      break;
    case kSecond:
      events_.second_direction = t;
      break;
    default:
      events_.turned[which - kTurned] = t;
  }
}

}  // namespace dewpoint::training
