#include "dewpoint/report/phase_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

using Names = std::vector<std::string>;

// fmt::join over strings makes g++ 12 warn at -O3 (stringop-overflow, a false alarm).
std::string joined(const Names& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

const Variable& variable_over(const Frame& frame, const std::string& name,
                              const Names& dimensions) {
  const Variable& variable = frame.variable(name);
  if (variable.dimensions == dimensions) return variable;
  throw Error(Code::bad_value, fmt::format("variable '{}' of frame '{}' must be over {}", name,
                                           frame.name(), joined(dimensions, ", ")));
}

const std::vector<double>& increasing(const Frame& frame, const std::string& dimension) {
  const auto& values = frame.dimension(dimension).coordinates;
  // Not "less or equal": a NaN must fail too.
  const auto is_step = [](double a, double b) { return !(a < b); };
  if (!values.empty() &&
      std::adjacent_find(values.begin(), values.end(), is_step) == values.end()) {
    return values;
  }
  throw Error(Code::bad_value,
              fmt::format("dimension '{}' of frame '{}' must increase", dimension, frame.name()));
}

// Means of the `count` cells after the first `skip` blocks of `count`.
std::vector<double> block_of_means(const Variable& variable, std::size_t skip, std::size_t count) {
  std::vector<double> means(count);
  const auto first = variable.cells.begin() + static_cast<std::ptrdiff_t>(skip * count);
  std::transform(first, first + static_cast<std::ptrdiff_t>(count), means.begin(),
                 [](const Estimate& estimate) { return estimate.mean; });
  return means;
}

std::optional<std::size_t> index_of(const std::vector<double>& values, double value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found == values.end()) return {};
  return static_cast<std::size_t>(found - values.begin());
}

const Frame* find_frame(const store::StudyRecord& study, std::string_view name) {
  const auto found = std::find_if(study.frames.begin(), study.frames.end(),
                                  [&](const Frame& frame) { return frame.name() == name; });
  return found == study.frames.end() ? nullptr : &*found;
}

std::vector<Curve> critical_lines(const store::StudyRecord& study, double n, double d) {
  const Frame* frame = find_frame(study, "critical_lines");
  if (frame == nullptr) return {};
  const auto& all_d = frame->dimension("d").coordinates;
  const auto i = index_of(frame->dimension("n").coordinates, n);
  const auto k = index_of(all_d, d);
  if (!i || !k) return {};
  const auto& rho = increasing(*frame, "rho");
  const auto line = [&](const std::string& name, const std::string& label, CurveStyle style) {
    const Variable& gamma = variable_over(*frame, name, {"n", "d", "rho"});
    return Curve{label, style, rho, block_of_means(gamma, *i * all_d.size() + *k, rho.size())};
  };
  return {line("simplex_gamma", "critical line of the simplex, γ = 1/(1 − ρ)", CurveStyle::dashed),
          line("finite_dimension_gamma", "critical line at finite dimension", CurveStyle::solid)};
}

std::string samples_of(const Variable& variable) {
  const auto [low, high] = std::minmax_element(
      variable.cells.begin(), variable.cells.end(),
      [](const Estimate& a, const Estimate& b) { return a.samples < b.samples; });
  if (low->samples == high->samples) return fmt::format("{} samples per cell", low->samples);
  return fmt::format("{} to {} samples per cell", low->samples, high->samples);
}

// Parameters that are axes or panels of the figure are not repeated below it.
std::string caption_of(const store::StudyRecord& study, const Variable& map) {
  Names parts;
  for (const auto& [name, value] : study.parameters) {
    const bool is_shown =
        std::find(map.dimensions.begin(), map.dimensions.end(), name) != map.dimensions.end();
    if (!is_shown) parts.push_back(fmt::format("{} = {}", name, value));
  }
  parts.push_back(samples_of(map));
  parts.push_back(fmt::format("seed {}", study.seed));
  if (!study.version.empty()) parts.push_back("Dewpoint " + study.version);
  return joined(parts, "\u00a0· ");  // a line may break after the dot
}

}  // namespace

HeatmapFigure heatmap_of_phase_map(const store::StudyRecord& study) {
  const Frame& frame = study.frame("phase_map");
  const Variable& map = variable_over(frame, "contraction", {"n", "d", "rho", "gamma"});
  const auto& rho = increasing(frame, "rho");
  const auto& gamma = increasing(frame, "gamma");
  HeatmapFigure figure;
  figure.x_label = "token overlap ρ";
  figure.y_label = "scaling γ = β / ln n";
  figure.z_label = "contraction λ";
  figure.caption = caption_of(study, map);
  for (const double n : increasing(frame, "n")) {
    for (const double d : increasing(frame, "d")) {
      figure.panels.push_back({fmt::format("n = {}, d = {}", n, d), rho, gamma,
                               block_of_means(map, figure.panels.size(), rho.size() * gamma.size()),
                               critical_lines(study, n, d)});
    }
  }
  return figure;
}

}  // namespace dewpoint::report
