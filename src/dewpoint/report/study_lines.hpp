// Which axis of a study is x, which gives lines and which give panels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/report/study_curves.hpp"
#include "dewpoint/report/study_slice.hpp"

namespace dewpoint::report {

struct LineRoles {
  const FreeAxis* x;
  const FreeAxis* lines;  // null: a single line
  std::vector<const FreeAxis*> panels;
};

/// As curve_of_study(), scaling_of_study() or collapse_of_study() promise for the kind.
[[nodiscard]] LineRoles line_roles(const StudySlice& slice, const FigureRequest& request);

/// The values of a variable along x at a place; empty where it knows none.
[[nodiscard]] StudyLine line_at(const StudySlice& slice, const LineRoles& roles,
                                const Variable& variable, const Place& place);

/// All lines of a panel, in the order of their axis.
[[nodiscard]] std::vector<Place> line_places(const LineRoles& roles, const Place& panel);

/// Dark to light for numbers, different in kind for words.
[[nodiscard]] Colour line_colour(const LineRoles& roles, std::size_t line);

}  // namespace dewpoint::report
