#include "dewpoint/report/figure_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "dewpoint/core/csv_field.hpp"
#include "dewpoint/report/sheet.hpp"

namespace dewpoint::report {
namespace {

namespace fs = std::filesystem;

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

void add_row(std::string& csv, const std::string& panel, const std::string& name,
             std::initializer_list<double> numbers) {
  csv += csv_field(panel) + "," + csv_field(name);
  for (const double number : numbers) csv.append(1, ',').append(csv_number(number));
  csv += '\n';
}

constexpr const char* kHeatmapHeader = "panel,curve,x,y,value,standard_error\n";
constexpr const char* kLinesHeader = "panel,series,x,y,standard_error\n";

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double error_at(const std::vector<double>& errors, std::size_t k) {
  return errors.empty() ? kNothing : errors[k];
}

std::string csv_of(const HeatmapFigure& figure) {
  std::string csv = kHeatmapHeader;
  for (const HeatmapPanel& panel : figure.panels) {
    for (std::size_t k = 0; k < panel.z.size(); ++k) {
      if (!panel.borrowed.empty() && panel.borrowed[k]) continue;
      add_row(csv, panel.title, "",
              {panel.x[k / panel.y.size()], panel.y[k % panel.y.size()], panel.z[k],
               error_at(panel.error, k)});
    }
    for (const Curve& curve : panel.curves) {
      for (std::size_t k = 0; k < curve.x.size(); ++k) {
        add_row(csv, panel.title, curve.label, {curve.x[k], curve.y[k], kNothing, kNothing});
      }
    }
  }
  return csv;
}

std::string csv_of(const LineFigure& figure) {
  std::string csv = kLinesHeader;
  for (const LinePanel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        add_row(csv, panel.title, series.label,
                {series.x[k], series.y[k], error_at(series.error, k)});
      }
    }
  }
  return csv;
}

fs::path script_of(const fs::path& figure) { return fs::path(figure).replace_extension(".gp"); }
fs::path points_of(const fs::path& figure) { return fs::path(figure).replace_extension(".csv"); }

}  // namespace

void set_title(Figure& figure, const std::string& title) {
  std::visit([&](auto& any) { any.title = title; }, figure);
}

std::string points_csv(const Figure& figure) {
  return std::visit([](const auto& any) { return csv_of(any); }, figure);
}

FileKind points_kind() {
  return {"the points of a figure", [](const fs::path& file) {
            return is_marked(file, kHeatmapHeader, kHeatmapHeader) ||
                   is_marked(file, kLinesHeader, kLinesHeader);
          }};
}

void require_figure_places(const OutputFile& file, const Companions& companions) {
  require_writable(file, figure_kind(file.path));
  if (companions.script) require_writable(file.beside(script_of(file.path)), script_kind());
  if (companions.points) require_writable(file.beside(points_of(file.path)), points_kind());
}

void write_figure(const Figure& figure, const OutputFile& output, const Companions& companions) {
  const fs::path& file = output.path;
  const Sheet sheet = std::visit([](const auto& any) { return sheet_of(any); }, figure);
  std::vector<TextFile> texts;
  if (companions.script) {
    texts.push_back({script_of(file), sheet_script(sheet, file), script_kind()});
  }
  if (companions.points) {
    texts.push_back({points_of(file), points_csv(figure), points_kind()});
  }
  write_sheet(sheet, {output}, texts);
}

}  // namespace dewpoint::report
