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

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double error_at(const std::vector<double>& errors, std::size_t k) {
  return errors.empty() ? kNothing : errors[k];
}

std::string csv_of(const HeatmapFigure& figure) {
  std::string csv = "panel,curve,x,y,value,standard_error\n";
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
  std::string csv = "panel,series,x,y,standard_error\n";
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

}  // namespace

void set_title(Figure& figure, const std::string& title) {
  std::visit([&](auto& any) { any.title = title; }, figure);
}

std::string points_csv(const Figure& figure) {
  return std::visit([](const auto& any) { return csv_of(any); }, figure);
}

void write_figure(const Figure& figure, const fs::path& file, const Companions& companions) {
  const Sheet sheet = std::visit([](const auto& any) { return sheet_of(any); }, figure);
  std::vector<TextFile> texts;
  if (companions.script) {
    texts.push_back({fs::path(file).replace_extension(".gp"), sheet_script(sheet, file)});
  }
  if (companions.points) {
    texts.push_back({fs::path(file).replace_extension(".csv"), points_csv(figure)});
  }
  write_sheet(sheet, {file}, texts);
}

}  // namespace dewpoint::report
