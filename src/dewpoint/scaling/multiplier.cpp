#include "dewpoint/scaling/multiplier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

constexpr std::array<const char*, 6> kCompared = {"constant", "sqrt-log", "qwen",
                                                  "ssmax",    "yarn",     "power"};

void require_compared(const std::string& name) {
  if (std::find(kCompared.begin(), kCompared.end(), name) != kCompared.end()) return;
  throw Error(Code::bad_value, fmt::format("scaling: '{}' is unknown; allowed: {}", name,
                                           fmt::join(kCompared, ", ")));
}

}  // namespace

const std::vector<NamedSchedule>& compared_schedules() {
  static const std::vector<NamedSchedule> compared = [] {
    std::vector<NamedSchedule> list;
    for (const char* name : kCompared)
      for (const NamedSchedule& known : named_schedules())
        if (known.name == name) list.push_back(known);
    return list;
  }();
  return compared;
}

Schedule compared_schedule(const std::string& name, double n0, double dimension) {
  require_compared(name);
  if (!(n0 > 1.0) || !std::isfinite(n0)) {
    throw Error(Code::bad_value, fmt::format("n0: {} is not a length above 1", n0));
  }
  return named_schedule(name == "power" ? fmt::format("power:d={}", dimension) : name, n0);
}

Growth growth(const Schedule& schedule) {
  switch (schedule.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::affine_log:
    case ScheduleKind::linear_log:
      return {0.0, schedule.slope == 0.0 ? 0.0 : 1.0};
    case ScheduleKind::log_base:
      return {0.0, 1.0};
    case ScheduleKind::sqrt_log:
      return {0.0, 0.5};
    case ScheduleKind::power:
      return {schedule.exponent, 0.0};
    case ScheduleKind::yarn:
      return {0.0, schedule.slope == 0.0 ? 0.0 : 2.0};
  }
  return {0.0, 0.0};
}

Fate fate(const Growth& growth) {
  DEWPOINT_EXPECTS(growth.length >= 0.0);
  if (growth.length > 0.0 || growth.logarithm > 1.0) return Fate::freezes;
  return growth.logarithm < 1.0 ? Fate::collapses : Fate::stays;
}

std::string name_of(Fate fate) {
  switch (fate) {
    case Fate::collapses:
      return "collapses";
    case Fate::stays:
      return "stays";
    case Fate::freezes:
      return "freezes";
  }
  return "";
}

}  // namespace dewpoint::scaling
