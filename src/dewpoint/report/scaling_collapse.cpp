#include "dewpoint/report/scaling_collapse.hpp"

#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

constexpr const char* kScaling = "scaling_variable";

struct Frames {
  const Frame& exact;
  const Frame& limit;
  const Frame* measured;
  std::vector<double> lengths;  // n of exact and measured
};

Frames frames_of(const store::StudyRecord& study) {
  const Frame& exact = study.frame("scaling_collapse");
  const Frame* measured = find_frame(study, "scaling_collapse_measured");
  return {exact, study.frame("crossover"), measured, all_coordinates({&exact, measured}, "n")};
}

std::string label_of(double n) { return "n = " + length_text(n); }

void add_exact(LinePanel& panel, const Frames& frames, const std::string& variable) {
  const auto& lengths = increasing(frames.exact, "n");
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const Row row = row_of(frames.exact, variable, "n", k, kScaling);
    const std::size_t degree = *index_of(frames.lengths, lengths[k]);
    const Colour colour = degree_colour(degree, frames.lengths.size());
    panel.series.push_back(
        as_theory({label_of(lengths[k]), SeriesStyle::solid, colour, row.x, row.mean, {}}));
  }
}

// Points name their n in the legend where no curve does.
void add_measured(LinePanel& panel, const Frames& frames, const std::string& variable) {
  const auto& lengths = increasing(*frames.measured, "n");
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const Row row = row_of(*frames.measured, variable, "n", k, kScaling);
    const std::size_t degree = *index_of(frames.lengths, lengths[k]);
    const bool has_curve = index_of(increasing(frames.exact, "n"), lengths[k]).has_value();
    panel.series.push_back({has_curve ? "" : label_of(lengths[k]), SeriesStyle::points,
                            degree_colour(degree, frames.lengths.size()), row.x, row.mean,
                            row.error});
  }
  panel.series.push_back({"measured", SeriesStyle::points, kind_colour(0), {}, {}, {}});
}

LinePanel panel_of(const Frames& frames, const std::string& variable) {
  LinePanel panel;
  panel.x = {dewpoint::label_of(kScaling), AxisScale::linear, std::nullopt};
  panel.y = {dewpoint::label_of(variable), AxisScale::linear, std::nullopt};
  add_exact(panel, frames, variable);
  const Row limit = row_of(frames.limit, variable, kScaling);
  panel.series.push_back(
      as_theory({"limit n → ∞", SeriesStyle::dashed, kind_colour(0), limit.x, limit.mean, {}}));
  if (frames.measured != nullptr) add_measured(panel, frames, variable);
  return panel;
}

}  // namespace

LineFigure figure_of_scaling_collapse(const store::StudyRecord& study) {
  const Frames frames = frames_of(study);
  LineFigure figure;
  figure.panels = {panel_of(frames, "contraction"), panel_of(frames, "jacobian_norm")};
  figure.caption =
      caption_of(study, {"n", kScaling},
                 frames.measured ? &frames.measured->variable("contraction") : nullptr);
  return figure;
}

}  // namespace dewpoint::report
