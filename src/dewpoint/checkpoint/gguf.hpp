// The metadata of a GGUF file: what llama.cpp knows of a model beside its tensors.
//
//     "GGUF"  version u32  tensors u64  pairs u64
//     pairs times: key (u64 length, bytes), type u32, value
//     descriptions of the tensors, padding, tensors: not read here
//
// Little-endian, versions 2 and 3; version 1 counted in 32 bits and is refused, as are files for
// big-endian machines. Nothing is believed before it is checked against the bytes at hand. Arrays
// may be vocabularies of many megabytes, so only their type and length are kept; short arrays of
// numbers (one per layer, say) keep their values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dewpoint/checkpoint/foreign_file.hpp"

namespace dewpoint::checkpoint {

/// In the numbering of the format.
enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

struct GgufArray {
  GgufType element = GgufType::u8;
  std::uint64_t length = 0;
  std::vector<double> numbers;  // of numbers and booleans, where length <= kGgufKeptElements
};

/// Any number is a double: what a configuration holds is far below 2^53, and what is not is out of
/// every range that a reader allows.
using GgufValue = std::variant<bool, double, std::string, GgufArray>;

struct GgufMetadata {
  std::uint32_t version = 0;
  std::uint64_t tensors = 0;
  std::map<std::string, GgufValue, std::less<>> values;
};

inline constexpr std::uint64_t kGgufKeptElements = 4096;
inline constexpr std::size_t kGgufArrayDepth = 4;     // arrays of arrays of arrays of arrays
inline constexpr std::size_t kGgufKeyLength = 65535;  // of the format

/// Whether bytes begin as a GGUF file does.
[[nodiscard]] bool is_gguf(const ByteSource& bytes);

/// Throws Refusal whose field is a part of the header or a key.
///
///   Domain      any bytes, at any alignment.
///   Properties  (1) whatever the bytes, the outcome is metadata or a Refusal.
///               (2) memory is at most a few times the bytes: counts are checked before use.
///               (3) no key is there twice.
///               (4) what follows the metadata is never looked at.
///   Reference   the GGUF specification of the ggml project.
[[nodiscard]] GgufMetadata parse_gguf(const ByteSource& bytes);

}  // namespace dewpoint::checkpoint
