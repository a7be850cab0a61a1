// What `dewpoint heads` tells: a line per head, and what is odd about them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/answer.hpp"
#include "cli/heads_measurement.hpp"

namespace dewpoint::cli {

[[nodiscard]] std::string heads_text(const HeadsQuestion& question, const HeadsMeasurement& found);

/// "id: sentence" per line, those that several heads share once, with the heads.
[[nodiscard]] std::string warnings_text(const HeadsMeasurement& found);

[[nodiscard]] Json heads_json(const HeadsQuestion& question, const HeadsMeasurement& found,
                              const Frame& heads);

}  // namespace dewpoint::cli
