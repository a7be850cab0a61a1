// Base64 read back, as a browser does it: bits one after the other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace dewpoint::test {

/// The bytes behind a text without line breaks; fails on any other letter and on a wrong length.
inline std::vector<std::uint8_t> bytes_of_base64(std::string text) {
  EXPECT_EQ(text.size() % 4, 0U);
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::vector<bool> bits;
  for (const char letter : text) {
    const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const std::string all = upper + "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t value = all.find(letter);
    EXPECT_NE(value, std::string::npos) << letter;
    for (int bit = 5; bit >= 0; --bit) bits.push_back((value >> bit & 1U) != 0);
  }
  std::vector<std::uint8_t> bytes(bits.size() / 8);
  for (std::size_t k = 0; k < bytes.size() * 8; ++k) {
    bytes[k / 8] = static_cast<std::uint8_t>(bytes[k / 8] << 1U | (bits[k] ? 1U : 0U));
  }
  return bytes;
}

/// The same as doubles of this machine, which is little-endian as all that we build for.
inline std::vector<double> numbers_of_base64(const std::string& text) {
  const std::vector<std::uint8_t> bytes = bytes_of_base64(text);
  EXPECT_EQ(bytes.size() % sizeof(double), 0U);
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace dewpoint::test
