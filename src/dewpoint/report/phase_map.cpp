#include "dewpoint/report/phase_map.hpp"

#include <fmt/format.h>

#include <utility>

#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

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

}  // namespace

HeatmapFigure heatmap_of_phase_map(const store::StudyRecord& study, PhaseQuantity quantity) {
  const bool norm = quantity == PhaseQuantity::jacobian_norm;
  const Frame& frame = study.frame("phase_map");
  const Variable& map =
      variable_over(frame, norm ? "jacobian_norm" : "contraction", {"n", "d", "rho", "gamma"});
  const auto& rho = increasing(frame, "rho");
  const auto& gamma = increasing(frame, "gamma");
  const std::size_t cells = rho.size() * gamma.size();
  HeatmapFigure figure;
  figure.x_label = label_of("rho");
  figure.y_label = label_of("gamma");
  figure.z_label = label_of(map.name);
  figure.caption = caption_of(study, map.dimensions, &map);
  for (const double n : increasing(frame, "n")) {
    for (const double d : increasing(frame, "d")) {
      const std::size_t block = figure.panels.size();
      HeatmapPanel panel{fmt::format("n = {}, d = {}", n, d), rho, gamma,
                         block_of_means(map, block, cells), critical_lines(study, n, d)};
      panel.error = known_errors(std::span(map.cells).subspan(block * cells, cells));
      figure.panels.push_back(std::move(panel));
    }
  }
  return figure;
}

}  // namespace dewpoint::report
