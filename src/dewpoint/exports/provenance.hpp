// Where the numbers of a file come from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dewpoint/store/study.hpp"

namespace dewpoint::exports {

using Json = nlohmann::ordered_json;

/// {"experiment", "seed", "version", "command", "created", "parameters": {name: text}}.
[[nodiscard]] Json provenance(const store::StudyRecord& study);
/// {name: text}, in the order of the study.
[[nodiscard]] Json parameters_of(const store::StudyRecord& study);

/// On one line; text that is not UTF-8 is mended.
[[nodiscard]] std::string to_text(const Json& json);
/// The same, indented for a person.
[[nodiscard]] std::string to_page(const Json& json);

}  // namespace dewpoint::exports
