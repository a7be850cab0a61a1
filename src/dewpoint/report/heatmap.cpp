#include "dewpoint/report/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/page.hpp"
#include "dewpoint/report/sheet.hpp"

namespace dewpoint::report {
namespace {

constexpr double kBarGap = 18;
constexpr double kBarWidth = 13;
constexpr double kBarRoom = 62;  // numbers and label of the bar
constexpr double kChipHeight = 12;
constexpr double kChipTone = 0.35;  // place on the colour scale
constexpr int kBarSteps = 128;

struct LegendEntry {
  std::string label;
  std::optional<CurveStyle> style;  // none: a square in the colour of unknown cells
};

bool has_unknown_cells(const HeatmapFigure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(), [](const HeatmapPanel& panel) {
    return std::any_of(panel.z.begin(), panel.z.end(), [](double z) { return std::isnan(z); });
  });
}

std::vector<LegendEntry> legend_entries(const HeatmapFigure& figure) {
  std::vector<LegendEntry> entries;
  for (const auto& panel : figure.panels) {
    for (const auto& curve : panel.curves) {
      const bool known = std::any_of(entries.begin(), entries.end(), [&](const LegendEntry& e) {
        return e.label == curve.label && e.style == curve.style;
      });
      if (!known && !curve.label.empty()) entries.push_back({curve.label, curve.style});
    }
  }
  if (has_unknown_cells(figure)) entries.push_back({"unknown", std::nullopt});
  return entries;
}

bool has_titles(const HeatmapFigure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(),
                     [](const HeatmapPanel& panel) { return !panel.title.empty(); });
}

Page page_of(const HeatmapFigure& figure) {
  PagePlan plan;
  plan.title = figure.title;
  plan.caption = figure.caption;
  for (const auto& entry : legend_entries(figure)) plan.legend.push_back(entry.label);
  plan.panels = figure.panels.size();
  plan.columns = figure.columns;
  plan.right = kBarGap + kBarWidth + kBarRoom;
  plan.panel_room = has_titles(figure) ? kPanelRoom : kBareRoom;
  return lay_out(plan);
}

// As high as all rows together.
Box bar_box(const Page& page) {
  const double top = page.panels.front().bottom + kPanelHeight;
  const double bottom = page.panels.back().bottom;
  return {page.width - kBarWidth - kBarRoom, bottom, kBarWidth, top - bottom};
}

// Ends of the cells' rectangles: a cell reaches one pixel over its next neighbour, which is painted
// later and covers it. The visible edge stays exact, and where it falls inside a pixel the two
// colours mix with each other instead of with the paper, which would show as a light seam.
std::vector<double> painted_ends(const std::vector<double>& edges, double pixels) {
  const double pixel = (edges.back() - edges.front()) / pixels;
  std::vector<double> ends(edges.size() - 1, edges.back());
  for (std::size_t i = 0; i + 2 < edges.size(); ++i) {
    ends[i] = std::min(edges[i + 1] + pixel, edges[i + 2]);
  }
  return ends;
}

// A panel as gnuplot sees it: all numbers are places.
struct PlacedCells {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<Colour> colours;  // as HeatmapPanel::z
};

PlacedCells placed(const HeatmapFigure& figure, const HeatmapPanel& panel) {
  DEWPOINT_EXPECTS(panel.z.size() == panel.x.size() * panel.y.size());
  PlacedCells cells{places_on(figure.x_scale, panel.x), places_on(figure.y_scale, panel.y), {}};
  for (const double z : panel.z) cells.colours.push_back(colour_of(figure, z));
  return cells;
}

Range shown_colours(const HeatmapFigure& figure) {
  return {place_on(figure.z_scale, figure.z_low), place_on(figure.z_scale, figure.z_high)};
}

// The bar is a panel of one column, in the colours of its own coordinates.
PlacedCells colour_bar(const HeatmapFigure& figure) {
  const Range range = shown_colours(figure);
  PlacedCells bar{{0.0}, {}, {}};
  for (int k = 0; k < kBarSteps; ++k) {
    const double share = (k + 0.5) / kBarSteps;
    bar.y.push_back(range.low + (range.high - range.low) * share);
    bar.colours.push_back(mapped_colour(figure.colours, share));
  }
  return bar;
}

void add_cells(Script& script, const std::string& name, const PlacedCells& cells, const Box& box) {
  const std::vector<double> x = cell_edges(cells.x);
  const std::vector<double> y = cell_edges(cells.y);
  const std::vector<double> x_end = painted_ends(x, box.width);
  const std::vector<double> y_end = painted_ends(y, box.height);
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < cells.x.size(); ++i) {
    for (std::size_t j = 0; j < cells.y.size(); ++j) {
      script.line("{} {} {} {} {} {} {}", cells.x[i], cells.y[j], x[i], x_end[i], y[j], y_end[j],
                  cells.colours[i * cells.y.size() + j]);
    }
  }
  script.line("EOD");
}

// A blank line interrupts a curve.
void add_curve(Script& script, const std::string& name, const HeatmapFigure& figure,
               const Curve& curve) {
  DEWPOINT_EXPECTS(curve.x.size() == curve.y.size());
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const double x = place_on(figure.x_scale, curve.x[i]);
    const double y = place_on(figure.y_scale, curve.y[i]);
    if (std::isfinite(x) && std::isfinite(y)) {
      script.line("{} {}", x, y);
    } else {
      script.line("");
    }
  }
  script.line("EOD");
}

std::string cells_name(std::size_t panel) { return fmt::format("cells_{}", panel); }
std::string curve_name(std::size_t panel, std::size_t curve) {
  return fmt::format("curve_{}_{}", panel, curve);
}

void add_data(Script& script, const HeatmapFigure& figure, const Page& page) {
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    add_cells(script, cells_name(k), placed(figure, figure.panels[k]), page.panels[k]);
    for (std::size_t m = 0; m < figure.panels[k].curves.size(); ++m) {
      add_curve(script, curve_name(k, m), figure, figure.panels[k].curves[m]);
    }
  }
  add_cells(script, "bar", colour_bar(figure), bar_box(page));
}

// Light on dark, or the other way round where the map is white in its middle.
std::string halo(ColourMap map) {
  return map == ColourMap::viridis ? "lw 3.6 lc rgb '#50101014'" : "lw 3.6 lc rgb '#30ffffff'";
}
std::string stroke(ColourMap map, CurveStyle style) {
  const char* colour = map == ColourMap::viridis ? "#ffffff" : "#101014";
  const char* dashes = style == CurveStyle::dashed ? "dt (16,8)" : "dt solid";
  return fmt::format("lw 1.7 lc rgb '{}' {}", colour, dashes);
}

// A sample lies on a chip of the map's own colour, as the curve does.
void add_legend_entry(Script& script, ColourMap map, const LegendEntry& entry,
                      const LegendPlace& place) {
  const double right = place.left + kSampleWidth;
  const double tone = entry.style ? kChipTone : std::numeric_limits<double>::quiet_NaN();
  script.line("set object rectangle from {},{} to {},{} back fs solid noborder fc rgb '#{:06x}'",
              place.left, place.middle - kChipHeight / 2, right, place.middle + kChipHeight / 2,
              mapped_colour(map, tone));
  if (entry.style) {
    for (const auto& look : {halo(map), stroke(map, *entry.style)}) {
      script.line("set arrow from {0},{1} to {2},{1} nohead {3}", place.left, place.middle, right,
                  look);
    }
  }
  add_text(script, entry.label, {right + 8, place.middle, "left", kSmallSize});
}

void add_panel_texts(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const Box& box = page.panels[k];
  const double centre = box.left + box.width / 2;
  add_text(script, figure.panels[k].title,
           {centre, box.bottom + box.height + 12, "center", kTextSize});
  if (page.ends_column(k)) {
    add_text(script, figure.x_label, {centre, box.bottom - kTicRoom - 13, "center", kTextSize});
  }
  if (page.begins_row(k)) {
    add_text(script, figure.y_label,
             {box.left - 42, box.bottom + box.height / 2, "center rotate", kTextSize});
  }
}

void add_page(Script& script, const HeatmapFigure& figure, const Page& page) {
  begin_page(script, page);
  for (std::size_t k = 0; k < figure.panels.size(); ++k) add_panel_texts(script, figure, page, k);
  const Box bar = bar_box(page);
  add_text(script, figure.z_label,
           {bar.left + bar.width + 46, bar.bottom + bar.height / 2, "center rotate", kTextSize});
  const std::vector<LegendEntry> entries = legend_entries(figure);
  for (std::size_t m = 0; m < entries.size(); ++m) {
    add_legend_entry(script, figure.colours, entries[m], page.legend[m]);
  }
  end_page(script, page);
}

Range reach(const std::vector<double>& centres) {
  const std::vector<double> edges = cell_edges(centres);
  return {edges.front(), edges.back()};
}

// A linear axis numbers its own tics.
void set_axis(Script& script, const char* axis, AxisScale scale, const Range& range,
              bool numbered) {
  script.line("set {}range [{}:{}]", axis, range.low, range.high);
  if (scale != AxisScale::linear) return set_tics(script, axis, tics_of(scale, range), numbered);
  script.line("set {}tics {} nomirror out scale 0.4 font '{},{}' textcolor rgb '{}' offset 0,0",
              axis, tic_step(range.high - range.low), kFont, kSmallSize, kInk);
  script.line("set format {} '{}'", axis, numbered ? "%g" : "");
}

std::string cells_layer(const std::string& name) {
  return fmt::format(
      "${} using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder notitle", name);
}

// All halos lie under all strokes, so that two curves side by side do not darken each other.
std::string curve_layers(const HeatmapFigure& figure, std::size_t k) {
  const HeatmapPanel& panel = figure.panels[k];
  std::string halos;
  std::string strokes;
  for (std::size_t m = 0; m < panel.curves.size(); ++m) {
    const std::string layer = fmt::format(", ${} with lines notitle ", curve_name(k, m));
    halos += layer + halo(figure.colours);
    strokes += layer + stroke(figure.colours, panel.curves[m].style);
  }
  return halos + strokes;
}

void add_panel(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const HeatmapPanel& panel = figure.panels[k];
  set_place(script, page, page.panels[k]);
  set_axis(script, "x", figure.x_scale, reach(places_on(figure.x_scale, panel.x)), true);
  set_axis(script, "y", figure.y_scale, reach(places_on(figure.y_scale, panel.y)),
           page.begins_row(k));
  script.line("plot {}{}", cells_layer(cells_name(k)), curve_layers(figure, k));
}

void add_colour_bar(Script& script, const HeatmapFigure& figure, const Page& page) {
  set_place(script, page, bar_box(page));
  const PlacedCells bar = colour_bar(figure);
  const Range x = reach(bar.x);
  const Range y = shown_colours(figure);
  script.line("set xrange [{}:{}]; set yrange [{}:{}]", x.low, x.high, y.low, y.high);
  script.line("unset xtics; unset ytics");
  set_axis(script, "y2", figure.z_scale, y, true);
  script.line("plot {}", cells_layer("bar"));
  script.line("unset y2tics");
}

void add_drawing(Script& script, const HeatmapFigure& figure, const Page& page) {
  add_page(script, figure, page);
  script.line("set border 15 front lw 0.7 lc rgb '{}'; set clip two", kInk);
  for (std::size_t k = 0; k < figure.panels.size(); ++k) add_panel(script, figure, page, k);
  add_colour_bar(script, figure, page);
}

}  // namespace

std::vector<double> cell_edges(std::span<const double> centres) {
  DEWPOINT_EXPECTS(!centres.empty());
  if (centres.size() == 1) return {centres[0] - 0.5, centres[0] + 0.5};
  std::vector<double> edges(centres.size() + 1);
  for (std::size_t i = 1; i < centres.size(); ++i) {
    DEWPOINT_EXPECTS(centres[i - 1] < centres[i]);
    edges[i] = centres[i - 1] + (centres[i] - centres[i - 1]) / 2;
  }
  edges.front() = centres.front() - (edges[1] - centres.front());
  edges.back() = centres.back() + (centres.back() - edges[centres.size() - 1]);
  return edges;
}

Colour colour_of(const HeatmapFigure& figure, double z) {
  const Range range = shown_colours(figure);
  const double place = figure.z_scale == AxisScale::logarithmic ? std::log10(z) : z;
  return mapped_colour(figure.colours, (place - range.low) / (range.high - range.low));
}

Sheet sheet_of(const HeatmapFigure& figure) {
  DEWPOINT_EXPECTS(!figure.panels.empty() && figure.z_low < figure.z_high);
  Sheet sheet;
  sheet.page = page_of(figure);
  add_data(sheet.data, figure, sheet.page);
  sheet.add_drawing = [&figure, page = sheet.page](Script& script) {
    add_drawing(script, figure, page);
  };
  return sheet;
}

void draw(const HeatmapFigure& figure, const std::filesystem::path& stem) {
  write_sheet(sheet_of(figure), both_files(stem));
}

}  // namespace dewpoint::report
