#include "dewpoint/report/study_figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/report/study_heatmap.hpp"
#include "dewpoint/report/study_slice.hpp"

namespace dewpoint::report {
namespace {

bool names_axes(const FigureRequest& request) {
  return !request.x.empty() || !request.y.empty() || !request.at.empty();
}

// Logarithmic axes and colours are wishes that a figure made for one kind of study does not know.
bool is_plain(const FigureRequest& request) {
  return !names_axes(request) && !request.log_x && !request.log_y && !request.log_colours &&
         !request.diverging;
}

bool has_two_broad_axes(const StudySlice& slice) {
  const auto& axes = slice.axes();
  return std::count_if(axes.begin(), axes.end(), [](const FreeAxis& axis) {
           return axis.is_numeric() && axis.size() >= kBroad;
         }) >= 2;
}

std::string automatic_kind(const store::StudyRecord& study, const FigureRequest& request) {
  if (is_plain(request) && specialised_figure(study, request.observable)) return "special";
  const StudySlice slice(study, request);
  return has_two_broad_axes(slice) ? "heatmap" : "curve";
}

}  // namespace

const std::vector<std::string>& figure_kinds() {
  static const std::vector<std::string> kinds{"auto", "heatmap", "curve", "scaling", "collapse"};
  return kinds;
}

std::string chosen_kind(const store::StudyRecord& study, const FigureRequest& request) {
  const auto& kinds = figure_kinds();
  if (std::find(kinds.begin(), kinds.end(), request.kind) == kinds.end()) {
    throw Error(Code::bad_value, fmt::format("'{}' is no kind of figure", request.kind) +
                                     instead_of(request.kind, kinds));
  }
  return request.kind == "auto" ? automatic_kind(study, request) : request.kind;
}

Figure figure_of_study(const store::StudyRecord& study, const FigureRequest& request,
                       const FigureFits& fits) {
  FigureRequest wanted = request;
  wanted.kind = chosen_kind(study, request);
  if (wanted.kind == "special") {
    Figure figure = *specialised_figure(study, request.observable);
    set_title(figure, request.title);
    return figure;
  }
  if (wanted.kind == "heatmap") return heatmap_of_study(study, wanted);
  if (wanted.kind == "scaling") return scaling_of_study(study, wanted, fits.scaling);
  if (wanted.kind == "curve") return curve_of_study(study, wanted);
  DEWPOINT_EXPECTS(fits.collapse.has_value());
  return collapse_of_study(study, wanted, *fits.collapse);
}

}  // namespace dewpoint::report
