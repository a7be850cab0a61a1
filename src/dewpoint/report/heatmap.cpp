#include "dewpoint/report/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/colour.hpp"
#include "dewpoint/report/gnuplot.hpp"
#include "dewpoint/report/heatmap_cells.hpp"
#include "dewpoint/report/page.hpp"
#include "dewpoint/report/sheet.hpp"

namespace dewpoint::report {
namespace {

constexpr double kBarGap = 18;
constexpr double kBarWidth = 13;
constexpr double kBarRoom = 62;  // numbers and label of the bar
constexpr double kChipHeight = 12;
constexpr double kChipTone = 0.35;  // place on the colour scale
constexpr double kMatrixSize = 150;
constexpr double kTextureSize = 132;
constexpr double kSubtitleRoom = 15;
constexpr double kValueSize = 10;  // of numbers in cells
constexpr double kNameHeight = 15;
constexpr double kNameGap = 10;      // from a name to its row
constexpr double kLabelHeight = 16;  // of a rotated y label, room included

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

bool any_panel(const HeatmapFigure& figure, std::string HeatmapPanel::*text) {
  return std::any_of(figure.panels.begin(), figure.panels.end(),
                     [&](const HeatmapPanel& panel) { return !(panel.*text).empty(); });
}

double room_above(const HeatmapFigure& figure) {
  return (any_panel(figure, &HeatmapPanel::title) ? kPanelRoom : kBareRoom) +
         (any_panel(figure, &HeatmapPanel::subtitle) ? kSubtitleRoom : 0.0);
}

// Of a whole number of pixels, as the page must be.
double widest_name(const HeatmapFigure& figure) {
  double width = 0.0;
  for (const HeatmapPanel& panel : figure.panels) {
    for (const std::string& name : panel.y_names) {
      width = std::max(width, std::ceil(text_width(name, kSmallSize)));
    }
  }
  return width;
}

std::size_t most_names(const HeatmapFigure& figure) {
  std::size_t most = 0;
  for (const HeatmapPanel& panel : figure.panels) most = std::max(most, panel.y_names.size());
  return most;
}

// From a y label to its axis.
double label_offset(const HeatmapFigure& figure) {
  if (figure.look == PanelLook::texture) return 14;
  return std::max(42.0, widest_name(figure) + kNameGap + kLabelHeight / 2);
}

void make_room_for_names(PagePlan& plan, const HeatmapFigure& figure) {
  plan.left = std::max(plan.left, label_offset(figure) + kLabelHeight);
  plan.panel_height =
      std::max(plan.panel_height, kNameHeight * static_cast<double>(most_names(figure)));
}

Page page_of(const HeatmapFigure& figure) {
  PagePlan plan;
  plan.title = figure.title;
  plan.caption = figure.caption;
  for (const auto& entry : legend_entries(figure)) plan.legend.push_back(entry.label);
  plan.panels = figure.panels.size();
  plan.columns = figure.columns;
  plan.right = kBarGap + kBarWidth + kBarRoom;
  plan.panel_room = room_above(figure);
  if (figure.look != PanelLook::graph) {
    plan.panel_width = plan.panel_height =
        figure.look == PanelLook::matrix ? kMatrixSize : kTextureSize;
  }
  if (figure.look == PanelLook::texture) {
    plan.left = figure.y_label.empty() ? 2 * kMargin : kLeft;
    plan.below = figure.x_label.empty() ? kBareRoom : kLabelRoom;
  }
  if (most_names(figure) > 0) make_room_for_names(plan, figure);
  return lay_out(plan);
}

// As high as all rows together.
Box bar_box(const Page& page) {
  const double top = page.panels.front().bottom + page.panels.front().height;
  const double bottom = page.panels.back().bottom;
  return {page.width - kBarWidth - kBarRoom, bottom, kBarWidth, top - bottom};
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
    const PlacedCells cells = placed_cells(figure, figure.panels[k]);
    if (is_image(figure, figure.panels[k])) {
      add_pixels(script, cells_name(k), cells);
    } else {
      add_cells(script, cells_name(k), cells, page.panels[k]);
    }
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
  const double top = box.bottom + box.height;
  const double title = room_above(figure) - 14;
  add_text(script, figure.panels[k].title, {centre, top + title, "center", kTextSize});
  add_text(script, figure.panels[k].subtitle, {centre, top + 9, "center", kSmallSize, kGrey});
  if (page.ends_column(k)) {
    const double numbers = figure.look == PanelLook::texture ? 0.0 : kTicRoom;
    add_text(script, figure.x_label, {centre, box.bottom - numbers - 13, "center", kTextSize});
  }
  if (page.begins_row(k)) {
    add_text(
        script, figure.y_label,
        {box.left - label_offset(figure), box.bottom + box.height / 2, "center rotate", kTextSize});
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

// A linear axis numbers its own tics.
void set_axis(Script& script, const char* axis, AxisScale scale, const Range& range,
              bool numbered) {
  script.line("set {}range [{}:{}]", axis, range.low, range.high);
  if (scale != AxisScale::linear) return set_tics(script, axis, tics_of(scale, range), numbered);
  script.line("set {}tics {} nomirror out scale 0.4 font '{},{}' textcolor rgb '{}' offset 0,0",
              axis, tic_step(range.high - range.low), kFont, kSmallSize, kInk);
  script.line("set format {} '{}'", axis, numbered ? "%g" : "");
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

// Matrices and textures are read from the top, as they are written.
void turn_y_axis(Script& script, const Range& range) {
  script.line("set yrange [{}:{}]", range.high, range.low);
}

// The lines and columns of a matrix have whole numbers.
void set_whole_tics(Script& script, const char* axis, const Range& range) {
  script.line("set {}tics {}", axis, std::max(1.0, tic_step(range.high - range.low)));
}

// Words instead of numbers, read from the top.
void set_names(Script& script, const HeatmapFigure& figure, const HeatmapPanel& panel,
               bool numbered) {
  DEWPOINT_EXPECTS(panel.y_names.size() == panel.y.size());
  std::vector<Tic> tics;
  for (std::size_t j = 0; j < panel.y.size(); ++j) {
    tics.push_back({place_on(figure.y_scale, panel.y[j]), panel.y_names[j]});
  }
  set_tics(script, "y", tics, numbered);
}

void set_axes(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const Range x = reach(places_on(figure.x_scale, figure.panels[k].x));
  const Range y = reach(places_on(figure.y_scale, figure.panels[k].y));
  set_axis(script, "x", figure.x_scale, x, true);
  set_axis(script, "y", figure.y_scale, y, page.begins_row(k));
  if (!figure.panels[k].y_names.empty()) {
    set_names(script, figure, figure.panels[k], page.begins_row(k));
    turn_y_axis(script, y);
  }
  if (figure.look == PanelLook::graph) return;
  turn_y_axis(script, y);
  set_whole_tics(script, "x", x);
  set_whole_tics(script, "y", y);
  if (figure.look == PanelLook::texture) script.line("unset xtics; unset ytics");
}

double luma(Colour colour) {
  return 0.2126 * double((colour >> 16U) & 0xffU) + 0.7152 * double((colour >> 8U) & 0xffU) +
         0.0722 * double(colour & 0xffU);
}

// The values of a matrix whose cells are wide enough, black on light cells, white on dark ones.
void write_values(Script& script, const HeatmapFigure& figure, const HeatmapPanel& panel) {
  const double wide = text_width("0.00", kValueSize) + 1;
  if (figure.look != PanelLook::matrix || double(panel.x.size()) * wide > kMatrixSize) return;
  for (std::size_t i = 0; i < panel.x.size(); ++i) {
    for (std::size_t j = 0; j < panel.y.size(); ++j) {
      const double z = panel.z[i * panel.y.size() + j];
      const bool is_light = luma(colour_of(figure, z)) > 128;
      script.line("set label {} at {},{} center front noenhanced font '{},{}' textcolor rgb '{}'",
                  quoted_text(fmt::format("{:.2f}", z)), panel.x[i], panel.y[j], kFont, kValueSize,
                  is_light ? "#000000" : "#ffffff");
    }
  }
}

void add_panel(Script& script, const HeatmapFigure& figure, const Page& page, std::size_t k) {
  const HeatmapPanel& panel = figure.panels[k];
  set_place(script, page, page.panels[k]);
  set_axes(script, figure, page, k);
  write_values(script, figure, panel);
  const std::string name = cells_name(k);
  script.line("plot {}{}", is_image(figure, panel) ? pixels_layer(name) : cells_layer(name),
              curve_layers(figure, k));
  script.line("unset label");
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

void draw(const HeatmapFigure& figure, const OutputFile& stem) {
  write_sheet(sheet_of(figure), both_files(stem));
}

}  // namespace dewpoint::report
