#include "dewpoint/scaling/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

constexpr double kEveryDoubleIsWhole = 9007199254740992.0;  // 2^53
constexpr double kNearACount = 1e-9;
constexpr double kLargestCount = 1e12;

bool needs_reference(const Schedule& schedule) {
  return schedule.kind != ScheduleKind::constant && schedule.kind != ScheduleKind::linear_log;
}

// Whether log n0 is divided by.
bool has_base(const Schedule& schedule) {
  return schedule.kind == ScheduleKind::log_base || schedule.kind == ScheduleKind::sqrt_log ||
         (schedule.kind == ScheduleKind::linear_log && schedule.n0 != 0.0);
}

void require_reference(const Schedule& schedule) {
  const double smallest = has_base(schedule) ? 1.0 : 0.0;
  if (!needs_reference(schedule) && !has_base(schedule)) return;
  if (schedule.n0 > smallest && std::isfinite(schedule.n0)) return;
  throw Error(Code::bad_value, fmt::format("n0: {} is not a length above {} for the schedule {}",
                                           schedule.n0, smallest, schedule.name));
}

// log u of affine_log. Beyond 2^53 neither the offset nor the floor can be seen.
double log_reach(const Schedule& schedule, double n, double log_n) {
  const double reach = (n - 1.0 + schedule.offset) / schedule.n0;
  if (!(reach < kEveryDoubleIsWhole)) return log_n - std::log(schedule.n0);
  return schedule.floor ? std::log1p(std::floor(reach)) : std::log(std::max(1.0, reach));
}

double yarn(const Schedule& schedule, double log_n) {
  const double factor = 1.0 + schedule.slope * std::max(0.0, log_n - std::log(schedule.n0));
  return factor * factor;
}

double linear_log(const Schedule& schedule, double log_n) {
  const double unit = schedule.n0 == 0.0 ? 1.0 : std::log(schedule.n0);
  return schedule.slope * log_n / unit + schedule.value;
}

double evaluate(const Schedule& schedule, double n, double log_n) {
  require_reference(schedule);
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return schedule.value;
    case ScheduleKind::affine_log:
      return 1.0 + schedule.slope * log_reach(schedule, n, log_n);
    case ScheduleKind::log_base:
      return std::max(1.0, log_n / std::log(schedule.n0));
    case ScheduleKind::linear_log:
      return linear_log(schedule, log_n);
    case ScheduleKind::sqrt_log:
      return std::sqrt(log_n / std::log(schedule.n0));
    case ScheduleKind::power:
      return std::exp(schedule.exponent * (log_n - std::log(schedule.n0)));
    case ScheduleKind::yarn:
      return yarn(schedule, log_n);
  }
  return 1.0;
}

// n from its logarithm: the whole number that it must have been, where there is one in reach.
double count_of(double log_n) {
  const double n = std::exp(log_n);
  const double whole = std::round(n);
  return n < kLargestCount && std::abs(n - whole) < kNearACount * n ? whole : n;
}

std::string affine_formula(const Schedule& schedule) {
  const double shift = schedule.offset - 1.0;
  const std::string count = shift == 0.0  ? "n"
                            : shift < 0.0 ? fmt::format("(n - {:.6g})", -shift)
                                          : fmt::format("(n + {:.6g})", shift);
  const std::string reach = fmt::format("{}/{:.10g}", count, schedule.n0);
  const std::string reached =
      schedule.floor ? fmt::format("1 + floor({})", reach) : fmt::format("max(1, {})", reach);
  return fmt::format("1 + {:.6g} log({})", schedule.slope, reached);
}

std::string linear_formula(const Schedule& schedule) {
  const std::string slope = schedule.slope == 1.0 ? "" : fmt::format("{:.6g} ", schedule.slope);
  const std::string unit = schedule.n0 == 0.0 ? "" : fmt::format("/log {:.10g}", schedule.n0);
  const std::string plus = schedule.value == 0.0  ? ""
                           : schedule.value < 0.0 ? fmt::format(" - {:.6g}", -schedule.value)
                                                  : fmt::format(" + {:.6g}", schedule.value);
  return fmt::format("{}log n{}{}", slope, unit, plus);
}

}  // namespace

double multiplier(const Schedule& schedule, double n) {
  if (!(n >= 1.0) || !std::isfinite(n)) {
    throw Error(Code::bad_value, fmt::format("n: {} is not a number of keys, 1 or more", n));
  }
  return evaluate(schedule, n, std::log(n));
}

double multiplier_at_log(const Schedule& schedule, double log_n) {
  if (!(log_n >= 0.0) || !std::isfinite(log_n)) {
    throw Error(Code::bad_value,
                fmt::format("n: exp({}) is not a number of keys, 1 or more", log_n));
  }
  return evaluate(schedule, count_of(log_n), log_n);
}

double multiplier(const Schedules& schedules, double n) {
  double product = 1.0;
  for (const Schedule& schedule : schedules) product *= multiplier(schedule, n);
  return product;
}

std::string formula(const Schedule& schedule) {
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return fmt::format("{:.6g}", schedule.value);
    case ScheduleKind::affine_log:
      return affine_formula(schedule);
    case ScheduleKind::log_base:
      return fmt::format("max(1, log n/log {:.10g})", schedule.n0);
    case ScheduleKind::linear_log:
      return linear_formula(schedule);
    case ScheduleKind::sqrt_log:
      return fmt::format("√(log n/log {:.10g})", schedule.n0);
    case ScheduleKind::power:
      return fmt::format("(n/{:.10g})^{:.6g}", schedule.n0, schedule.exponent);
    case ScheduleKind::yarn:
      return fmt::format("(1 + {:.6g} log(n/{:.10g}))², 1 below {:.10g}", schedule.slope,
                         schedule.n0, schedule.n0);
  }
  return "";
}

}  // namespace dewpoint::scaling
