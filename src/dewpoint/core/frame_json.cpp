#include "dewpoint/core/frame_json.hpp"

#include <nlohmann/json.hpp>

namespace dewpoint {
namespace {

using Json = nlohmann::ordered_json;

// Cells [first, first + count) nested by the dimensions from `axis` on.
Json nested(const Frame& frame, const Variable& variable, std::size_t axis, std::size_t first,
            std::size_t count, Json (*value)(const Estimate&)) {
  if (axis == variable.dimensions.size()) return value(variable.cells[first]);
  const std::size_t extent = frame.dimension(variable.dimensions[axis]).coordinates.size();
  Json array = Json::array();
  for (std::size_t k = 0; k < extent; ++k) {
    const std::size_t part = count / extent;
    array.push_back(nested(frame, variable, axis + 1, first + k * part, part, value));
  }
  return array;
}

double number_of(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Calls visit(place, number) for every leaf of nested arrays, in row-major order.
template <class Visit>
void visit_leaves(const Json& json, std::size_t& place, const Visit& visit) {
  if (!json.is_array()) return visit(place++, json);
  for (const Json& part : json) visit_leaves(part, place, visit);
}

template <class Visit>
void visit_leaves(const Json& json, const Visit& visit) {
  std::size_t place = 0;
  visit_leaves(json, place, visit);
}

void add_dimension(Frame& frame, const std::string& name, const Json& along) {
  if (!along.empty() && along.front().is_string()) {
    frame.add_labelled_dimension(name, along.get<std::vector<std::string>>());
    return;
  }
  std::vector<double> coordinates;
  for (const Json& one : along) coordinates.push_back(number_of(one));
  frame.add_dimension(name, std::move(coordinates));
}

}  // namespace

Frame frame_from_json(const Json& json) {
  Frame frame(json["name"].get<std::string>());
  for (const auto& [name, along] : json["dimensions"].items()) add_dimension(frame, name, along);
  for (const auto& [name, numbers] : json["variables"].items()) {
    auto& cells =
        frame.add_variable(name, numbers["dimensions"].get<std::vector<std::string>>()).cells;
    visit_leaves(numbers["mean"],
                 [&](std::size_t k, const Json& value) { cells[k].mean = number_of(value); });
    visit_leaves(numbers["standard_error"], [&](std::size_t k, const Json& value) {
      cells[k].standard_error = number_of(value);
    });
    visit_leaves(numbers["samples"], [&](std::size_t k, const Json& value) {
      cells[k].samples = value.get<std::uint64_t>();
    });
  }
  return frame;
}

Json to_json(const Estimate& estimate) {
  return {{"mean", estimate.mean},
          {"standard_error", estimate.standard_error},
          {"samples", estimate.samples}};
}

Json to_json(const Frame& frame) {
  Json dimensions = Json::object();
  for (const Dimension& d : frame.dimensions()) {
    dimensions[d.name] = d.labels.empty() ? Json(d.coordinates) : Json(d.labels);
  }
  Json variables = Json::object();
  for (const Variable& v : frame.variables()) {
    const auto field = [&](Json (*value)(const Estimate&)) {
      return nested(frame, v, 0, 0, v.cells.size(), value);
    };
    variables[v.name] = {
        {"dimensions", v.dimensions},
        {"mean", field([](const Estimate& e) { return Json(e.mean); })},
        {"standard_error", field([](const Estimate& e) { return Json(e.standard_error); })},
        {"samples", field([](const Estimate& e) { return Json(e.samples); })}};
  }
  return {{"name", frame.name()}, {"dimensions", dimensions}, {"variables", variables}};
}

}  // namespace dewpoint
