#include "dewpoint/report/depth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

struct Drawn {
  const char* variable;
  AxisScale scale;
};

constexpr std::array<Drawn, 6> kDrawn = {{{"log10_gap", AxisScale::exponent},
                                          {"contraction", AxisScale::linear},
                                          {"effective_rank", AxisScale::linear},
                                          {"jacobian_norm", AxisScale::linear},
                                          {"end_to_end_norm", AxisScale::logarithmic},
                                          {"singular_value", AxisScale::logarithmic}}};

// The places of an exponent are read as powers of ten, so that its label has no logarithm.
std::string label_of(const Drawn& drawn) {
  if (drawn.scale == AxisScale::exponent) return "mean gap 1 − cos";
  return dewpoint::label_of(drawn.variable);
}

struct Frames {
  const Frame& measured;
  const Frame* theory;
  std::vector<double> gammas;  // of the measurement
};

// The curve of one γ. Of a variable that has ranks as well, the first rank.
Row row_at(const Frame& frame, const Variable& variable, std::size_t gamma) {
  if (variable.dimensions != Names{"gamma", "layer", "rank"}) {
    return row_of(frame, variable.name, "gamma", gamma, "layer");
  }
  Row row{increasing(frame, "layer"), {}, {}};
  for (std::size_t layer = 0; layer < row.x.size(); ++layer) {
    const Estimate& cell = variable.cells[frame.cell_index(variable, {gamma, layer, 0})];
    row.mean.push_back(cell.mean);
    row.error.push_back(cell.standard_error);
  }
  return row;
}

void add_theory(LinePanel& panel, const Frames& frames, const Variable& variable) {
  const auto& gammas = frames.theory->dimension("gamma").coordinates;
  for (std::size_t k = 0; k < gammas.size(); ++k) {
    const auto degree = index_of(frames.gammas, gammas[k]);
    if (!degree) continue;
    const Row row = row_at(*frames.theory, variable, k);
    const Colour colour = degree_colour(*degree, frames.gammas.size());
    panel.series.push_back(as_theory({"", SeriesStyle::dashed, colour, row.x, row.mean, {}}));
  }
  panel.series.push_back(as_theory({"theory", SeriesStyle::dashed, kind_colour(0), {}, {}, {}}));
}

// The legend shows a colour once, whichever style it has in a panel.
void add_curves(LinePanel& panel, const Frames& frames, const Variable& variable,
                SeriesStyle style) {
  for (std::size_t k = 0; k < frames.gammas.size(); ++k) {
    const Row row = row_at(frames.measured, variable, k);
    const Colour colour = degree_colour(k, frames.gammas.size());
    panel.series.push_back(
        {"γ = " + number_text(frames.gammas[k]), SeriesStyle::line_and_points, colour, {}, {}, {}});
    panel.series.push_back({"", style, colour, row.x, row.mean, row.error});
  }
}

LinePanel panel_of(const Frames& frames, const Drawn& drawn, const Variable& variable) {
  const Variable* theory =
      frames.theory == nullptr ? nullptr : frames.theory->find_variable(drawn.variable);
  LinePanel panel;
  panel.x = {"layer", AxisScale::linear, std::nullopt};
  panel.y = {label_of(drawn), drawn.scale, std::nullopt};
  const bool has_theory = theory != nullptr;
  add_curves(panel, frames, variable,
             has_theory ? SeriesStyle::points : SeriesStyle::line_and_points);
  if (has_theory) add_theory(panel, frames, *theory);
  return panel;
}

// Two by two, or three in a row.
std::size_t columns_for(std::size_t panels) { return panels == 4 || panels == 2 ? 2 : 3; }

}  // namespace

LineFigure figure_of_depth(const store::StudyRecord& study) {
  const Frame& measured = study.frame("phase_depth");
  const Frames frames{measured, find_frame(study, "depth_theory"),
                      measured.dimension("gamma").coordinates};
  LineFigure figure;
  const Variable* first = nullptr;
  for (const Drawn& drawn : kDrawn) {
    const Variable* variable = measured.find_variable(drawn.variable);
    if (variable == nullptr) continue;
    if (first == nullptr) first = variable;
    figure.panels.push_back(panel_of(frames, drawn, *variable));
  }
  if (first == nullptr || frames.gammas.empty()) {
    throw Error(Code::bad_value, "frame 'phase_depth' has no gamma or no variable that is drawn");
  }
  figure.columns = columns_for(figure.panels.size());
  figure.caption = caption_of(study, {"gamma", "layer"}, first);
  return figure;
}

}  // namespace dewpoint::report
