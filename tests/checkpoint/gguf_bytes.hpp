// GGUF files, built piece by piece for tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace dewpoint::test {

/// Little-endian, as the machine of the tests is.
template <class T>
std::string bytes_of(T value) {
  const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  return {raw.data(), raw.size()};
}

/// A key with a value of any type whose bytes are given.
inline std::string gguf_pair(const std::string& key, std::uint32_t type, const std::string& value) {
  return bytes_of<std::uint64_t>(key.size()) + key + bytes_of(type) + value;
}

template <class T>
std::string gguf_value(const std::string& key, std::uint32_t type, T value) {
  return gguf_pair(key, type, bytes_of(value));
}

inline std::string gguf_count(const std::string& key, std::uint32_t value) {
  return gguf_value(key, 4, value);
}

inline std::string gguf_float(const std::string& key, float value) {
  return gguf_value(key, 6, value);
}

inline std::string gguf_string(const std::string& key, const std::string& value) {
  return gguf_pair(key, 8, bytes_of<std::uint64_t>(value.size()) + value);
}

template <class T>
std::string gguf_array(const std::string& key, std::uint32_t type, const std::vector<T>& values) {
  std::string bytes = bytes_of(type) + bytes_of<std::uint64_t>(values.size());
  for (const T value : values) bytes += bytes_of(value);
  return gguf_pair(key, 9, bytes);
}

/// A file of pairs, without a tensor behind them.
inline std::string gguf(const std::vector<std::string>& pairs, std::uint32_t version = 3,
                        std::uint64_t tensors = 0) {
  std::string file = "GGUF" + bytes_of(version) + bytes_of(tensors);
  file += bytes_of<std::uint64_t>(pairs.size());
  for (const std::string& pair : pairs) file += pair;
  return file;
}

}  // namespace dewpoint::test
