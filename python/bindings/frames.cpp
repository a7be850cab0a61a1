#include "frames.hpp"

#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "array.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/frame_json.hpp"

namespace dewpoint::python {
namespace {

using Json = nlohmann::ordered_json;

py::object results_class(const char* name) {
  return py::module_::import("dewpoint.results").attr(name);
}

std::vector<py::ssize_t> shape_of(const Frame& frame, const Variable& variable) {
  std::vector<py::ssize_t> shape;
  for (const std::string& name : variable.dimensions) {
    shape.push_back(static_cast<py::ssize_t>(frame.dimension(name).coordinates.size()));
  }
  return shape;
}

py::object variable_of(const Frame& frame, const Variable& variable) {
  const std::vector<py::ssize_t> shape = shape_of(frame, variable);
  std::vector<double> means, errors;
  std::vector<std::uint64_t> samples;
  for (const Estimate& cell : variable.cells) {
    means.push_back(cell.mean);
    errors.push_back(cell.standard_error);
    samples.push_back(cell.samples);
  }
  return results_class("Variable")(
      variable.name, py::tuple(py::cast(variable.dimensions)), to_array(std::move(means), shape),
      to_array(std::move(errors), shape), to_array(std::move(samples), shape));
}

py::object coordinates_of(const Dimension& dimension) {
  if (!dimension.labels.empty()) return py::cast(dimension.labels);
  const auto extent = static_cast<py::ssize_t>(dimension.coordinates.size());
  return py::cast(to_array(dimension.coordinates, {extent}));
}

bool has_keys(const Json& json, std::initializer_list<const char*> keys) {
  if (json.size() != keys.size()) return false;
  return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return json.contains(key); });
}

py::object estimate_of(const Json& json) {
  return results_class("Estimate")(to_python(json["mean"]), to_python(json["standard_error"]),
                                   to_python(json["samples"]));
}

py::object object_of(const Json& json) {
  if (has_keys(json, {"name", "dimensions", "variables"})) return to_python(frame_from_json(json));
  if (has_keys(json, {"mean", "standard_error", "samples"})) return estimate_of(json);
  py::dict dict;
  for (const auto& [key, value] : json.items()) dict[py::str(key)] = to_python(value);
  return dict;
}

}  // namespace

py::object to_python(const Frame& frame) {
  py::dict dimensions;
  for (const Dimension& one : frame.dimensions()) {
    dimensions[py::str(one.name)] = coordinates_of(one);
  }
  py::dict variables;
  for (const Variable& one : frame.variables()) {
    variables[py::str(one.name)] = variable_of(frame, one);
  }
  return results_class("Frame")(frame.name(), dimensions, variables);
}

py::object to_python(const Json& json) {
  switch (json.type()) {
    case Json::value_t::object:
      return object_of(json);
    case Json::value_t::array: {
      py::list list;
      for (const Json& item : json) list.append(to_python(item));
      return list;
    }
    case Json::value_t::string:
      return py::str(json.get_ref<const std::string&>());
    case Json::value_t::boolean:
      return py::bool_(json.get<bool>());
    case Json::value_t::number_integer:
      return py::int_(json.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return py::int_(json.get<std::uint64_t>());
    case Json::value_t::number_float:
      return py::float_(json.get<double>());
    default:
      return py::none();
  }
}

void bind_frames(py::module_& module) {
  module.def(
      "estimate_text",
      [](double mean, double standard_error, std::uint64_t samples) {
        return to_string(Estimate{mean, standard_error, samples});
      },
      py::arg("mean"), py::arg("standard_error"), py::arg("samples"),
      "As many digits as the error deserves.");
}

}  // namespace dewpoint::python
