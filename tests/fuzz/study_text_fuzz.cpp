// Any bytes are a study that reads back from its own text, or an Error of one line; anything else
// is a crash. What stands before a zero byte is an override.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../studies/test_experiment.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

namespace {

using namespace dewpoint;

const studies::Experiment& find_test(const std::string& name) {
  static const test::TestExperiment experiment;
  if (name == experiment.name()) return experiment;
  throw Error(Code::bad_value, "no experiment '" + name + "'");
}

bool is_finite(double value) { return std::isfinite(value); }

void check_axis(const studies::GridAxis& axis) {
  demand(axis.size() >= 1 && axis.size() <= studies::kMostAxisValues);
  demand(axis.values.empty() != axis.words.empty());
  demand(std::all_of(axis.values.begin(), axis.values.end(), is_finite));
  demand(std::adjacent_find(axis.values.begin(), axis.values.end(), std::greater_equal<>()) ==
         axis.values.end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    overrides.push_back(text.substr(0, zero));
    text.erase(0, zero + 1);
  }
  try {
    const auto study = studies::parse_study_text(text, "fuzz", overrides, find_test);
    for (const auto& axis : study.grid) check_axis(axis);
    demand(studies::parse_study_text(studies::effective_text(study), "again", {}, find_test) ==
           study);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    demand(error.code() == Code::malformed_file || error.code() == Code::bad_value);
    demand(message.starts_with("fuzz:") || message.starts_with("override '"));
    demand(message.find('\n') == std::string_view::npos && message.size() < 1000);
  }
  return 0;
}
