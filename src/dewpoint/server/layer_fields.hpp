// What the rooms about layers of attention ask of their described questions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/server/question.hpp"

namespace dewpoint::server {

/// The fields that are answered live: of the plain layer, on tokens of these laws and of no file,
/// by gamma alone, with numbers up to `most`.
[[nodiscard]] std::vector<question::Field> live_layer(std::vector<question::Field> fields,
                                                      const std::vector<std::string>& laws,
                                                      const std::map<std::string, double>& most);

/// The command of a question without what has no effect in it, which the verb refuses.
[[nodiscard]] std::string effective_command(const Question& question,
                                            const experiments::LayerQuestion& asked);

}  // namespace dewpoint::server
