// The studies of examples/long/, which take hours: `dewpoint reproduce --long` runs them, and the
// report shows those that somebody ran. Their texts are part of the program.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dewpoint::cli {

struct LongStudy {
  std::string name;   // of its file: name.study
  std::string title;  // one line
  std::string about;  // what there is to see: the first paragraph of the comment it begins with
  std::string text;   // TOML, as `dewpoint run` reads it
};

/// Their names alone, which cost nothing.
[[nodiscard]] std::vector<std::string> long_study_names();

/// By name.
[[nodiscard]] const std::vector<LongStudy>& long_studies();

}  // namespace dewpoint::cli
