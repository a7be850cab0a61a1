// Results on their way to Python: frames with their numbers as arrays, answers as objects.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <nlohmann/json_fwd.hpp>

#include "dewpoint/core/frame.hpp"

namespace dewpoint::python {

namespace py = pybind11;

/// A dewpoint.Frame.
[[nodiscard]] py::object to_python(const Frame& frame);

/// Objects as dictionaries, in their order; what is a frame or an estimate as one.
[[nodiscard]] py::object to_python(const nlohmann::ordered_json& json);

void bind_frames(py::module_& module);

}  // namespace dewpoint::python
