// What a tokenizer.json does to a text before it is split: its "normalizer".
//
//   null                                nothing
//   Sequence {normalizers}              one after the other
//   Prepend {prepend}                   a text in front, unless the text is empty
//   Replace {pattern, content}          by text or by expression
//   NFC                                 for texts that are composed already; others are refused
//
// Every other type is refused by its name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "dewpoint/text/json_field.hpp"

namespace dewpoint::text {

/// Changes a text, which may not grow beyond `most` bytes. Throws Error{bad_value}.
using Normalizer = std::function<void(std::string& text, std::size_t most)>;

/// Throws Refusal.
[[nodiscard]] Normalizer read_normalizer(const JsonField& field);

}  // namespace dewpoint::text
