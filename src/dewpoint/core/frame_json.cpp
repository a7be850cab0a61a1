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

}  // namespace

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
