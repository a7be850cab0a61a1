// What a study asks to be written beside it: exports and figures.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::cli {

struct Files {
  std::vector<std::string> exports;
  std::vector<std::string> figures;
};

/// Writes all of outputs.exports and outputs.figures from the study's file. A missing gnuplot is
/// said, not fatal: the study is complete.
[[nodiscard]] Files write_outputs(const studies::StudyText& study);

}  // namespace dewpoint::cli
