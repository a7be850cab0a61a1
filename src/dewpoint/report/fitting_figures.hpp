// The figures that fit a study of any kind, for a report of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

struct FittingFigure {
  std::string name;   // short, unique within the study: "contraction"
  std::string title;  // one line
  Figure figure;
};

struct FittingFigures {
  std::vector<FittingFigure> figures;
  std::size_t left_out = 0;  // observables beyond kMostFittingFigures
};

inline constexpr std::size_t kMostFittingFigures = 12;

/// All figures that were made for such studies (training_figures.hpp, specialised_figure()); where
/// there is none, what `dewpoint figure` draws of each measured observable, as far as it can be
/// drawn. `unfinished`: cells are still missing.
[[nodiscard]] FittingFigures fitting_figures(const store::StudyRecord& study, bool unfinished);

}  // namespace dewpoint::report
