// The studies of `dewpoint reproduce` in their folder: found there, or measured; and the files of
// their figures.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/figure_study.hpp"
#include "cli/long_studies.hpp"
#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::cli {

/// All lists of figures, in the order of the papers.
[[nodiscard]] std::vector<FigureStudy> all_figure_studies();

/// "quick" or "full", as records say it.
[[nodiscard]] std::string effort_name(const StudyEffort& effort);

/// The command that measures this study alone: the same whatever else was asked for with it.
[[nodiscard]] std::string command_of(const std::string& study, const StudyEffort& effort);

/// The study in `file`, if this version measured it with this seed and effort; none where the file
/// is missing, damaged or something else.
[[nodiscard]] std::optional<store::StudyRecord> found_study(const std::filesystem::path& file,
                                                            const FigureStudy& study,
                                                            const StudyEffort& effort);

/// Measures the study and writes `file`.
[[nodiscard]] store::StudyRecord measured_study(const OutputFile& file, const FigureStudy& study,
                                                StudyEffort effort);

/// A long study as it would be run into `file`.
[[nodiscard]] studies::StudyText text_of(const LongStudy& study, const std::filesystem::path& file,
                                         std::uint64_t seed);

/// The long study in its file, if it is there and complete.
[[nodiscard]] std::optional<store::StudyRecord> found_long_study(const studies::StudyText& study);

/// stem.svg, stem.png and stem.csv, all of them whole or none; without `pictures` only the last.
/// Throws Error{missing_tool} without gnuplot.
void write_figure_files(const report::Figure& figure, const OutputFile& stem, bool pictures);

}  // namespace dewpoint::cli
