// dewpoint._core: what the Python package has of C++.
//
// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <filesystem>

#include "array.hpp"
#include "ask.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/store/study.hpp"
#include "frames.hpp"
#include "scores.hpp"

namespace dewpoint::python {
namespace {

PyObject* exception_of(Code code) {
  switch (code) {
    case Code::bad_value:
    case Code::malformed_file:
      return PyExc_ValueError;
    case Code::unreadable_file:
      return PyExc_FileNotFoundError;
    case Code::unwritable_file:
      return PyExc_OSError;
    case Code::stopped:
      return PyExc_KeyboardInterrupt;
    case Code::missing_tool:
      break;
  }
  return PyExc_RuntimeError;
}

py::dict read_study(const std::string& file) {
  const store::StudyRecord study = [&] {
    const py::gil_scoped_release unlocked;
    return store::read_study(file);
  }();
  py::dict parameters, frames;
  for (const auto& [name, value] : study.parameters) parameters[py::str(name)] = value;
  for (const Frame& frame : study.frames) frames[py::str(frame.name())] = to_python(frame);
  py::dict attachments;
  for (const store::Attachment& one : study.attachments) {
    attachments[py::str(one.name)] =
        py::bytes(reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size());
  }
  py::dict record;
  record["experiment"] = study.experiment;
  record["seed"] = study.seed;
  record["version"] = study.version;
  record["command"] = study.command;
  record["created"] = study.created;
  record["parameters"] = parameters;
  record["frames"] = frames;
  record["attachments"] = attachments;
  return record;
}

}  // namespace
}  // namespace dewpoint::python

PYBIND11_MODULE(_core, module) {
  using namespace dewpoint::python;
  module.attr("__version__") = dewpoint::version();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const dewpoint::Error& error) {
      PyErr_SetString(exception_of(error.code()), error.what());
    }
  });
  bind_arrays(module);
  bind_frames(module);
  bind_ask(module);
  bind_scores(module);
  module.def("read_study", &read_study, py::arg("file"));
}
