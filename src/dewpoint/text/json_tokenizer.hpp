// The two tokenizers that are one JSON file, told apart by content.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// An object with "model" is a tokenizer.json, one with "token2id" a list of words. Throws
/// Error{malformed_file} with the name.
[[nodiscard]] std::unique_ptr<Tokenizer> parse_json_tokenizer(std::string_view text,
                                                              std::string_view name);

}  // namespace dewpoint::text
