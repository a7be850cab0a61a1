// sentencepiece models (tokenizer.model), through the library.
//
// The model is checked before the library reads it (sentencepiece_guard.hpp); what the library
// still refuses becomes an Error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// Throws Error{malformed_file} with the name.
///
///   Properties  of what is returned
///               (1) encode normalises as the model says: most models drop a text's outer blanks
///                   and make one blank of many, so decode gives them back as one.
///               (2) decode writes U+FFFD for bytes that form no character, as the library does.
[[nodiscard]] std::unique_ptr<Tokenizer> parse_sentencepiece(std::string_view model,
                                                             std::string_view name);

}  // namespace dewpoint::text
