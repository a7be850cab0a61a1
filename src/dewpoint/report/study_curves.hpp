// Curves of any study: an observable against one of its axes, one line per value of another, one
// panel per value of the rest; and two figures of how it scales with the size of the context.
//
// Every measured point has its error. Lines of numbers are dark to light as the number grows, lines
// of words differ in kind. Where the frame holds "<observable>_theory" it is dashed in the colour
// of its line, and the measurement is points; elsewhere points are joined. Where "critical_<x>" is
// the same all over a panel it is a vertical marker.
//
// Fits come from the caller: report draws and does not compute. lines_of() hands out what a figure
// will show, fits are made of it, and the figure takes them back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/report/figure_request.hpp"
#include "dewpoint/report/line_figure.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::report {

/// Lines of one figure.
inline constexpr std::size_t kMostLines = 20;

/// One line of a figure; points without a value are left out.
struct StudyLine {
  std::string panel;  // title: "ρ = 0.5"; empty where there is one
  std::string name;   // "n = 512"; empty where there is one
  double value;       // of the axis of lines; NaN where it holds words or there is none
  std::vector<double> x;
  std::vector<double> mean;
  std::vector<double> error;
};

/// The lines that curve_of_study(), scaling_of_study() or collapse_of_study() would draw, as the
/// `kind` of the request says ("auto" is "curve").
[[nodiscard]] std::vector<StudyLine> lines_of(const store::StudyRecord& study,
                                              const FigureRequest& request);

/// x is that of the request, otherwise the last axis of numbers, one with at least five values if
/// there is any; one line per value of y, otherwise of the last axis that is left. Throws
/// Error{bad_value} where the request does not fit the study, and on more than kMostLines lines or
/// kMostPanels panels.
[[nodiscard]] LineFigure curve_of_study(const store::StudyRecord& study,
                                        const FigureRequest& request);

/// What a fit assumes, by its name in FigureRequest::fit:
///
///     power        y = e^a x^b
///     log          y = a + b log x
///     log-power    y = e^a (log x)^b
enum class FitLaw { power, logarithm, power_of_logarithm };

/// Throws Error{bad_value} on another name.
[[nodiscard]] FitLaw fit_law(const std::string& name);
/// The three names.
[[nodiscard]] const std::vector<std::string>& fit_laws();

/// The law of the figure with these constants, fitted to a line from x.low to x.high.
struct ScalingFit {
  std::string panel;  // of the line, as StudyLine has it
  std::string line;
  double slope = 0.0;  // b
  double slope_error = 0.0;
  double intercept = 0.0;  // a
  double chi2_per_dof = 0.0;
  Range x{1.0, 2.0};
};

/// As curve_of_study(), against n (or the axis x), each fit as a line in the colour of its points.
/// Both axes are logarithmic, but for y under the law `log`. The legend states slopes and standard
/// errors.
[[nodiscard]] LineFigure scaling_of_study(const store::StudyRecord& study,
                                          const FigureRequest& request,
                                          const std::vector<ScalingFit>& fits);

/// The curves of all sizes n fall onto one: y L^amplitude against (x − critical) L^exponent, where
/// L is n or log n.
/// An infinite error says that the data do not determine a number: then it is nowhere printed.
struct CollapseFit {
  Estimate critical;
  Estimate exponent;
  Estimate amplitude{0.0, 0.0, 0};  // mean 0: y is left as it is
  double quality = 0.0;             // mean squared distance from the common curve, in errors
  std::string size_variable = "n";  // or "log n"
};

/// The raw curves, and beside them the collapsed ones; the caption states the exponents with their
/// errors and the quality. One line per value of y, otherwise of "n", which must be numbers
/// above 1. All other axes must be fixed: Error{bad_value} otherwise.
[[nodiscard]] LineFigure collapse_of_study(const store::StudyRecord& study,
                                           const FigureRequest& request, const CollapseFit& fit);

}  // namespace dewpoint::report
