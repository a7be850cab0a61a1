#include "dewpoint/diagnosis/scaling_collapse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/collapse_search.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLeastSizes = 2;
constexpr std::size_t kLeastPoints = 4;

// ---- data -----------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Code::bad_value, "collapse: " + what);
}

void check_curve(const SizeCurve& curve) {
  DEWPOINT_EXPECTS(curve.x.size() == curve.y.size());
  const auto said = [&](const std::string& what) {
    refuse(fmt::format("size {:.6g}: {}", curve.size, what));
  };
  if (!(std::isfinite(curve.size) && curve.size > 0.0)) said("a size is a positive number");
  if (curve.x.size() < kLeastPoints)
    said(fmt::format("{} points; at least {} are needed", curve.x.size(), kLeastPoints));
  for (std::size_t j = 0; j < curve.x.size(); ++j) {
    const auto& [mean, error, samples] = curve.y[j];
    if (!std::isfinite(curve.x[j]) || (j > 0 && curve.x[j] <= curve.x[j - 1]))
      said(fmt::format("x = {:.6g} at point {}; finite, increasing numbers are needed", curve.x[j],
                       j + 1));
    if (!std::isfinite(mean))
      said(fmt::format("y = {} at x = {:.6g}; a finite number is needed", mean, curve.x[j]));
    if (!(error >= 0.0 && std::isfinite(error)))
      said(fmt::format("the error at x = {:.6g} is not known; two replicas or more tell it",
                       curve.x[j]));
  }
}

/// The curves by size, with the floor under their errors.
struct Data {
  std::vector<SizeCurve> curves;
  double floor = 0.0;
  std::size_t floored = 0;
};

Data prepared(std::span<const SizeCurve> given, double error_floor) {
  Data data{{given.begin(), given.end()}};
  if (given.size() < kLeastSizes)
    refuse(fmt::format("{} sizes; at least {} are needed", given.size(), kLeastSizes));
  double lowest = kInfinity, highest = -kInfinity;
  for (const SizeCurve& curve : given) {
    check_curve(curve);
    for (const Estimate& y : curve.y) {
      lowest = std::min(lowest, y.mean);
      highest = std::max(highest, y.mean);
    }
  }
  std::stable_sort(data.curves.begin(), data.curves.end(),
                   [](const SizeCurve& a, const SizeCurve& b) { return a.size < b.size; });
  for (std::size_t i = 1; i < data.curves.size(); ++i)
    if (data.curves[i].size == data.curves[i - 1].size)
      refuse(fmt::format("size {:.6g} twice; one curve per size is needed", data.curves[i].size));
  data.floor = error_floor * (highest - lowest);
  for (SizeCurve& curve : data.curves)
    for (Estimate& y : curve.y) {
      if (y.standard_error < data.floor) ++data.floored;
      y.standard_error = std::max(y.standard_error, data.floor);
      if (y.standard_error == 0.0)
        refuse("a point without error needs a floor above 0, and a y that is not constant");
    }
  return data;
}

// ---- errors ---------------------------------------------------------------------------------

// A replicate is wanted to a small part of its spread over replicates only.
constexpr Descent kRoughDescent = {.tolerance = 1e-4, .gain = 1e-4, .restarts = 1, .moves = 200};

std::vector<SizeCurve> redrawn(std::vector<SizeCurve> curves, const Stream& stream) {
  std::uint64_t index = 0;
  for (SizeCurve& curve : curves)
    for (Estimate& y : curve.y) y.mean += y.standard_error * stream.normal(index++);
  return curves;
}

/// Spread of the fits to redrawn data, in units of the search.
Place bootstrap_errors(const Search& search, const Data& data, const std::vector<Found>& minima,
                       const Bootstrap& options, const RunContext& context) {
  std::vector<Place> places(options.replicates);
  parallel_for(options.replicates, context, [&](std::size_t replicate) {
    const Stream stream(options.seed, "diagnosis/collapse", replicate);
    const std::vector<SizeCurve> curves = redrawn(data.curves, stream);
    Found lowest{{}, kInfinity};
    for (const Found& minimum : minima) {
      const Found found = search.descend_along(curves, minimum.place, search.free(), kRoughDescent);
      if (found.quality < lowest.quality) lowest = found;
    }
    places[replicate] = lowest.place;
  });
  Place errors{};
  for (std::size_t k = 0; k < 3; ++k) {
    RunningMoments moments;
    for (const Place& place : places) moments.add(place[k]);
    errors[k] = std::sqrt(moments.variance());
  }
  return errors;
}

constexpr double kEndShare = 0.01;  // an end is known to this share of its distance

/// Where S, lowest over the other free coordinates, reaches S_min + 1 from coordinate k on in one
/// direction: first by growing steps, then by halving. ±∞ when the search ends before.
double contour_end(const Search& search, std::span<const SizeCurve> curves, const Found& best,
                   std::size_t k, double direction) {
  std::vector<std::size_t> others;
  for (const std::size_t other : search.free())
    if (other != k) others.push_back(other);
  const double end = direction > 0.0 ? Search::high(k) : Search::low(k);
  Found inside = best;
  const auto at = [&](double coordinate) {
    Place base = inside.place;
    base[k] = coordinate;
    return search.descend_along(curves, base, others, kRoughDescent);
  };
  const auto beyond = [&](const Found& found) { return found.quality > best.quality + 1.0; };

  double outside = best.place[k];
  for (double step = kCollapseSteps[k] / 64.0; outside == inside.place[k]; step *= 2.0) {
    const double ahead = inside.place[k] + direction * step;
    const Found found = at(direction * ahead < direction * end ? ahead : end);
    outside = found.place[k];
    if (beyond(found)) break;
    if (outside == end) return direction * kInfinity;
    inside = found;
  }
  while (std::abs(outside - inside.place[k]) > kEndShare * std::abs(outside - best.place[k])) {
    const Found found = at(0.5 * (inside.place[k] + outside));
    if (beyond(found)) {
      outside = found.place[k];
    } else {
      inside = found;
    }
  }
  return search.value_of(k, inside.place[k]);
}

// ---- result ---------------------------------------------------------------------------------

constexpr std::array<const char*, 3> kNames = {"x_c", "the exponent a of the width",
                                               "the exponent b of the height"};

// An error of a quarter of the range of x, or of a factor e between the outermost sizes.
constexpr Place kUndetermined = {0.25, 1.0, 1.0};

/// Why a parameter in units of the search is not known; empty: it is.
std::string ignorance(const Search& search, std::size_t k, double coordinate, double error,
                      const CollapseParameter& parameter) {
  const double low = Search::low(k), high = Search::high(k);
  if (std::isinf(parameter.lowest) && std::isinf(parameter.highest))
    return fmt::format("any {} collapses the curves about as well", kNames[k]);
  if (std::min(coordinate - low, high - coordinate) < 1e-3 * (high - low))
    return fmt::format("{} is at the end of the search; the data do not enclose it", kNames[k]);
  if (error > kUndetermined[k])
    return fmt::format("{} is not determined: {:.3g} with an error of {:.2g}", kNames[k],
                       parameter.value.mean, error * search.unit_of(k));
  return "";
}

std::string misfit(double quality) {
  if (quality <= kGoodQuality) return "";
  return fmt::format(
      "S = {:.3g}: the curves do not fall onto one within their errors; sizes are too small for "
      "one scaling function, errors too small, or points too far apart",
      quality);
}

std::vector<CollapsedPoint> collapsed_points(const Data& data, const CollapseScales& scales) {
  std::vector<CollapsedPoint> points;
  for (const SizeCurve& curve : data.curves) {
    const double stretch = std::pow(curve.size, scales.width_exponent);
    const double lift = std::pow(curve.size, -scales.height_exponent);
    for (std::size_t j = 0; j < curve.x.size(); ++j)
      points.push_back({curve.size, (curve.x[j] - scales.critical) * stretch,
                        lift * curve.y[j].mean, lift * curve.y[j].standard_error});
  }
  return points;
}

}  // namespace

Collapse fit_collapse(std::span<const SizeCurve> curves, const CollapseOptions& options,
                      const RunContext& context) {
  DEWPOINT_EXPECTS(options.bootstrap.replicates >= 2 && options.error_floor >= 0.0);
  const Data data = prepared(curves, options.error_floor);
  const Search search(data.curves, options);
  const std::vector<Found> minima = search.minima(context);
  const Found& best = minima.front();
  Place errors = bootstrap_errors(search, data, minima, options.bootstrap, context);
  for (double& error : errors) error *= std::sqrt(std::max(1.0, best.quality));

  const CollapseScales scales = search.scales_of(best.place);
  Collapse collapse{.quality = collapse_quality(data.curves, scales),
                    .floored = data.floored,
                    .floor = data.floor,
                    .doubt = misfit(best.quality),
                    .collapsed = collapsed_points(data, scales)};
  const std::array<CollapseParameter*, 3> parameters = {
      &collapse.critical, &collapse.width_exponent, &collapse.height_exponent};
  for (std::size_t k = 0; k < 3; ++k) {
    const double value = search.value_of(k, best.place[k]);
    const double error = errors[k] * search.unit_of(k);
    *parameters[k] = {{value, error, options.bootstrap.replicates}, value, value};
  }
  for (const std::size_t k : search.free()) {
    CollapseParameter& parameter = *parameters[k];
    parameter.lowest = contour_end(search, data.curves, best, k, -1.0);
    parameter.highest = contour_end(search, data.curves, best, k, 1.0);
    if (collapse.doubt.empty())
      collapse.doubt = ignorance(search, k, best.place[k], errors[k], parameter);
  }
  return collapse;
}

}  // namespace dewpoint::diagnosis
