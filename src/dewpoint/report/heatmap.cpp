#include "dewpoint/report/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/page.hpp"

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

Page page_of(const HeatmapFigure& figure) {
  PagePlan plan;
  plan.title = figure.title;
  plan.caption = figure.caption;
  for (const auto& entry : legend_entries(figure)) plan.legend.push_back(entry.label);
  plan.panels = figure.panels.size();
  plan.columns = figure.columns;
  plan.right = kBarGap + kBarWidth + kBarRoom;
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

void add_cells(Script& script, const std::string& name, const HeatmapPanel& panel,
               const HeatmapFigure& figure, const Box& box) {
  DEWPOINT_EXPECTS(panel.z.size() == panel.x.size() * panel.y.size());
  const std::vector<double> x = cell_edges(panel.x);
  const std::vector<double> y = cell_edges(panel.y);
  const std::vector<double> x_end = painted_ends(x, box.width);
  const std::vector<double> y_end = painted_ends(y, box.height);
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < panel.x.size(); ++i) {
    for (std::size_t j = 0; j < panel.y.size(); ++j) {
      const double z = panel.z[i * panel.y.size() + j];
      script.line("{} {} {} {} {} {} {}", panel.x[i], panel.y[j], x[i], x_end[i], y[j], y_end[j],
                  viridis((z - figure.z_low) / (figure.z_high - figure.z_low)));
    }
  }
  script.line("EOD");
}

// A blank line interrupts a curve.
void add_curve(Script& script, const std::string& name, const Curve& curve) {
  DEWPOINT_EXPECTS(curve.x.size() == curve.y.size());
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (std::isfinite(curve.x[i]) && std::isfinite(curve.y[i])) {
      script.line("{} {}", curve.x[i], curve.y[i]);
    } else {
      script.line("");
    }
  }
  script.line("EOD");
}

// The bar is a panel of one column, in the colours of its own coordinates.
HeatmapPanel colour_bar(const HeatmapFigure& figure) {
  HeatmapPanel bar;
  bar.x = {0.0};
  for (int k = 0; k < kBarSteps; ++k) {
    bar.y.push_back(figure.z_low + (figure.z_high - figure.z_low) * (k + 0.5) / kBarSteps);
  }
  bar.z = bar.y;
  return bar;
}

std::string cells_name(std::size_t panel) { return fmt::format("cells_{}", panel); }
std::string curve_name(std::size_t panel, std::size_t curve) {
  return fmt::format("curve_{}_{}", panel, curve);
}

void add_data(Script& script, const HeatmapFigure& figure, const Page& page) {
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    add_cells(script, cells_name(k), figure.panels[k], figure, page.panels[k]);
    for (std::size_t m = 0; m < figure.panels[k].curves.size(); ++m) {
      add_curve(script, curve_name(k, m), figure.panels[k].curves[m]);
    }
  }
  add_cells(script, "bar", colour_bar(figure), figure, bar_box(page));
}

std::string halo() { return "lw 3.6 lc rgb '#50101014'"; }
std::string stroke(CurveStyle style) {
  const char* dashes = style == CurveStyle::dashed ? "dt (16,8)" : "dt solid";
  return fmt::format("lw 1.7 lc rgb '#ffffff' {}", dashes);
}

// A sample lies on a chip of the map's own colour, as the curve does.
void add_legend_entry(Script& script, const LegendEntry& entry, const LegendPlace& place) {
  const double right = place.left + kSampleWidth;
  script.line("set object rectangle from {},{} to {},{} back fs solid noborder fc rgb '#{:06x}'",
              place.left, place.middle - kChipHeight / 2, right, place.middle + kChipHeight / 2,
              entry.style ? viridis(kChipTone) : kUnknownColour);
  if (entry.style) {
    for (const auto& look : {halo(), stroke(*entry.style)}) {
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
    add_legend_entry(script, entries[m], page.legend[m]);
  }
  end_page(script, page);
}

void set_ranges(Script& script, const HeatmapPanel& panel) {
  const std::vector<double> x = cell_edges(panel.x);
  const std::vector<double> y = cell_edges(panel.y);
  script.line("set xrange [{}:{}]; set yrange [{}:{}]", x.front(), x.back(), y.front(), y.back());
}

void set_tics(Script& script, const char* axis, double span) {
  script.line("set {}tics {} nomirror out scale 0.4 font '{},{}' textcolor rgb '{}' offset 0,0",
              axis, tic_step(span), kFont, kSmallSize, kInk);
}

std::string cells_layer(const std::string& name) {
  return fmt::format(
      "${} using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid noborder notitle", name);
}

// All halos lie under all strokes, so that two curves side by side do not darken each other.
std::string curve_layers(const HeatmapPanel& panel, std::size_t k) {
  std::string halos;
  std::string strokes;
  for (std::size_t m = 0; m < panel.curves.size(); ++m) {
    const std::string layer = fmt::format(", ${} with lines notitle ", curve_name(k, m));
    halos += layer + halo();
    strokes += layer + stroke(panel.curves[m].style);
  }
  return halos + strokes;
}

void add_panel(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const HeatmapPanel& panel = figure.panels[k];
  set_place(script, page, page.panels[k]);
  set_ranges(script, panel);
  set_tics(script, "x", cell_edges(panel.x).back() - cell_edges(panel.x).front());
  set_tics(script, "y", cell_edges(panel.y).back() - cell_edges(panel.y).front());
  script.line("set format y '{}'", page.begins_row(k) ? "%g" : "");
  script.line("plot {}{}", cells_layer(cells_name(k)), curve_layers(panel, k));
}

void add_colour_bar(Script& script, const HeatmapFigure& figure, const Page& page) {
  set_place(script, page, bar_box(page));
  set_ranges(script, colour_bar(figure));
  script.line("set y2range [{}:{}]", figure.z_low, figure.z_high);
  script.line("unset xtics; unset ytics");
  set_tics(script, "y2", figure.z_high - figure.z_low);
  script.line("plot {}", cells_layer("bar"));
  script.line("unset y2tics");
}

void add_drawing(Script& script, const HeatmapFigure& figure, const Page& page) {
  add_page(script, figure, page);
  script.line("set border 15 front lw 0.7 lc rgb '{}'; set clip two", kInk);
  script.line("set format x '%g'");
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

void draw(const HeatmapFigure& figure, const std::filesystem::path& stem) {
  DEWPOINT_EXPECTS(!figure.panels.empty() && figure.z_low < figure.z_high);
  const Page page = page_of(figure);
  Script data;
  add_data(data, figure, page);
  write_figure(stem, page, data, [&](Script& script) { add_drawing(script, figure, page); });
}

}  // namespace dewpoint::report
