// Bodies of requests: JSON of bounded depth, and objects whose every field is known.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::server {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t kMostJsonDepth = 8;

/// An object. Throws Refusal{400} for anything else, and for what is deeper than kMostJsonDepth.
[[nodiscard]] Json parse_body(std::string_view text);

/// Throws Refusal{400} naming a field that is not among `known`, with the nearest one.
void refuse_unknown_fields(const Json& object, const std::vector<std::string>& known);

/// Texts of a body. Throw Refusal{400} where the field is missing (without a default) or no text of
/// at most `most` bytes.
[[nodiscard]] std::string body_text(const Json& body, const std::string& field, std::size_t most);
[[nodiscard]] std::string body_text(const Json& body, const std::string& field, std::size_t most,
                                    const std::string& standard);
[[nodiscard]] bool body_flag(const Json& body, const std::string& field);

/// The name of a client: 4 to 64 letters, digits, - and _. Throws Refusal{400}.
[[nodiscard]] std::string body_client(const Json& body);

}  // namespace dewpoint::server
