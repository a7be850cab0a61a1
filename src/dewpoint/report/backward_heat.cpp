#include "dewpoint/report/backward_heat.hpp"

#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

Series law(const Row& row, const char* label, SeriesStyle style, Colour colour) {
  return as_theory({label, style, colour, row.x, row.mean, {}});
}

LinePanel drift_panel(const store::StudyRecord& study) {
  const Frame& theory = study.frame("heat_drift_theory");
  LinePanel panel{"drift up the gradient",
                  {"inverse temperature β", AxisScale::logarithmic, std::nullopt},
                  {"β × output across q / |∇ log f|", AxisScale::linear, Range{0.0, 1.4}},
                  {},
                  {}};
  panel.series = {
      law(row_of(theory, "population", "beta"), "n = ∞", SeriesStyle::solid, kind_colour(0)),
      law(row_of(theory, "first", "beta"), "backward heat, (1/β) ∇ log f", SeriesStyle::dashed,
          kind_colour(1)),
      law(row_of(theory, "second", "beta"), "to order 1/β²", SeriesStyle::dotted, kind_colour(1))};
  const Row measured = row_of(study.frame("heat_drift"), "across", "beta");
  panel.series.push_back(
      {"measured", SeriesStyle::points, kind_colour(2), measured.x, measured.mean, measured.error});
  panel.markers = {{variable_over(theory, "heat_beta", {}).cells.front().mean, "β_heat"}};
  return panel;
}

LinePanel noise_panel(const store::StudyRecord& study) {
  const Frame& measured = study.frame("heat_noise");
  LinePanel panel{"and where noise drowns it",
                  {"β/β_heat", AxisScale::logarithmic, std::nullopt},
                  {"noise² / signal²", AxisScale::logarithmic, std::nullopt},
                  {},
                  {}};
  panel.series = {law(row_of(study.frame("heat_noise_theory"), "law", "relative_beta"),
                      "(β/β_heat)^((d+1)/2)", SeriesStyle::dashed, kind_colour(0))};
  const auto& lengths = increasing(measured, "n");
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const Row place = row_of(measured, "relative_beta", "n", k, "beta");
    const Row noise = row_of(measured, "noise_to_signal", "n", k, "beta");
    panel.series.push_back({"n = " + length_text(lengths[k]), SeriesStyle::points,
                            degree_colour(k, lengths.size()), place.mean, noise.mean, noise.error});
  }
  return panel;
}

LinePanel growth_panel(const store::StudyRecord& study) {
  const Frame& theory = study.frame("harmonics_theory");
  const Frame& measured = study.frame("harmonics");
  LinePanel panel{"growth of a harmonic in one step",
                  {"x = ℓ(ℓ + d − 2)/β", AxisScale::logarithmic, std::nullopt},
                  {"factor", AxisScale::linear, Range{0.95, 2.6}},
                  {},
                  {}};
  panel.series = {law(row_of(theory, "regularised", "rate"), "1 + x e^(−x/2)", SeriesStyle::solid,
                      kind_colour(0)),
                  law(row_of(theory, "heat", "rate"), "e^x, backward heat", SeriesStyle::dashed,
                      kind_colour(1)),
                  law(row_of(theory, "deconvolution", "rate"), "e^(x/2), does not hold",
                      SeriesStyle::dotted, kind_colour(2))};
  const auto& dimensions = increasing(measured, "d");
  const std::size_t places =
      increasing(measured, "degree").size() * increasing(measured, "beta").size();
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    const Names all{"d", "degree", "beta"};
    panel.series.push_back(
        {"particles on " + std::string(dimensions[k] == 2.0 ? "a circle" : "a sphere"),
         SeriesStyle::points,
         kind_colour(3 + k),
         block_of_means(variable_over(measured, "rate", all), k, places),
         block_of_means(variable_over(measured, "growth", all), k, places),
         {}});
  }
  return panel;
}

}  // namespace

LineFigure figure_of_backward_heat(const store::StudyRecord& study) {
  LineFigure figure;
  figure.panels = {drift_panel(study), noise_panel(study), growth_panel(study)};
  figure.caption =
      caption_of(study, {"n", "beta", "degree"},
                 &variable_over(study.frame("heat_noise"), "noise_to_signal", {"n", "beta"}));
  return figure;
}

}  // namespace dewpoint::report
