// An array of any shape out of a .npy file (npy.hpp tells how such a file looks), as a Tensor.
//
//   f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8, b1      numbers, little- or big-endian
//   S<k> U<k> V<k>, c<k>, M<k> m<k>, f16 ...    `other`: listed with its bytes, which only text_of
//                                               (texts) or who knows better (V2) can read; little-
//                                               endian or of single bytes
//   O, structured types                         refused: pickles and records
//
// V2, two raw bytes, is how NumPy writes bf16, whose name it does not know. The array does not say
// so itself; whoever learns it elsewhere may set the type of the tensor to bf16.
//
// Other than in a matrix of npy.hpp extents may be 0 and values NaN.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::checkpoint {

struct NpyArray {
  Tensor tensor;                        // its name is for the caller to give
  std::shared_ptr<const void> storage;  // keeps the bytes; none where they are those of the source
};

/// Throws Error{malformed_file} with one line: name, field, what was found, what is allowed.
///
///   Domain      any bytes, at any alignment; in memory they must outlive an array without storage.
///   Accuracy    bit for bit.
///   Properties  (1) the bytes are NumPy's array.astype('<...').tobytes('C').
///               (2) nothing but the header is allocated for bytes in C order and little-endian,
///               and
///                   no more than their size for others, twice that from a file.
///               (3) whatever the bytes, the outcome is an array or an Error of one line.
[[nodiscard]] NpyArray parse_npy_array(const ByteSource& bytes, std::string_view name);

/// Throws a Refusal unless a file of `size` bytes that begins with `front` is as long as its header
/// says: what is to be unpacked can be judged before.
///
///   Domain      `front` has min(size, kNpyFront) bytes (npy_header.hpp).
void check_npy_size(std::span<const std::byte> front, std::size_t size);

}  // namespace dewpoint::checkpoint
