// Figures of a study with what is fitted to them: powers and logarithms for "scaling", exponents
// for "collapse".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/figure_request.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// What a collapse holds fixed, and in which variable sizes scale.
struct CollapseChoice {
  std::string size = "log-n";             // or "n"
  std::optional<double> critical;         // none: fitted
  std::optional<double> exponent;         // none: fitted
  std::optional<double> amplitude = 0.0;  // none: fitted
};

struct FittedFigure {
  report::Figure figure;
  std::string text;  // what was fitted, for people; empty where nothing was
};

/// Throws Error{bad_value} where the request does not fit the study or nothing can be fitted.
[[nodiscard]] FittedFigure fitted_figure(const store::StudyRecord& study,
                                         const report::FigureRequest& request,
                                         const CollapseChoice& choice = {});

}  // namespace dewpoint::cli
