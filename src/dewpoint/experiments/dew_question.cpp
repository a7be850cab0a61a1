#include "dewpoint/experiments/dew_question.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"

namespace dewpoint::experiments {

DewQuestion resolved(DewQuestion q) {
  const auto law = scores::score_law(q.law);
  q.law = law->name();
  q.n = whole_length(q.n);
  check(dew_of(q), *law);
  if (q.n < static_cast<double>(q.top)) q.top = static_cast<std::size_t>(q.n);
  return q;
}

DewCurve dew_of(const DewQuestion& q) { return {{q.n}, q.draws, q.top}; }

DewCurves dew_of(const question::Asked& asked, std::uint64_t seed) {
  DewCurves all{{}, dew_of(asked.first<DewQuestion>())};
  all.curve.seed = seed;
  all.curve.n = asked.numbers("n");
  std::transform(all.curve.n.begin(), all.curve.n.end(), all.curve.n.begin(), whole_length);
  for (const std::string& name : asked.words("law")) {
    auto law = scores::score_law(name);
    check(all.curve, *law);
    for (const auto& other : all.laws) {
      if (other->name() == law->name()) {
        throw Error(Code::bad_value, fmt::format("law: '{}' is there twice", law->name()));
      }
    }
    all.laws.push_back(std::move(law));
  }
  return all;
}

}  // namespace dewpoint::experiments
