// What stands before the numbers of a .npy file (npy.hpp tells how such a file looks), for the
// readers of matrices (npy.hpp) and of arrays (npy_array.hpp). They differ in what they can use, so
// each says in its own words what it allows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace dewpoint::checkpoint {

/// What a reader allows, for the message of a refusal.
struct NpyAllowance {
  const char* types;
  const char* shape;
};

/// The three keys of the dictionary; the texts lie in the file.
struct NpyHeader {
  std::string_view descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::string_view shape_text;
};

/// NumPy writes less than a thousand bytes for an array of numbers.
inline constexpr std::size_t kLongestNpyHeader = std::size_t{1} << 20;
/// Bytes from the beginning of a file in which everything before its numbers lies.
inline constexpr std::size_t kNpyFront = 12 + kLongestNpyHeader;

/// Cuts magic string, version and header off the front of `bytes`, which are the numbers then.
/// Throws Refusal. Types and extents are not judged, structured types excepted: they are not a text
/// and refused.
[[nodiscard]] NpyHeader take_npy_header(std::span<const std::byte>& bytes,
                                        const NpyAllowance& allowance);

/// Throws the Refusal of a type, with what it is in words.
[[noreturn]] void refuse_npy_type(std::string_view descr, const char* allowed);

}  // namespace dewpoint::checkpoint
