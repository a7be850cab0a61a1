// What a study asks to be written beside it: exports and figures.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::cli {

struct Files {
  std::vector<std::string> exports;
  std::vector<std::string> figures;
};

/// A figure that a study asks for, drawn from its record, with what is fitted to it.
[[nodiscard]] report::Figure figure_of_output(const studies::FigureOutput& output,
                                              const store::StudyRecord& record,
                                              const std::string& title);

/// Asked before long work: whether outputs.exports and outputs.figures may be written.
void require_output_places(const studies::StudyText& study, bool force);

/// Writes all of outputs.exports and outputs.figures from the study's file. A missing gnuplot is
/// said, not fatal: the study is complete.
[[nodiscard]] Files write_outputs(const studies::StudyText& study, bool force);

}  // namespace dewpoint::cli
