// JSON that other programs wrote: the only door through which it comes in.
//
// RFC 8259 and nothing beside it: UTF-8, one value, no comments, no NaN and no Infinity, no number
// beyond a double. Stricter than the RFC in two ways. A key that stands twice in one object is
// refused, because readers differ in which of the two they believe. And depth, size and the number
// of values are bounded, so that a hostile file costs a bounded amount of memory and no stack.
//
// Objects keep the order of the file. Looking up a key in one is a walk over its keys: go over a
// large object (a vocabulary, a map of weights) with items() instead.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace dewpoint::checkpoint {

struct JsonLimits {
  std::size_t bytes = std::size_t{128} << 20;  // more: longer texts
  std::size_t depth = 64;                      // more: containers deeper inside each other
  std::size_t values = 10'000'000;             // more: texts that hold more values of any kind
};

/// The value of a text. Throws Refusal whose field is "byte <k>", the bytes counted from 0; a key
/// that stands twice is named, and k is where its object ends.
///
///   Domain      any bytes.
///   Properties  (1) whatever the bytes, the outcome is a value or a Refusal.
///               (2) objects keep the order of the text, and no key of theirs is there twice.
///               (3) every number is finite.
///               (4) every text, keys too, is UTF-8.
///               (5) time and memory grow no faster than n ln n in the size of the text.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text,
                                                const JsonLimits& limits = {});

/// parse_json of a whole file. Throws Error{unreadable_file}, or Error{malformed_file} with one
/// line: file, byte, what was found, what is allowed.
[[nodiscard]] nlohmann::ordered_json read_json(const std::filesystem::path& path,
                                               const JsonLimits& limits = {});

}  // namespace dewpoint::checkpoint
