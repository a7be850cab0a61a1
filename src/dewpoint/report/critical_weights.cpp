#include "dewpoint/report/critical_weights.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/number_text.hpp"
#include "dewpoint/report/study_frames.hpp"

namespace dewpoint::report {
namespace {

std::string dimension_label(double d) { return "d = " + number_text(d); }

void expect_same(const Frame& a, const Frame& b, const std::string& dimension) {
  if (increasing(a, dimension) == increasing(b, dimension)) return;
  throw Error(Code::bad_value, "dimension '" + dimension + "' of frame '" + b.name() +
                                   "' must be that of frame '" + a.name() + "'");
}

// Points of one n: cells number `block` of a variable, as many as x.
Series points_of(const std::vector<double>& x, const Variable& variable, std::size_t block) {
  Series series{"", SeriesStyle::points, 0, x, block_of_means(variable, block, x.size()), {}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    series.error.push_back(variable.cells[block * x.size() + i].standard_error);
  }
  return series;
}

void add_lengths(LinePanel& panel, const Frame& measured, const Variable& variable, std::size_t d,
                 const std::vector<double>& x) {
  const auto& lengths = increasing(measured, "n");
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    Series series = points_of(x, variable, d * lengths.size() + k);
    series.label = "n = " + length_text(lengths[k]);
    series.colour = degree_colour(k, lengths.size());
    panel.series.push_back(std::move(series));
  }
}

double largest_of(const std::vector<Series>& all) {
  double largest = 0.0;
  for (const Series& series : all) {
    for (const double x : series.x) largest = std::max(largest, x);
    for (const double y : series.y) largest = std::max(largest, y);
  }
  return largest;
}

LinePanel quantile_panel(const Frame& measured, const Frame& limit, std::size_t d) {
  const std::vector<double> x =
      block_of_means(variable_over(limit, "largest_weight", {"d", "probability"}), d,
                     increasing(limit, "probability").size());
  const Variable& finite = variable_over(measured, "largest_weight", {"d", "n", "probability"});
  LinePanel panel{dimension_label(increasing(measured, "d")[d]),
                  {"quantile of w₁, limit law", AxisScale::linear, std::nullopt},
                  {"quantile of w₁, n keys", AxisScale::linear, std::nullopt},
                  {},
                  {}};
  add_lengths(panel, measured, finite, d, x);
  const double high = largest_of(panel.series);
  panel.series.push_back(
      as_theory({"same law", SeriesStyle::dashed, kind_colour(0), {0.0, high}, {0.0, high}, {}}));
  return panel;
}

LinePanel rank_panel(const Frame& measured, const Frame& limit, std::size_t d) {
  const auto& ranks = increasing(measured, "rank");
  LinePanel panel{"",
                  {"rank k", AxisScale::linear, Range{0.5, ranks.back() + 0.5}},
                  {"mean weight of rank k", AxisScale::logarithmic, std::nullopt},
                  {},
                  {}};
  add_lengths(panel, measured, variable_over(measured, "weight", {"d", "n", "rank"}), d, ranks);
  panel.series.push_back(
      as_theory({"limit law",
                 SeriesStyle::solid,
                 kind_colour(0),
                 ranks,
                 block_of_means(variable_over(limit, "weight", {"d", "rank"}), d, ranks.size()),
                 {}}));
  return panel;
}

// Without what is not known.
Row known(const Row& row) {
  Row rest;
  for (std::size_t i = 0; i < row.x.size(); ++i) {
    if (std::isnan(row.mean[i])) continue;
    rest.x.push_back(row.x[i]);
    rest.mean.push_back(row.mean[i]);
  }
  return rest;
}

// d log distance/d log n, half-way between neighbours.
Series local_power(const Row& row, const std::string& label, Colour colour) {
  Series series = as_theory({label, SeriesStyle::points, colour, {}, {}, {}});
  for (std::size_t i = 1; i < row.x.size(); ++i) {
    series.x.push_back(std::sqrt(row.x[i - 1] * row.x[i]));
    series.y.push_back(std::log(row.mean[i] / row.mean[i - 1]) / std::log(row.x[i] / row.x[i - 1]));
  }
  return series;
}

}  // namespace

LineFigure figure_of_critical_weights(const store::StudyRecord& study) {
  const Frame& measured = study.frame("critical_weights");
  const Frame& limit = study.frame("limit_weights");
  for (const char* dimension : {"d", "probability", "rank"}) {
    expect_same(measured, limit, dimension);
  }
  const std::size_t dimensions = increasing(measured, "d").size();
  LineFigure figure;
  figure.columns = dimensions;
  for (std::size_t d = 0; d < dimensions; ++d) {
    figure.panels.push_back(quantile_panel(measured, limit, d));
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    figure.panels.push_back(rank_panel(measured, limit, d));
  }
  figure.caption = caption_of(study, {"d", "n", "probability", "rank"},
                              &variable_over(measured, "weight", {"d", "n", "rank"}));
  return figure;
}

// Nothing here is measured: the distances are exact at finite n.
LineFigure figure_of_convergence(const store::StudyRecord& study) {
  const Frame& frame = study.frame("convergence");
  const auto& dimensions = increasing(frame, "d");
  const auto& lengths = increasing(frame, "n");
  const std::vector<double> powers = row_of(frame, "power", "d").mean;
  const Axis keys{"keys n", AxisScale::logarithmic, std::nullopt};
  LinePanel distance{
      "", keys, {"|E w₁ − limit| / limit", AxisScale::logarithmic, std::nullopt}, {}, {}};
  LinePanel slope{"", keys, {"local power of n", AxisScale::linear, std::nullopt}, {}, {}};
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    const Row row = known(row_of(frame, "distance", "d", k, "n"));
    const Row law = known(row_of(frame, "law", "d", k, "n"));
    const Colour colour = kind_colour(k + 1);
    const std::string label = dimension_label(dimensions[k]);
    distance.series.push_back(as_theory({"", SeriesStyle::dashed, colour, law.x, law.mean, {}}));
    distance.series.push_back(as_theory({label, SeriesStyle::points, colour, row.x, row.mean, {}}));
    slope.series.push_back(as_theory({"",
                                      SeriesStyle::dashed,
                                      colour,
                                      {lengths.front(), lengths.back()},
                                      {powers[k], powers[k]},
                                      {}}));
    slope.series.push_back(local_power(row, label, colour));
  }
  distance.series.push_back(
      as_theory({"n^(−min(1, 2/(d − 1)))", SeriesStyle::dashed, kind_colour(0), {}, {}, {}}));
  return {"", {distance, slope}, 2, caption_of(study, {"d", "n"}, nullptr)};
}

}  // namespace dewpoint::report
