#include "dewpoint/report/dew_points.hpp"

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

constexpr std::string_view kPrefix = "dew ";
constexpr const char* kSlope = "slope_dew";

std::vector<std::string> law_names(const store::StudyRecord& study) {
  std::vector<std::string> names;
  for (const Frame& frame : study.frames) {
    if (frame.name().starts_with(kPrefix)) names.push_back(frame.name().substr(kPrefix.size()));
  }
  if (names.empty()) {
    throw Error(Code::bad_value, "study: has no frame \"dew NAME\" of dew points over n");
  }
  return names;
}

// A slope at an end is one-sided: not that of the curve there.
Row without_ends(const Row& row) {
  if (row.x.size() < 3) return {};
  const auto inner = [](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + 1, all.end() - 1);
  };
  return {inner(row.x), inner(row.mean), inner(row.error)};
}

void add_law(LinePanel& panel, const store::StudyRecord& study, const std::string& name,
             Colour colour, const char* measured, const char* predicted) {
  Row points = row_of(study.frame("dew " + name), measured, "n");
  if (measured == std::string_view(kSlope)) points = without_ends(points);
  const Row curve = row_of(study.frame("growth " + name), predicted, "n");
  panel.series.push_back(as_theory({"", SeriesStyle::solid, colour, curve.x, curve.mean, {}}));
  panel.series.push_back({name, SeriesStyle::points, colour, points.x, points.mean, points.error});
}

}  // namespace

LineFigure figure_of_dew_points(const store::StudyRecord& study) {
  const Axis keys{"keys n", AxisScale::logarithmic, std::nullopt};
  LinePanel scale{"", keys, {label_of("beta_dew"), AxisScale::logarithmic, std::nullopt}, {}, {}};
  LinePanel slope{
      "", keys, {"d log β_dew / d log n", AxisScale::logarithmic, std::nullopt}, {}, {}};
  const std::vector<std::string> names = law_names(study);
  for (std::size_t k = 0; k < names.size(); ++k) {
    add_law(scale, study, names[k], kind_colour(k + 1), "beta_dew_median", "beta");
    add_law(slope, study, names[k], kind_colour(k + 1), kSlope, "slope");
  }
  scale.series.push_back(
      as_theory({"predicted growth", SeriesStyle::solid, kind_colour(0), {}, {}, {}}));
  const Variable& measured =
      variable_over(study.frame("dew " + names.front()), "beta_dew_median", {"n"});
  return {"", {scale, slope}, 2, caption_of(study, {"n"}, &measured)};
}

}  // namespace dewpoint::report
