#include "cli/fitted_figure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/diagnosis/power_fit.hpp"
#include "dewpoint/diagnosis/scaling_collapse.hpp"
#include "dewpoint/report/study_curves.hpp"
#include "dewpoint/report/study_figure.hpp"

namespace dewpoint::cli {
namespace {

std::vector<Estimate> estimates_of(const report::StudyLine& line) {
  std::vector<Estimate> cells;
  for (std::size_t i = 0; i < line.mean.size(); ++i) {
    cells.push_back({line.mean[i], line.error[i], 1});
  }
  return cells;
}

std::string name_of(const report::StudyLine& line) {
  if (line.panel.empty()) return line.name.empty() ? "all" : line.name;
  return line.name.empty() ? line.panel : line.panel + ", " + line.name;
}

// ----------------------------------------------------------------------------------- scaling

report::ScalingFit drawn(const report::StudyLine& line, const diagnosis::PowerFit& fit) {
  report::ScalingFit out;
  out.panel = line.panel;
  out.line = line.name;
  out.slope = fit.slope.mean;
  out.slope_error = fit.slope.standard_error;
  out.intercept = fit.intercept.mean;
  out.chi2_per_dof = fit.chi_square_per_degree;
  out.x = {line.x.front(), line.x.back()};
  return out;
}

// The line that the law is on its own axes.
diagnosis::PowerFit fit_of(const report::StudyLine& line, report::FitLaw law) {
  std::vector<double> x = line.x;
  if (law == report::FitLaw::power_of_logarithm) {
    for (double& value : x) value = std::log(value);
  }
  return diagnosis::fit_power(x, estimates_of(line),
                              {.log_x = true, .log_y = law != report::FitLaw::logarithm});
}

const char* name_of_slope(report::FitLaw law) {
  switch (law) {
    case report::FitLaw::logarithm:
      return "slope in log x";
    case report::FitLaw::power_of_logarithm:
      return "exponent of log x";
    default:
      return "slope";
  }
}

FittedFigure scaling(const store::StudyRecord& study, const report::FigureRequest& request) {
  const report::FitLaw law = report::fit_law(request.fit);
  report::FigureFits fits;
  std::string text;
  for (const report::StudyLine& line : report::lines_of(study, request)) {
    if (line.x.size() < 3) continue;
    const diagnosis::PowerFit fit = fit_of(line, law);
    fits.scaling.push_back(drawn(line, fit));
    text += fmt::format("{}: {} {} (95 %: {:.4g} to {:.4g}), chi2/dof {:.3g}\n", name_of(line),
                        name_of_slope(law), to_string(fit.slope), fit.slope_low, fit.slope_high,
                        fit.chi_square_per_degree);
  }
  return {report::figure_of_study(study, request, fits), text};
}

// ---------------------------------------------------------------------------------- collapse

std::vector<diagnosis::SizeCurve> curves_of(const std::vector<report::StudyLine>& lines,
                                            bool logarithmic) {
  std::vector<diagnosis::SizeCurve> curves;
  for (const report::StudyLine& line : lines) {
    curves.push_back({logarithmic ? std::log(line.value) : line.value, line.x, estimates_of(line)});
  }
  return curves;
}

Estimate drawn(const diagnosis::CollapseParameter& parameter) {
  Estimate value = parameter.value;
  if (!parameter.determined()) value.standard_error = std::numeric_limits<double>::infinity();
  return value;
}

report::CollapseFit drawn(const diagnosis::Collapse& fit, bool logarithmic) {
  report::CollapseFit out;
  out.critical = drawn(fit.critical);
  out.exponent = drawn(fit.width_exponent);
  out.amplitude = drawn(fit.height_exponent);
  out.amplitude.mean = -out.amplitude.mean;  // drawn is y L^amplitude, fitted y = L^b f
  out.quality = fit.quality.mean;
  out.size_variable = logarithmic ? "log n" : "n";
  return out;
}

// Which values collapse the curves about as well as the best.
std::string range_text(const diagnosis::CollapseParameter& parameter) {
  if (std::isfinite(parameter.lowest)) return fmt::format("any above {:.4g}", parameter.lowest);
  if (std::isfinite(parameter.highest)) return fmt::format("any below {:.4g}", parameter.highest);
  return "any value";
}

// The error, and over which values the picture still looks collapsed.
std::string line_of(const char* name, const diagnosis::CollapseParameter& parameter) {
  if (!parameter.determined()) {
    return fmt::format(
        "{} not determined by these data: {} fits about as well; more sizes, a wider range of x or "
        "smaller errors are needed\n",
        name, range_text(parameter));
  }
  return fmt::format("{} {} (quality within 1 of the best from {:.4g} to {:.4g})\n", name,
                     to_string(parameter.value), parameter.lowest, parameter.highest);
}

std::string text_of(const diagnosis::Collapse& fit) {
  return line_of("critical", fit.critical) + line_of("exponent", fit.width_exponent) +
         line_of("amplitude", fit.height_exponent) +
         fmt::format("quality {:.3g} over {} of {} points\n", fit.quality.mean,
                     fit.quality.compared, fit.quality.points) +
         (fit.doubt.empty() ? "" : "doubt: " + fit.doubt + "\n");
}

FittedFigure collapse(const store::StudyRecord& study, const report::FigureRequest& request,
                      const CollapseChoice& choice) {
  if (choice.size != "n" && choice.size != "log-n") {
    throw Error(Code::bad_value, fmt::format("size: '{}' is neither n nor log-n", choice.size));
  }
  const bool logarithmic = choice.size == "log-n";
  diagnosis::CollapseOptions options;
  options.critical = choice.critical;
  options.width_exponent = choice.exponent;
  options.height_exponent = choice.amplitude;
  const diagnosis::Collapse fit =
      diagnosis::fit_collapse(curves_of(report::lines_of(study, request), logarithmic), options);
  report::FigureFits fits;
  fits.collapse = drawn(fit, logarithmic);
  return {report::figure_of_study(study, request, fits), text_of(fit)};
}

}  // namespace

FittedFigure fitted_figure(const store::StudyRecord& study, const report::FigureRequest& request,
                           const CollapseChoice& choice) {
  const std::string kind = report::chosen_kind(study, request);
  if (kind == "scaling") return scaling(study, request);
  if (kind == "collapse") return collapse(study, request, choice);
  return {report::figure_of_study(study, request), {}};
}

}  // namespace dewpoint::cli
