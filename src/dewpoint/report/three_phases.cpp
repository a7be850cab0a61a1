#include "dewpoint/report/three_phases.hpp"

#include <array>

#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

struct Mass {
  const char* variable;
  const char* label;
  std::size_t colour;
};

// In the order in which they prevail as γ grows.
constexpr std::array<Mass, 3> kMasses = {{{"rest_mass", "on the rest", 2},
                                          {"cluster_mass", "on its cluster", 3},
                                          {"self_mass", "on itself", 1}}};

// The legend names the curves; points share their colours and have one entry together.
void add_masses(LinePanel& panel, const Frame& frame, double n, SeriesStyle style) {
  const auto position = index_of(increasing(frame, "n"), n);
  if (!position) return;
  const bool is_measured = style == SeriesStyle::points;
  for (const auto& mass : kMasses) {
    Row row = row_of(frame, mass.variable, "n", *position, "gamma");
    Series series{is_measured ? "" : mass.label,
                  style,
                  kind_colour(mass.colour),
                  row.x,
                  row.mean,
                  is_measured ? row.error : std::vector<double>{}};
    panel.series.push_back(is_measured ? series : as_theory(series));
  }
}

std::vector<Marker> thresholds(const store::StudyRecord& study) {
  const Frame* frame = find_frame(study, "cluster_thresholds");
  if (frame == nullptr) return {};
  const auto value = [&](const char* name) {
    return variable_over(*frame, name, {}).cells.front().mean;
  };
  return {{value("rest_to_cluster"), "γ₁"}, {value("cluster_to_self"), "γ₂"}};
}

}  // namespace

LineFigure figure_of_three_phases(const store::StudyRecord& study) {
  const Frame& exact = study.frame("three_phases");
  const Frame* measured = find_frame(study, "three_phases_measured");
  const Axis gamma{label_of("gamma"), AxisScale::linear, std::nullopt};
  const Axis mass{"attention mass", AxisScale::linear, Range{-0.03, 1.03}};
  LineFigure figure;
  for (const double n : all_coordinates({&exact, measured}, "n")) {
    LinePanel panel{"n = " + length_text(n), gamma, mass, {}, thresholds(study)};
    add_masses(panel, exact, n, SeriesStyle::solid);
    if (measured != nullptr) add_masses(panel, *measured, n, SeriesStyle::points);
    figure.panels.push_back(std::move(panel));
  }
  if (measured != nullptr) {
    figure.panels.back().series.push_back(
        {"measured", SeriesStyle::points, kind_colour(0), {}, {}, {}});
  }
  figure.caption =
      caption_of(study, {"n", "gamma"}, measured ? &measured->variable("self_mass") : nullptr);
  return figure;
}

}  // namespace dewpoint::report
