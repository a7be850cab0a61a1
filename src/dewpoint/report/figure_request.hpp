// What somebody wants to see of a study: `dewpoint figure STUDY --kind heatmap --x rho --y gamma`.
//
// Every field may be left out; the figure then chooses, as study_figure.hpp says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dewpoint::report {

struct FigureRequest {
  std::string kind = "auto";  // auto, heatmap, curve, scaling or collapse
  std::string observable;     // a variable of the study; empty: the first that was measured
  std::string x;              // axis
  std::string y;              // second axis of a heat map; in other figures, the axis with one line
                              // per value
  std::vector<std::pair<std::string, std::string>> at;  // axis and its values, "128" or "64,128":
                                                        // only these are shown
  std::string fit = "power";  // of a scaling figure: power, log or log-power (FitLaw)
  bool log_x = false;         // logarithmic, whatever its values; without it, an axis is so where
  bool log_y = false;         // its values grow by factors (grows_by_factors)
  bool linear = false;        // no axis is, unless log_x or log_y says so
  bool log_colours = false;   // of a heat map
  bool diverging = false;     // blue below `centre`, red above
  std::optional<double> centre;  // none: 1/2 for fractions, 1 for everything else
  bool unfinished = false;       // cells are still missing: none is painted like its neighbours
  std::string title;             // empty: none
};

/// "n=64,128" as an entry of FigureRequest::at; throws Error{bad_value} on another form.
[[nodiscard]] std::pair<std::string, std::string> parse_at(const std::string& text);

}  // namespace dewpoint::report
