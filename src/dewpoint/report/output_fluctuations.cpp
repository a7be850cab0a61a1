#include "dewpoint/report/output_fluctuations.hpp"

#include <algorithm>

#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

/// Names of the frames and variables of a cloud, and of its axes.
struct Cloud {
  const char* frame;
  const char* ellipse;
  const char* parameter;  // one panel per value of it
  const char* symbol;
  const char *x, *y;  // variables
  const char *x_label, *y_label;
};

Series trace(const Frame& frame, const Cloud& cloud, std::size_t k, const char* inner,
             const Series& look) {
  Series series = look;
  series.x = row_of(frame, cloud.x, cloud.parameter, k, inner).mean;
  series.y = row_of(frame, cloud.y, cloud.parameter, k, inner).mean;
  return series;
}

Series draws_look() {
  return {"one draw of n keys", SeriesStyle::dots, kind_colour(1), {}, {}, {}};
}

Series law_look() {
  return as_theory(
      {"Gaussian law, 2 standard deviations", SeriesStyle::solid, kind_colour(2), {}, {}, {}});
}

// The ellipse is left out where its frame does not have this value of the parameter.
std::vector<LinePanel> cloud_panels(const store::StudyRecord& study, const Cloud& cloud) {
  const Frame& draws = study.frame(cloud.frame);
  const Frame& ellipse = study.frame(cloud.ellipse);
  const auto& values = increasing(draws, cloud.parameter);
  std::vector<LinePanel> panels;
  for (std::size_t k = 0; k < values.size(); ++k) {
    LinePanel panel{cloud.symbol + number_text(values[k]),
                    {cloud.x_label, AxisScale::linear, std::nullopt},
                    {cloud.y_label, AxisScale::linear, std::nullopt},
                    {},
                    {}};
    panel.series.push_back(trace(draws, cloud, k, "draw", draws_look()));
    if (const auto same = index_of(increasing(ellipse, cloud.parameter), values[k])) {
      panel.series.push_back(trace(ellipse, cloud, *same, "angle", law_look()));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

struct Ratio {
  const char* variable;
  const char* label;
};
constexpr Ratio kRatios[] = {{"radial_variance", "variance along q"},
                             {"across_variance", "variance across q"},
                             {"bias", "bias of the mean"}};

std::string dimensions_text(const std::vector<double>& dimensions) {
  std::string text = "d = ";
  for (const double d : dimensions) {
    if (d != dimensions.front()) text += ", ";
    text += number_text(d);
  }
  return text;
}

LinePanel ratio_panel(const Frame& frame) {
  const auto& dimensions = increasing(frame, "d");
  LinePanel panel{dimensions_text(dimensions) + ": where the law ends",
                  {"effective number of keys", AxisScale::logarithmic, std::nullopt},
                  {"measured / predicted", AxisScale::linear, std::nullopt},
                  {},
                  {}};
  Series agreement = as_theory({"", SeriesStyle::dashed, kind_colour(0), {}, {}, {}});
  for (std::size_t quantity = 0; quantity < std::size(kRatios); ++quantity) {
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const Row keys = row_of(frame, "effective_keys", "d", d, "theta");
      const Row ratio = row_of(frame, kRatios[quantity].variable, "d", d, "theta");
      panel.series.push_back({kRatios[quantity].label, SeriesStyle::points,
                              kind_colour(quantity + 3), keys.mean, ratio.mean, ratio.error});
      agreement.x.insert(agreement.x.end(), keys.mean.begin(), keys.mean.end());
    }
  }
  const auto [least, most] = std::minmax_element(agreement.x.begin(), agreement.x.end());
  agreement.x = {*least, *most};
  agreement.y = {1.0, 1.0};
  panel.series.push_back(std::move(agreement));
  return panel;
}

}  // namespace

LineFigure figure_of_output_fluctuations(const store::StudyRecord& study) {
  LineFigure figure;
  figure.panels =
      cloud_panels(study, {"output_cloud", "output_ellipse", "theta", "θ = β/β* = ", "across",
                           "along", "across q, times √n", "along q, times √n"});
  figure.panels.push_back(ratio_panel(study.frame("output_ratio")));
  figure.columns = 2;
  figure.caption = caption_of(study, {"theta", "draw", "angle"}, nullptr);
  return figure;
}

LineFigure figure_of_value_fluctuations(const store::StudyRecord& study) {
  LineFigure figure;
  figure.panels =
      cloud_panels(study, {"value_cloud", "value_ellipse", "beta", "β = ", "first", "second",
                           "first coordinate, times √n", "second coordinate, times √n"});
  figure.caption = caption_of(study, {"beta", "draw", "angle"}, nullptr);
  return figure;
}

}  // namespace dewpoint::report
