// A verb of the command line, asked from Python.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace dewpoint::python {

void bind_ask(pybind11::module_& module);

}  // namespace dewpoint::python
