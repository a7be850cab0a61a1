// The figure of a study: what somebody asked for, or what fits best.
//
//     heatmap    an observable over two axes (study_heatmap.hpp)
//     curve      an observable over one axis (study_curves.hpp)
//     scaling    the same, doubly logarithmic against n, with fitted powers
//     collapse   curves of all n, raw and collapsed
//     auto       the figure made for studies of this form, if there is one (depth.hpp and its
//                like) and the request names neither axes nor values; else a heat map
//                where two axes hold at least kBroad numbers each; else a curve
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/figure_request.hpp"
#include "dewpoint/report/study_curves.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// What the caller fitted, for the kinds that show it.
struct FigureFits {
  std::vector<ScalingFit> scaling;
  std::optional<CollapseFit> collapse;  // must be there for a collapse
};

/// All kinds, "auto" first.
[[nodiscard]] const std::vector<std::string>& figure_kinds();

/// The kind that "auto" becomes: "special", "heatmap" or "curve"; another kind is itself. Throws
/// Error{bad_value} on a kind that there is not.
[[nodiscard]] std::string chosen_kind(const store::StudyRecord& study,
                                      const FigureRequest& request);

/// Throws Error{bad_value} where the request does not fit the study.
[[nodiscard]] Figure figure_of_study(const store::StudyRecord& study, const FigureRequest& request,
                                     const FigureFits& fits = {});

/// The figure that was made for studies that hold these frames, if any: of depth, three phases,
/// scaling collapse, condensation, retrieval, critical weights, convergence, outputs, values,
/// backward heat, dew points, and of real heads. `observable` chooses where there are several;
/// empty is the first.
[[nodiscard]] std::optional<Figure> specialised_figure(const store::StudyRecord& study,
                                                       const std::string& observable = {});

}  // namespace dewpoint::report
