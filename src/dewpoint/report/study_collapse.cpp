#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/study_curves.hpp"
#include "dewpoint/report/study_lines.hpp"

namespace dewpoint::report {
namespace {

constexpr const char* kLogSize = "log n";

// In the place of numbers that are not determined.
constexpr const char* kCritical = "x_c";
constexpr const char* kExponent = "a";
constexpr const char* kAmplitude = "b";

bool in_logarithms(const CollapseFit& fit) { return fit.size_variable == kLogSize; }

double size_of(const CollapseFit& fit, const StudyLine& line) {
  return in_logarithms(fit) ? std::log(line.value) : line.value;
}

bool is_determined(const Estimate& value) { return !std::isinf(value.standard_error); }

// The number, or its symbol where the data do not determine it.
std::string number_or(const Estimate& value, int digits, const char* symbol) {
  return is_determined(value) ? fmt::format("{:.{}g}", value.mean, digits) : symbol;
}

// "(log n)^0.51", or nothing for a power of 0.
std::string power_label(const CollapseFit& fit, const std::string& name, const Estimate& power,
                        const char* symbol) {
  if (power.mean == 0 && is_determined(power)) return "";
  return fmt::format(" · {}^{}", in_logarithms(fit) ? "(log " + name + ")" : name,
                     number_or(power, 3, symbol));
}

Series collapsed(Series series, const StudyLine& line, const CollapseFit& fit) {
  const double size = size_of(fit, line);
  const double stretch = std::pow(size, fit.exponent.mean);
  const double lift = std::pow(size, fit.amplitude.mean);
  for (double& x : series.x) x = (x - fit.critical.mean) * stretch;
  for (double& y : series.y) y *= lift;
  for (double& error : series.error) error *= lift;
  return series;
}

std::string summary(const CollapseFit& fit, const LineRoles& roles) {
  const std::string x = symbol_of(roles.x->name());
  const auto stated = [](const Estimate& value, const char* symbol) {
    return is_determined(value) ? to_string(value)
                                : fmt::format("{}, not determined by these data", symbol);
  };
  std::string text = fmt::format("collapse at {} = {}, exponent {}", x,
                                 stated(fit.critical, kCritical), stated(fit.exponent, kExponent));
  if (fit.amplitude.mean != 0) {
    text += ", amplitude exponent " + stated(fit.amplitude, kAmplitude);
  }
  return text + fmt::format(" of {}, quality {:.3g}", fit.size_variable, fit.quality);
}

void expect_sizes(const FreeAxis& sizes, [[maybe_unused]] const CollapseFit& fit) {
  DEWPOINT_EXPECTS(in_logarithms(fit) || fit.size_variable == "n");
  if (sizes.values().front() > 1) return;
  throw Error(Code::bad_value, fmt::format("axis '{}' begins at {}, a collapse needs sizes above 1",
                                           sizes.name(), sizes.values().front()));
}

}  // namespace

LineFigure collapse_of_study(const store::StudyRecord& study, const FigureRequest& request,
                             const CollapseFit& fit) {
  FigureRequest wanted = request;
  wanted.kind = "collapse";
  const StudySlice slice(study, wanted);
  const LineRoles roles = line_roles(slice, wanted);
  expect_sizes(*roles.lines, fit);
  LineFigure figure = curve_of_study(study, wanted);
  LinePanel& raw = figure.panels.front();
  raw.title = "as measured";
  LinePanel scaled;
  scaled.title = "collapsed";
  const std::string x = symbol_of(roles.x->name());
  const std::string sizes = symbol_of(roles.lines->name());
  scaled.x.label = fmt::format("({} − {}){}", x, number_or(fit.critical, 4, kCritical),
                               power_label(fit, sizes, fit.exponent, kExponent));
  scaled.y.label = raw.y.label + power_label(fit, sizes, fit.amplitude, kAmplitude);
  scaled.y.scale = raw.y.scale;
  const std::vector<StudyLine> lines = lines_of(study, wanted);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const StudyLine& line = lines[k];
    const Series series{"",     SeriesStyle::points, line_colour(roles, k),
                        line.x, line.mean,           line.error};
    scaled.series.push_back(collapsed(series, line, fit));
  }
  figure.panels.push_back(std::move(scaled));
  figure.caption = summary(fit, roles) + "\u00a0· " + figure.caption;
  return figure;
}

}  // namespace dewpoint::report
