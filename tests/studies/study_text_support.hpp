// Study files of the test experiment: read, or refused with this message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/studies/study_text.hpp"
#include "studies/test_experiment.hpp"

namespace dewpoint::test {

using Texts = std::vector<std::string>;

inline const studies::Experiment& find_test(const std::string& name) {
  static const TestExperiment experiment;
  if (name == experiment.name()) return experiment;
  throw Error(Code::bad_value, "no experiment '" + name + "'" + instead_of(name, {"test"}));
}

inline studies::StudyText parse(const std::string& text, const Texts& overrides = {}) {
  return studies::parse_study_text(text, "study.toml", overrides, find_test);
}

/// The message of the error, "" where there is none.
inline std::string refusal(const std::string& text, const Texts& overrides = {}) {
  try {
    static_cast<void>(parse(text, overrides));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline const std::string kHead = "experiment = \"test\"\n";

}  // namespace dewpoint::test
