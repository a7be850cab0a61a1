#include "dewpoint/experiments/lengths_question.hpp"

#include <fmt/format.h>

#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::experiments {
namespace {

std::string completed_law(const std::string& law, const LengthsQuestion& q) {
  if (law == kCriticalLaw) return law;
  std::string text = law == "power" ? fmt::format("power:d={}", q.cloud.d) : law;
  try {
    (void)scaling::named_schedule(text, static_cast<double>(q.n0));
  } catch (const Error& error) {
    throw Error(Code::bad_value, fmt::format("law: {}", error.what()));
  }
  return text;
}

}  // namespace

std::string length_law_names() {
  std::string names;
  for (const scaling::NamedSchedule& known : scaling::named_schedules()) names += known.name + ", ";
  return fmt::format("{}or {}, which follows the transition", names, kCriticalLaw);
}

LengthsQuestion resolved(LengthsQuestion q) {
  q.cloud = resolved_known(std::move(q.cloud));
  q.law = completed_law(q.law, q);
  if (q.strength == 1.0) q.strength.reset();
  if (q.norm.eta != Eta::none) return q;
  q.norm.eta_error.reset();
  q.norm.eta_probes.reset();
  q.eta_most.reset();
  return q;
}

}  // namespace dewpoint::experiments
