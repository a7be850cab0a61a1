// Arrays for NumPy: the bytes of a .npy file, version 1.0 (npy.hpp tells what such a file holds).
//
// Rows come first (C order, fortran_order False), numbers are little-endian, and the header is
// padded with blanks so that the numbers begin at a multiple of 64 bytes and can be mapped into
// memory. The same array gives the same bytes everywhere.
//
//   doubles    '<f8', bit for bit
//   integers   '<i8'
//   texts      '<U<k>': UTF-32, each padded with zeros to the k code points of the longest, k at
//              least 1, as NumPy does for empty texts. A text that is not UTF-8 is mended
//              (utf8.hpp); zeros at its end are lost, as they are in NumPy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dewpoint::checkpoint {

/// Extents of an array, the slowest first; none for a single value.
using NpyShape = std::vector<std::size_t>;

/// The file of an array whose elements, the last dimension running fastest, are `values`: as many
/// as the product of the extents.
///
///   Properties  (1) numpy.load gives back type, shape and every bit of the elements.
///               (2) parse_npy_matrix reads what is a matrix of finite numbers.
[[nodiscard]] std::string npy_bytes(std::span<const double> values, const NpyShape& shape);
[[nodiscard]] std::string npy_bytes(std::span<const std::int64_t> values, const NpyShape& shape);
[[nodiscard]] std::string npy_bytes(std::span<const std::string> values, const NpyShape& shape);

}  // namespace dewpoint::checkpoint
