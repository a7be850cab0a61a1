// A hash of what is stored, so that a bit that the disk changed does not pass for a result.
//
// Private to the store. XXH3, 64 bits: a damaged value has the hash of the sound one with
// probability 2^-64. It finds accidents; whoever wants to forge a study can hash as well.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dewpoint::store {

/// Values in the order in which they are added, each with its kind and texts with their length.
class Digest {
 public:
  explicit Digest(std::int64_t start = 0) : hash_(static_cast<std::uint64_t>(start)) {
    bytes_.reserve(512);
  }
  void add(std::int64_t value);
  /// All NaN are one, as in the file, where they are NULL.
  void add(double value);
  void add(std::string_view text);
  /// As SQLite keeps it: signed.
  [[nodiscard]] std::int64_t value();

 private:
  void add_bytes(char kind, const void* first, std::size_t size);
  void fold();

  std::uint64_t hash_;
  std::string bytes_;  // not folded into the hash yet
};

}  // namespace dewpoint::store
