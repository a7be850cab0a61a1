// A study file to begin with: a small grid that runs in seconds, and every parameter with its
// default and its meaning.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

///   Properties  (1) it parses, and every point of it resolves.
[[nodiscard]] std::string template_text(const Experiment& experiment);

}  // namespace dewpoint::studies
