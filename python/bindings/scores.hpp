// Dew points of arrays of scores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace dewpoint::python {

void bind_scores(pybind11::module_& module);

}  // namespace dewpoint::python
