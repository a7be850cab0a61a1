// The fields of a protocol buffer, one after the other, without its description.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dewpoint::text {

struct WireField {
  enum class Kind { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::uint32_t number;
  Kind kind;
  std::uint64_t value;     // of a number
  std::string_view bytes;  // of a text, or of a message inside
  std::size_t place;       // of the field's first byte in the file
};

/// Walks over a message. `place` is where it begins in the file, for what is said about it.
class WireReader {
 public:
  explicit WireReader(std::string_view message, std::size_t place = 0)
      : message_(message), place_(place) {}

  /// The next field; none at the end. Throws Refusal{"byte <k>", ..} for what is no field: a cut
  /// end, a number too long, a kind other than the four (groups are not used any more).
  [[nodiscard]] std::optional<WireField> next();

 private:
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::uint64_t fixed(std::size_t width);
  [[nodiscard]] std::string_view take(std::uint64_t length);
  [[noreturn]] void refuse(std::string_view found) const;

  std::string_view message_;
  std::size_t place_;
  std::size_t offset_ = 0;
};

}  // namespace dewpoint::text
