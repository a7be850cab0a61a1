// Schedules by name, and by name with numbers: "llama-4", "power:d=64", "constant:1.2".
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::scaling {
namespace {

struct Entry {
  NamedSchedule named;
  Schedule prototype;             // n0 is filled in later
  std::vector<std::string> keys;  // numbers that may follow the name
};

Schedule affine(double slope, double offset, bool floor) {
  Schedule schedule;
  schedule.kind = ScheduleKind::affine_log;
  schedule.slope = slope;
  schedule.offset = offset;
  schedule.floor = floor;
  return schedule;
}

Schedule of_kind(ScheduleKind kind, double slope = 0.0) {
  Schedule schedule;
  schedule.kind = kind;
  schedule.slope = slope;
  return schedule;
}

Schedule linear(double slope) {
  Schedule schedule = of_kind(ScheduleKind::linear_log, slope);
  schedule.value = 0.0;
  return schedule;
}

Schedule set_once(Schedule schedule) {
  schedule.static_factor = true;
  return schedule;
}

const std::vector<Entry>& entries() {
  using Kind = ScheduleKind;
  const std::string logarithm = "max(1, log n/log n0)";
  static const std::vector<Entry> all = {
      {{"constant", "1", "a model left alone", true}, of_kind(Kind::constant), {"value"}},
      {{"sqrt-log", "√(log n/log n0)", "keeps Gaussian scores at their transition", true},
       of_kind(Kind::sqrt_log),
       {"n0"}},
      {{"log-n", logarithm, "keeps a simplex at its transition", true},
       of_kind(Kind::log_base),
       {"n0"}},
      {{"qwen", logarithm, "the first Qwen models", true}, of_kind(Kind::log_base), {"n0"}},
      {{"lmdeploy", logarithm, "LMDeploy with use_logn_attn", true},
       of_kind(Kind::log_base),
       {"n0"}},
      {{"grok", logarithm, "Grok 2, n0 being attn_temperature_len", true},
       of_kind(Kind::log_base),
       {"n0"}},
      {{"ssmax", "log n/log n0", "scalable softmax with strength 1/log n0", true},
       linear(1.0),
       {"n0"}},
      {{"yarn", "(1 + 0.1 log(n/n0))², 1 below n0", "YaRN extended to n", true},
       set_once(of_kind(Kind::yarn, 0.1)),
       {"slope", "n0"}},
      {{"longrope", logarithm, "LongRoPE extended to n", true},
       set_once(of_kind(Kind::log_base)),
       {"n0"}},
      {{"llama-4", "1 + 0.1 log(1 + floor(n/n0))", "Llama 4, n0 being floor_scale", true},
       affine(0.1, 1.0, true),
       {"slope", "n0"}},
      {{"ministral", "1 + 0.1 log(1 + floor((n - 1)/n0))", "Ministral 3, Mistral 4", true},
       affine(0.1, 0.0, true),
       {"slope", "n0"}},
      {{"inkling", "1 + 0.1 log(max(1, n/n0))", "Inkling, n0 being log_scaling_n_floor", true},
       affine(0.1, 1.0, false),
       {"slope", "n0"}},
      {{"power", "(n/n0)^(2/(d−1))", "keeps a sphere of R^d at its transition", true},
       of_kind(Kind::power),
       {"d", "exponent", "n0"}},
      {{"swan", logarithm, "SWAN-GPT: known to be logarithmic, no more", false},
       of_kind(Kind::log_base),
       {"n0"}},
      {{"affine-log", "1 + slope log(max(1, (n - 1 + offset)/n0))", "any affine fit", true},
       affine(0.1, 1.0, false),
       {"slope", "n0", "offset", "floor"}},
      {{"linear-log", "s log n + b", "SSMax with a strength of its own", true},
       linear(0.43),
       {"s", "b"}}};
  return all;
}

const Entry& entry_of(const std::string& name) {
  for (const Entry& entry : entries())
    if (entry.named.name == name) return entry;
  std::vector<std::string> names;
  for (const Entry& entry : entries()) names.push_back(entry.named.name);
  throw Error(Code::bad_value,
              fmt::format("schedule: '{}' is unknown", name) + instead_of(name, names));
}

double parse_number(const std::string& text, std::string_view key, std::string_view number) {
  double value = 0.0;
  const char* end = number.data() + number.size();
  const auto [stop, problem] = std::from_chars(number.data(), end, value);
  if (problem == std::errc{} && stop == end && std::isfinite(value)) return value;
  throw Error(Code::bad_value,
              fmt::format("schedule: '{}' gives {} the value '{}', which is not a finite number",
                          text, key, number));
}

double sphere_exponent(double dimension) {
  if (dimension >= 2.0) return 2.0 / (dimension - 1.0);
  throw Error(Code::bad_value, fmt::format("d: {} is below 2 for the schedule power", dimension));
}

bool parse_switch(double value) {
  if (value == 0.0 || value == 1.0) return value == 1.0;
  throw Error(Code::bad_value, fmt::format("floor: {} is neither 0 nor 1", value));
}

void set_field(Schedule& schedule, const std::string& key, double value) {
  if (key == "value" || key == "b") schedule.value = value;
  if (key == "slope" || key == "s") schedule.slope = value;
  if (key == "n0") schedule.n0 = value;
  if (key == "offset") schedule.offset = value;
  if (key == "floor") schedule.floor = parse_switch(value);
  if (key == "exponent") schedule.exponent = value;
  if (key == "d") schedule.exponent = sphere_exponent(value);
}

std::vector<std::string_view> split_at_commas(std::string_view list) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    std::string_view part = list.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    parts.push_back(part);
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

bool takes(const Entry& entry, const std::string& key) {
  return std::find(entry.keys.begin(), entry.keys.end(), key) != entry.keys.end();
}

// Of "key=number"; a number alone is for the first key.
std::string key_of(const Entry& entry, std::string_view part) {
  const std::size_t sign = part.find('=');
  return sign == std::string_view::npos ? entry.keys.front() : std::string(part.substr(0, sign));
}

void set_part(Schedule& schedule, const Entry& entry, const std::string& text,
              std::string_view part) {
  const std::size_t sign = part.find('=');
  const std::string key = key_of(entry, part);
  if (!takes(entry, key)) {
    throw Error(Code::bad_value, fmt::format("schedule: '{}' has no number '{}'; allowed: {}",
                                             entry.named.name, key, fmt::join(entry.keys, ", ")));
  }
  const std::size_t start = sign == std::string_view::npos ? 0 : sign + 1;
  set_field(schedule, key, parse_number(text, key, part.substr(start)));
}

// What stands behind the colon.
std::vector<std::string_view> parts_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {};
  return split_at_commas(std::string_view(text).substr(colon + 1));
}

// What a name cannot do without.
void require_numbers(const Schedule& schedule, const std::string& text, bool takes_length) {
  if (schedule.kind == ScheduleKind::power && schedule.exponent == 0.0) {
    throw Error(Code::bad_value,
                fmt::format("schedule: '{}' needs d or exponent, as in power:d=64", text));
  }
  if (takes_length && schedule.n0 == 0.0) {
    throw Error(Code::bad_value, fmt::format("schedule: '{}' needs the training length n0", text));
  }
  (void)multiplier(schedule, 1.0);  // refuses an n0 that the formula cannot take
}

}  // namespace

const std::vector<NamedSchedule>& named_schedules() {
  static const std::vector<NamedSchedule> all = [] {
    std::vector<NamedSchedule> list;
    for (const Entry& entry : entries()) list.push_back(entry.named);
    return list;
  }();
  return all;
}

Schedule named_schedule(const std::string& text, double n0) {
  const std::size_t colon = text.find(':');
  const Entry& entry = entry_of(text.substr(0, colon));
  Schedule schedule = entry.prototype;
  schedule.name = entry.named.name;
  schedule.confirmed = entry.named.confirmed;
  if (takes(entry, "n0")) schedule.n0 = n0;
  for (const std::string_view part : parts_of(text)) set_part(schedule, entry, text, part);
  require_numbers(schedule, text, takes(entry, "n0"));
  return schedule;
}

std::string name_with_length(const std::string& text, double n0) {
  (void)named_schedule(text, n0);
  const std::size_t colon = text.find(':');
  const Entry& entry = entry_of(text.substr(0, colon));
  const std::vector<std::string_view> parts = parts_of(text);
  const bool has_length = std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return key_of(entry, part) == "n0";
  });
  if (has_length || !takes(entry, "n0")) return text;
  return fmt::format("{}{}n0={}", text, parts.empty() ? ":" : ",", n0);
}

}  // namespace dewpoint::scaling
