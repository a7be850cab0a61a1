// How a model multiplies its logits as the context grows: every schedule in use, in one form.
//
// A schedule is m(n), n being the number of keys that a query sees (its position plus one). All
// schedules that models and engines use are one of
//
//   kind         m(n)                                        who
//   constant     value                                       base factors, static YaRN and LongRoPE
//   affine_log   1 + slope log(u),                           Llama 4, Ministral 3, Inkling
//                u = 1 + ⌊(n − 1 + offset)/n0⌋ with floor,
//                u = max(1, (n − 1 + offset)/n0) without
//   log_base     max(1, log n/log n0)                        Qwen 1, LMDeploy, Grok 2
//   linear_log   slope log n + value; where n0 is given,     SSMax (s log n + b)
//                slope log n/log n0 + value
//   sqrt_log     √(log n/log n0)                             keeps Gaussian scores where they were
//   power        (n/n0)^exponent                             keeps a sphere where it was
//   yarn         (1 + slope log(n/n0))², 1 below n0          YaRN with the factor n/n0
//
// What growing so does to a model in the end is in multiplier.hpp; laws of β without reference to a
// model are in law.hpp; which schedules an engine applies is in engine.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace dewpoint::scaling {

enum class ScheduleKind { constant, affine_log, log_base, linear_log, sqrt_log, power, yarn };

struct Schedule {
  std::string name = "constant";
  ScheduleKind kind = ScheduleKind::constant;
  double value = 1.0;          // constant; additive part of linear_log
  double slope = 0.0;          // affine_log, linear_log, yarn
  double n0 = 0.0;             // length of reference
  double offset = 1.0;         // affine_log: 1 where the engine counts positions from 1
  bool floor = false;          // affine_log: whole multiples of n0 only
  double exponent = 0.0;       // power
  bool static_factor = false;  // set once for the longest context, not by the position of a query
  bool confirmed = true;       // false: no public code confirms the formula
};

/// m(n). A static factor is evaluated at the length of the deployment.
///
///   Domain      n ≥ 1, or Error{bad_value}; log_base and sqrt_log need n0 > 1, linear_log too
///               where it has one; affine_log, power and yarn need n0 > 0. n is a count; a number
///               between two counts is taken as it is.
///   Accuracy    relative error at most schedule_error(log n, log n0); the steps of floor are at
///               whole n exactly.
///   Properties  (1) log_base, sqrt_log, power, yarn and linear_log with n0, slope 1 and value 0
///                   are exactly 1 at n0.
///               (2) does not fall with n for slope, exponent ≥ 0.
///               (3) log_base is 1 + log(n/n0)/log n0 from n0 on: LongRoPE's squared factor for
///                   the extension n/n0.
///               (4) affine_log with floor is never below its continuous form with the same
///                   offset, and above it by at most slope log 2.
///   Reference   YaRN: [Peng, Quesnelle, Fan, Shippole, arXiv 2309.00071]; SSMax: [Nakanishi, arXiv
///               2501.19399]; the others: the files named in engine.hpp.
[[nodiscard]] double multiplier(const Schedule& schedule, double n);

/// The same by log n, for lengths beyond the range of doubles.
///
///   Domain      0 ≤ log n < ∞. +∞ where m is beyond the range of doubles.
///   Properties  (1) multiplier_at_log(s, log n) = multiplier(s, n), also on the steps of floor for
///                   whole n up to 1e12.
[[nodiscard]] double multiplier_at_log(const Schedule& schedule, double log_n);

/// Rounding bound of multiplier: log n − log n0 is known to one unit of the larger, and an
/// exponential (with an exponent of at most twice that) passes it on.
[[nodiscard]] constexpr double schedule_error(double log_n, double log_n0) {
  return 4.0 * std::numeric_limits<double>::epsilon() * (1.0 + log_n + log_n0);
}

/// "1 + 0.1 log(1 + floor(n/8192))", with the numbers filled in.
[[nodiscard]] std::string formula(const Schedule& schedule);

/// A schedule by the name of who uses it, for a model trained at n0 tokens: "constant", "yarn",
/// "longrope", "log-n" (also "qwen", "lmdeploy", "grok"), "llama-4", "ministral", "inkling",
/// "ssmax", "sqrt-log", "power:d=64", "swan" (not confirmed), or with numbers:
/// "affine-log:slope=0.1,n0=8192,offset=1,floor=0", "linear-log:s=0.43,b=0", "constant:1.2".
///
/// "ssmax" is log n/log n0, SSMax with the strength that makes it 1 at n0; axolotl's own default is
/// "linear-log:s=0.43,b=0", which is not. n0 may also follow the name, and then counts instead of
/// the argument. Throws Error{bad_value} for a name, key or number that there is not.
[[nodiscard]] Schedule named_schedule(const std::string& text, double n0);

/// The same name with the n0 that counts written out: "ssmax" for a model trained at 128 tokens is
/// "ssmax:n0=128", "power:d=64" is "power:d=64,n0=128"; what has an n0, or needs none, stays.
/// Throws as named_schedule().
///
///   Properties  (1) named_schedule(name_with_length(text, n0), 0) = named_schedule(text, n0).
///               (2) name_with_length(name_with_length(text, a), b) = name_with_length(text, a).
[[nodiscard]] std::string name_with_length(const std::string& text, double n0);

struct NamedSchedule {
  std::string name;
  std::string formula;  // with n0 as a symbol
  std::string users;    // who does it
  bool confirmed;
};
[[nodiscard]] const std::vector<NamedSchedule>& named_schedules();

/// Several factors at once: m(n) is their product, 1 for none.
using Schedules = std::vector<Schedule>;
[[nodiscard]] double multiplier(const Schedules& schedules, double n);

}  // namespace dewpoint::scaling
