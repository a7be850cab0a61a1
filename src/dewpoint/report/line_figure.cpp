#include "dewpoint/report/line_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/report/page.hpp"
#include "dewpoint/report/panel_ranges.hpp"
#include "dewpoint/report/sheet.hpp"

namespace dewpoint::report {
namespace {

constexpr double kRight = 20;        // half a number of the x axis
constexpr double kMarkerRoom = 16;   // labels of markers
constexpr double kTicLength = 8;     // from a number to its axis
constexpr double kLabelHeight = 16;  // of a rotated y label, room included
constexpr const char* kMarkerGrey = "#8c8c8c";

// ---------------------------------------------------------------------------- places on the page

// A panel with its place and what its axes show.
struct PlacedPanel {
  const LinePanel* panel;
  Range x;
  Range y;
  std::vector<Tic> x_tics;
  std::vector<Tic> y_tics;
  Box box{};
};

std::vector<PlacedPanel> with_axes(const LineFigure& figure) {
  std::vector<PlacedPanel> placed;
  for (const auto& panel : figure.panels) {
    const auto [x, y] = shown_ranges(panel);
    placed.push_back({&panel, x, y, tics_of(panel.x.scale, x), tics_of(panel.y.scale, y)});
  }
  return placed;
}

double widest_number(const std::vector<PlacedPanel>& panels) {
  double width = 0;
  for (const auto& placed : panels) {
    for (const auto& tic : placed.y_tics) {
      width = std::max(width, text_width(tic.label, kSmallSize));
    }
  }
  return width;
}

bool share_y_axis(const LineFigure& figure) {
  const Axis& first = figure.panels.front().y;
  return std::all_of(figure.panels.begin(), figure.panels.end(), [&](const LinePanel& panel) {
    return panel.y.range && panel.y.range == first.range && panel.y.label == first.label &&
           panel.y.scale == first.scale;
  });
}

bool share_x_label(const LineFigure& figure) {
  return std::all_of(figure.panels.begin(), figure.panels.end(), [&](const LinePanel& panel) {
    return panel.x.label == figure.panels.front().x.label;
  });
}

// One of each look, in the order in which the panels bring them.
std::vector<const Series*> legend_entries(const LineFigure& figure) {
  std::vector<const Series*> entries;
  for (const auto& panel : figure.panels) {
    for (const auto& series : panel.series) {
      const bool known = std::any_of(entries.begin(), entries.end(), [&](const Series* entry) {
        return entry->label == series.label && entry->style == series.style &&
               entry->colour == series.colour;
      });
      if (!known && !series.label.empty()) entries.push_back(&series);
    }
  }
  return entries;
}

double room_above(const LineFigure& figure) {
  const auto any = [&](auto has) {
    return std::any_of(figure.panels.begin(), figure.panels.end(), has);
  };
  const bool titles = any([](const LinePanel& panel) { return !panel.title.empty(); });
  const bool markers = any([](const LinePanel& panel) { return !panel.markers.empty(); });
  return (titles ? kPanelRoom : kBareRoom) + (markers ? kMarkerRoom : 0.0);
}

// A figure on its page.
struct Drawing {
  const LineFigure* figure;
  std::vector<PlacedPanel> panels;
  Page page;
  bool shares_y;        // numbers and y label only at the left of each row
  bool shares_x;        // x label only at the foot of each column
  double label_offset;  // from a y label to its axis
};

Drawing placed(const LineFigure& figure) {
  Drawing drawing{&figure, with_axes(figure), {}, share_y_axis(figure), share_x_label(figure), 0};
  // A whole number, as the page's size in pixels must be.
  drawing.label_offset = std::max(42.0, std::ceil(widest_number(drawing.panels)) + kTicLength + 12);
  PagePlan plan;
  plan.title = figure.title;
  plan.caption = figure.caption;
  for (const Series* entry : legend_entries(figure)) plan.legend.push_back(entry->label);
  plan.panels = figure.panels.size();
  plan.columns = figure.columns;
  plan.left = drawing.label_offset + kLabelHeight;
  plan.gap = drawing.shares_y ? kGap : plan.left + kGap / 2;
  plan.right = kRight;
  plan.panel_room = room_above(figure);
  plan.panel_width = std::round(figure.stretch * kPanelWidth);
  drawing.page = lay_out(plan);
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    drawing.panels[k].box = drawing.page.panels[k];
  }
  return drawing;
}

// ------------------------------------------------------------------------------------ the looks

bool has_line(SeriesStyle style) {
  return style != SeriesStyle::points && style != SeriesStyle::dots;
}
bool has_points(SeriesStyle style) {
  return !has_line(style) || style == SeriesStyle::line_and_points;
}

std::string line_look(const Series& series) {
  const char* dashes = series.style == SeriesStyle::dashed   ? "dt (12,6)"
                       : series.style == SeriesStyle::dotted ? "dt (3,5)"
                                                             : "dt solid";
  return fmt::format("lw 1.7 lc rgb '#{:06x}' {}", series.colour, dashes);
}

std::string bar_look(const Series& series) {
  return fmt::format("lw 1.3 lc rgb '#{:06x}' dt solid", series.colour);
}

// A disc, which stands on a white one where the lines beneath are not its own; its error bar lies
// between the two.
bool has_halo(SeriesStyle style) { return style == SeriesStyle::points; }
std::string halo_look() { return "pt 7 ps 0.75 lc rgb '#ffffff'"; }
std::string point_look(const Series& series) {
  const char* size = series.style == SeriesStyle::dots ? "0.25" : "0.55";
  return fmt::format("pt 7 ps {} lc rgb '#{:06x}'", size, series.colour);
}

// ------------------------------------------------------------------------------------- the data

std::string data_name(std::size_t panel, std::size_t series) {
  return fmt::format("series_{}_{}", panel, series);
}

bool is_drawn(const LinePanel& panel, const Series& series, std::size_t i) {
  return std::isfinite(place_on(panel.x.scale, series.x[i])) &&
         std::isfinite(place_on(panel.y.scale, series.y[i]));
}

bool is_empty(const LinePanel& panel, const Series& series) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (is_drawn(panel, series, i)) return false;
  }
  return true;
}

// Columns x, y, and the ends of the error bar. A blank line interrupts.
void add_series(Script& script, const std::string& name, const PlacedPanel& placed,
                const Series& series) {
  DEWPOINT_EXPECTS(series.x.size() == series.y.size());
  DEWPOINT_EXPECTS(series.error.empty() || series.error.size() == series.y.size());
  const LinePanel& panel = *placed.panel;
  script.line("${} << EOD", name);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!is_drawn(panel, series, i)) {
      script.line("");
      continue;
    }
    const double y = place_on(panel.y.scale, series.y[i]);
    ErrorBar bar{y, y};
    if (!series.error.empty()) bar = error_bar(panel, series, i);
    // A bar that reaches 0 on a logarithmic axis has no lower end and leaves the panel.
    if (!(bar.low > placed.y.low)) bar.low = std::min(placed.y.low, y);
    script.line("{} {} {} {}", place_on(panel.x.scale, series.x[i]), y, bar.low,
                std::min(bar.high, std::max(placed.y.high, y)));
  }
  script.line("EOD");
}

void add_data(Script& script, const Drawing& drawing) {
  for (std::size_t k = 0; k < drawing.panels.size(); ++k) {
    const auto& all = drawing.panels[k].panel->series;
    for (std::size_t m = 0; m < all.size(); ++m) {
      add_series(script, data_name(k, m), drawing.panels[k], all[m]);
    }
  }
}

// -------------------------------------------------------------------------- around the panels

void add_legend_entry(Script& script, const Series& series, const LegendPlace& place) {
  const double right = place.left + kSampleWidth;
  if (has_line(series.style)) {
    script.line("set arrow from {0},{1} to {2},{1} nohead {3}", place.left, place.middle, right,
                line_look(series));
  }
  const double centre = place.left + kSampleWidth / 2;
  if (has_points(series.style)) {
    script.line("set label '' at {},{} point {} front", centre, place.middle, point_look(series));
  }
  add_text(script, series.label, {right + 8, place.middle, "left", kSmallSize});
}

bool is_inside(const PlacedPanel& placed, const Marker& marker) {
  const double place = place_on(placed.panel->x.scale, marker.x);
  return place >= placed.x.low && place <= placed.x.high;  // not NaN
}

double pixel_of(const PlacedPanel& placed, const Marker& marker) {
  const double place = place_on(placed.panel->x.scale, marker.x);
  return placed.box.left +
         placed.box.width * (place - placed.x.low) / (placed.x.high - placed.x.low);
}

// Labels stand above their lines, from left to right; one that would touch the last moves aside.
void add_marker_labels(Script& script, const PlacedPanel& placed) {
  std::vector<Marker> markers = placed.panel->markers;
  std::stable_sort(markers.begin(), markers.end(),
                   [](const Marker& a, const Marker& b) { return a.x < b.x; });
  double free_from = 0;
  for (const auto& marker : markers) {
    if (!is_inside(placed, marker)) continue;
    const double half = text_width(marker.label, kSmallSize) / 2;
    const double x = std::max(pixel_of(placed, marker), free_from + half);
    add_text(script, marker.label,
             {x, placed.box.bottom + placed.box.height + 9, "center", kSmallSize, kGrey});
    free_from = x + half + 2;
  }
}

void add_panel_texts(Script& script, const Drawing& drawing, std::size_t k) {
  const PlacedPanel& placed = drawing.panels[k];
  const Box& box = placed.box;
  const double centre = box.left + box.width / 2;
  const double title = room_above(*drawing.figure) - 14;
  add_text(script, placed.panel->title,
           {centre, box.bottom + box.height + title, "center", kTextSize});
  add_marker_labels(script, placed);
  if (!drawing.shares_x || drawing.page.ends_column(k)) {
    add_text(script, placed.panel->x.label,
             {centre, box.bottom - kTicRoom - 13, "center", kTextSize});
  }
  if (!drawing.shares_y || drawing.page.begins_row(k)) {
    add_text(
        script, placed.panel->y.label,
        {box.left - drawing.label_offset, box.bottom + box.height / 2, "center rotate", kTextSize});
  }
}

void add_page(Script& script, const Drawing& drawing) {
  begin_page(script, drawing.page);
  for (std::size_t k = 0; k < drawing.panels.size(); ++k) add_panel_texts(script, drawing, k);
  const auto entries = legend_entries(*drawing.figure);
  for (std::size_t m = 0; m < entries.size(); ++m) {
    add_legend_entry(script, *entries[m], drawing.page.legend[m]);
  }
  end_page(script, drawing.page);
}

// ---------------------------------------------------------------------------------- the panels

void set_markers(Script& script, const PlacedPanel& placed) {
  for (const auto& marker : placed.panel->markers) {
    if (!is_inside(placed, marker)) continue;
    script.line(
        "set arrow from {0}, graph 0 to {0}, graph 1 nohead back lw 1 lc rgb '{1}' dt (10,8)",
        place_on(placed.panel->x.scale, marker.x), kMarkerGrey);
  }
}

// Dots, lines, then halos, bars and discs: what was measured lies on top.
std::string layers(const LinePanel& panel, std::size_t k) {
  std::string dots;
  std::string lines;
  std::string halos;
  std::string bars;
  std::string points;
  for (std::size_t m = 0; m < panel.series.size(); ++m) {
    const Series& series = panel.series[m];
    if (is_empty(panel, series)) continue;
    const std::string data = fmt::format(", ${}", data_name(k, m));
    if (has_line(series.style)) lines += data + " with lines notitle " + line_look(series);
    if (!series.error.empty()) {
      bars += data + " using 1:3:(0):($4-$3) with vectors nohead " + bar_look(series) + " notitle";
    }
    if (!has_points(series.style)) continue;
    if (has_halo(series.style)) halos += data + " with points notitle " + halo_look();
    std::string& layer = series.style == SeriesStyle::dots ? dots : points;
    layer += data + " with points notitle " + point_look(series);
  }
  return dots + lines + halos + bars + points;
}

void add_panel(Script& script, const Drawing& drawing, std::size_t k) {
  const PlacedPanel& placed = drawing.panels[k];
  set_place(script, drawing.page, placed.box);
  script.line("set xrange [{}:{}]; set yrange [{}:{}]", placed.x.low, placed.x.high, placed.y.low,
              placed.y.high);
  set_tics(script, "x", placed.x_tics, true);
  set_tics(script, "y", placed.y_tics, !drawing.shares_y || drawing.page.begins_row(k));
  set_markers(script, placed);
  script.line("plot NaN notitle{}", layers(*placed.panel, k));  // NaN: a panel may be empty
  script.line("unset arrow");
}

void add_drawing(Script& script, const Drawing& drawing) {
  add_page(script, drawing);
  script.line("set border 15 front lw 0.7 lc rgb '{}'; set clip two", kInk);
  for (std::size_t k = 0; k < drawing.panels.size(); ++k) add_panel(script, drawing, k);
}

}  // namespace

Sheet sheet_of(const LineFigure& figure) {
  DEWPOINT_EXPECTS(!figure.panels.empty());
  Sheet sheet;
  const Drawing drawing = placed(figure);
  sheet.page = drawing.page;
  add_data(sheet.data, drawing);
  sheet.add_drawing = [drawing](Script& script) { add_drawing(script, drawing); };
  return sheet;
}

void draw(const LineFigure& figure, const OutputFile& stem) {
  write_sheet(sheet_of(figure), both_files(stem));
}

}  // namespace dewpoint::report
