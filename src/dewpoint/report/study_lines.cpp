#include "dewpoint/report/study_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

const FreeAxis* find_axis(const StudySlice& slice, const std::string& name) {
  const auto& axes = slice.axes();
  const auto found = std::find_if(axes.begin(), axes.end(),
                                  [&](const FreeAxis& axis) { return axis.name() == name; });
  return found == axes.end() ? nullptr : &*found;
}

// The size of the context, against which things scale.
const FreeAxis& size_axis(const StudySlice& slice, const std::string& asked) {
  return slice.axis(asked.empty() ? "n" : asked, true);
}

const FreeAxis& x_axis(const StudySlice& slice, const FigureRequest& request,
                       const FreeAxis* taken) {
  if (!request.x.empty()) return slice.axis(request.x, true);
  const FreeAxis* lines = find_axis(slice, request.y);
  const FreeAxis* chosen = slice.last_numeric({taken, lines});
  if (chosen != nullptr) return slice.axis(chosen->name(), true);
  throw Error(Code::bad_value, fmt::format("a curve of '{}' needs an axis with two numbers or more",
                                           slice.observable().name));
}

const FreeAxis* lines_axis(const StudySlice& slice, const FigureRequest& request,
                           const FreeAxis& x) {
  if (!request.y.empty()) return &slice.axis(request.y, false);
  const auto rest = slice.others({&x});
  return rest.empty() ? nullptr : rest.back();
}

void expect_few_lines(const FreeAxis* lines) {
  if (lines == nullptr || lines->size() <= kMostLines) return;
  throw Error(Code::bad_value,
              fmt::format("one line for each of the {} values of '{}' are more than {}: choose "
                          "values, as in --at {}={:g},{:g}",
                          lines->size(), lines->name(), kMostLines, lines->name(),
                          lines->values().front(), lines->values().back()));
}

LineRoles collapse_roles(const StudySlice& slice, const FigureRequest& request) {
  const FreeAxis& sizes = size_axis(slice, request.y);
  return {&x_axis(slice, request, &sizes), &sizes, {}};
}

void expect_different(const LineRoles& roles) {
  if (roles.x != roles.lines) return;
  throw Error(Code::bad_value,
              fmt::format("axis '{}' cannot be x and give the lines too", roles.x->name()));
}

}  // namespace

LineRoles line_roles(const StudySlice& slice, const FigureRequest& request) {
  LineRoles roles{};
  if (request.kind == "collapse") {
    roles = collapse_roles(slice, request);
  } else {
    roles.x =
        request.kind == "scaling" ? &size_axis(slice, request.x) : &x_axis(slice, request, nullptr);
    roles.lines = lines_axis(slice, request, *roles.x);
  }
  expect_different(roles);
  roles.panels = slice.others({roles.x, roles.lines});
  if (request.kind == "collapse" && !roles.panels.empty()) {
    throw Error(Code::bad_value,
                fmt::format("a collapse of '{}' has one axis beside {} and {}: choose a value of "
                            "'{}' with --at",
                            slice.observable().name, roles.x->name(), roles.lines->name(),
                            roles.panels.front()->name()));
  }
  expect_few_lines(roles.lines);
  expect_few_panels(roles.panels);
  return roles;
}

StudyLine line_at(const StudySlice& slice, const LineRoles& roles, const Variable& variable,
                  const Place& place) {
  StudyLine line{slice.place_label(place, roles.panels),
                 "",
                 std::numeric_limits<double>::quiet_NaN(),
                 {},
                 {},
                 {}};
  if (roles.lines != nullptr) {
    line.name = slice.place_label(place, {roles.lines});
    const std::size_t k = place.at(roles.lines->name());
    if (roles.lines->is_numeric()) line.value = roles.lines->dimension->coordinates[k];
  }
  Place at = place;
  for (const std::size_t k : roles.x->positions) {
    at[roles.x->name()] = k;
    const Estimate cell = slice.value(variable, at);
    if (std::isnan(cell.mean)) continue;
    line.x.push_back(roles.x->dimension->coordinates[k]);
    line.mean.push_back(cell.mean);
    line.error.push_back(cell.standard_error);
  }
  return line;
}

std::vector<Place> line_places(const LineRoles& roles, const Place& panel) {
  if (roles.lines == nullptr) return {panel};
  std::vector<Place> places;
  for (const std::size_t k : roles.lines->positions) {
    places.push_back(panel);
    places.back()[roles.lines->name()] = k;
  }
  return places;
}

Colour line_colour(const LineRoles& roles, std::size_t line) {
  if (roles.lines == nullptr || !roles.lines->is_numeric()) return kind_colour(line);
  return degree_colour(line, roles.lines->size());
}

}  // namespace dewpoint::report
