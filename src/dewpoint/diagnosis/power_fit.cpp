#include "dewpoint/diagnosis/power_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr std::size_t kLeastPoints = 3;
constexpr double kUpperTail = 0.025;

struct AxisPoint {
  double u, v, error;
};

double on_axis(double value, bool logarithmic, const char* name, std::size_t index) {
  if (!std::isfinite(value) || (logarithmic && value <= 0.0))
    throw Error(Code::bad_value,
                fmt::format("fit: {} = {:.6g} at point {}; a {} number is needed", name, value,
                            index + 1, logarithmic ? "positive" : "finite"));
  return logarithmic ? std::log(value) : value;
}

std::vector<AxisPoint> points_on_axes(std::span<const double> x, std::span<const Estimate> y,
                                      const FitAxes& axes) {
  DEWPOINT_EXPECTS(x.size() == y.size());
  if (x.size() < kLeastPoints)
    throw Error(Code::bad_value, fmt::format("fit: {} points; a line with an error needs {}",
                                             x.size(), kLeastPoints));
  if (std::all_of(x.begin(), x.end(), [&](double value) { return value == x.front(); }))
    throw Error(Code::bad_value, fmt::format("fit: all points are at x = {:.6g}; a slope needs two "
                                             "places",
                                             x.front()));
  std::vector<AxisPoint> points;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = on_axis(x[i], axes.log_x, "x", i);
    const double v = on_axis(y[i].mean, axes.log_y, "y", i);
    points.push_back({u, v, y[i].standard_error / (axes.log_y ? y[i].mean : 1.0)});
  }
  return points;
}

/// Errors of 1 where somebody's is 0 or unknown.
bool settle_weights(std::vector<AxisPoint>& points) {
  const auto known = [](const AxisPoint& p) { return p.error > 0.0 && std::isfinite(p.error); };
  if (std::all_of(points.begin(), points.end(), known)) return true;
  for (AxisPoint& point : points) point.error = 1.0;
  return false;
}

/// Half of the 95 %, in standard errors.
double half_width(bool student, std::size_t degrees) {
  using boost::math::complement;
  if (!student) return quantile(complement(boost::math::normal(), kUpperTail));
  return quantile(complement(boost::math::students_t(static_cast<double>(degrees)), kUpperTail));
}

/// v = height + slope (u − centre), and what its errors are made of.
struct Line {
  double centre = 0.0, height = 0.0, slope = 0.0;
  double weight = 0.0;  // Σ 1/σ²
  double square = 0.0;  // Σ (u − centre)²/σ²
};

Line best_line(const std::vector<AxisPoint>& points) {
  Line line;
  for (const auto& [u, v, error] : points) {
    const double weight = 1.0 / (error * error);
    line.weight += weight;
    line.centre += weight * u;
    line.height += weight * v;
  }
  line.centre /= line.weight;
  line.height /= line.weight;
  double product = 0.0;
  for (const auto& [u, v, error] : points) {
    const double weight = 1.0 / (error * error), distance = u - line.centre;
    line.square += weight * distance * distance;
    product += weight * distance * (v - line.height);
  }
  line.slope = product / line.square;
  return line;
}

double chi_square_of(const Line& line, const std::vector<AxisPoint>& points) {
  double sum = 0.0;
  for (const auto& [u, v, error] : points) {
    const double misfit = (v - line.height - line.slope * (u - line.centre)) / error;
    sum += misfit * misfit;
  }
  return sum;
}

}  // namespace

PowerFit fit_power(std::span<const double> x, std::span<const Estimate> y, const FitAxes& axes) {
  std::vector<AxisPoint> points = points_on_axes(x, y, axes);
  PowerFit fit{.axes = axes, .degrees = points.size() - 2, .weighted = settle_weights(points)};
  const Line line = best_line(points);
  fit.chi_square_per_degree = chi_square_of(line, points) / static_cast<double>(fit.degrees);
  const bool scattered = !fit.weighted || fit.chi_square_per_degree > 1.0;
  const double factor = scattered ? std::sqrt(fit.chi_square_per_degree) : 1.0;

  fit.centre = line.centre;
  fit.slope = {line.slope, factor / std::sqrt(line.square), points.size()};
  fit.height = {line.height, factor / std::sqrt(line.weight), points.size()};
  fit.intercept = {line.height - line.slope * line.centre,
                   std::hypot(fit.height.standard_error, line.centre * fit.slope.standard_error),
                   points.size()};
  const double half = half_width(scattered, fit.degrees) * fit.slope.standard_error;
  fit.slope_low = line.slope - half;
  fit.slope_high = line.slope + half;
  return fit;
}

Estimate PowerFit::at(double x) const {
  const double distance = (axes.log_x ? std::log(x) : x) - centre;
  const double value = height.mean + slope.mean * distance;
  const double error = std::hypot(height.standard_error, distance * slope.standard_error);
  if (!axes.log_y) return {value, error, slope.samples};
  return {std::exp(value), std::exp(value) * error, slope.samples};
}

}  // namespace dewpoint::diagnosis
