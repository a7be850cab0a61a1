#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>

#include "dewpoint/training/stages.hpp"
#include "training/stage_records.hpp"

namespace dewpoint::training {
namespace {

rc::Gen<std::vector<double>> sixteenths(int least) {
  const auto numbers = rc::gen::container<std::vector<int>>(rc::gen::inRange(least, 17));
  return rc::gen::map(numbers, [](const std::vector<int>& parts) {
    std::vector<double> values;
    for (const int part : parts) values.push_back(part / 16.0);
    return values;
  });
}

// Property (1): all numbers here are exact.
RC_GTEST_PROP(FindStages, ScaleWithTime, ()) {
  std::vector<Record> records = focus_of_two(*sixteenths(0));
  for (Record& record : records) record.embedding_norm[1] = 1.0 - record.attention(1, 0);
  const Stages before = find_stages(records, exact_thresholds());
  for (Record& record : records) record.time = 4.0 * record.time - 8.0;
  const Stages after = find_stages(records, exact_thresholds());
  const auto later = [](std::optional<double> time) {
    return time ? std::optional(4.0 * *time - 8.0) : time;
  };
  for (std::size_t k = 0; k < before.cycles.size(); ++k) {
    RC_ASSERT(after.cycles[k].start == later(before.cycles[k].start));
    RC_ASSERT(after.cycles[k].peak == later(before.cycles[k].peak));
    RC_ASSERT(after.cycles[k].half == later(before.cycles[k].half));
    RC_ASSERT(after.cycles[k].peak_value == before.cycles[k].peak_value);
  }
  for (std::size_t token = 0; token < before.retractions.size(); ++token) {
    RC_ASSERT(after.retractions[token].size() == before.retractions[token].size());
    for (std::size_t i = 0; i < before.retractions[token].size(); ++i) {
      RC_ASSERT(after.retractions[token][i].until == later(before.retractions[token][i].until));
    }
  }
}

// The definition of a cycle with its quantifiers written out, in quadratic time.
RC_GTEST_PROP(FindStages, FindsWhatTheDefinitionOfACycleSays, ()) {
  const std::vector<double> s = *sixteenths(0);
  RC_PRE(!s.empty());
  const auto top = [&](std::size_t from, std::size_t until) {  // first largest of [from, until)
    const auto begin = s.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = s.begin() + static_cast<std::ptrdiff_t>(until);
    return static_cast<std::size_t>(std::max_element(begin, end) - s.begin());
  };
  std::size_t rise = 0;
  while (rise < s.size() && s[rise] <= 0.625) ++rise;
  std::size_t half = rise;
  while (half < s.size() && 2.0 * s[half] >= s[top(rise, half + 1)]) ++half;
  const Cycle cycle = only_cycle(s);
  RC_ASSERT(cycle.peak.has_value() == (rise < s.size()));
  RC_ASSERT(cycle.half.has_value() == (half < s.size()));
  if (!cycle.peak) return;
  const std::size_t peak = top(rise, half);
  RC_ASSERT(*cycle.peak == 10.0 * static_cast<double>(peak));
  if (!cycle.half) return;
  RC_ASSERT(*cycle.half == 10.0 * static_cast<double>(half));
  const auto start = static_cast<std::size_t>(*cycle.start / 10.0);  // property (2)
  RC_ASSERT(start <= peak);
  RC_ASSERT(std::all_of(s.begin() + static_cast<std::ptrdiff_t>(start),
                        s.begin() + static_cast<std::ptrdiff_t>(peak) + 1,
                        [](double share) { return share > 0.5625; }));
  if (start > 0) RC_ASSERT(s[start - 1] <= 0.5625);
}

RC_GTEST_PROP(FindStages, FindsRetractionsThatFollowEachOtherAndAreDeepEnough, ()) {
  const std::vector<double> norms = *sixteenths(1);
  RC_PRE(!norms.empty());
  double after = -1.0;
  for (const Retraction& retraction : retractions_of(norms)) {
    const auto from = static_cast<std::size_t>(retraction.from / 10.0);
    const auto until = static_cast<std::size_t>(retraction.until / 10.0);
    RC_ASSERT(retraction.from > after);
    RC_ASSERT(retraction.from < retraction.until);
    RC_ASSERT(norms.at(from) == retraction.largest);
    RC_ASSERT(norms.at(until) == retraction.smallest);
    RC_ASSERT(retraction.smallest < 0.875 * retraction.largest);
    after = retraction.until;
  }
  std::vector<double> scaled = norms;  // property (3)
  for (double& norm : scaled) norm *= 0.25;
  RC_ASSERT(retractions_of(scaled).size() == retractions_of(norms).size());
}

}  // namespace
}  // namespace dewpoint::training
