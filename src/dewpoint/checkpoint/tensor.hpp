// A tensor of a foreign file: a name, a type, a shape, and bytes that stay where they are.
//
// The bytes are little-endian, in C order, at any alignment (some writers do not pad). They lie in
// memory that belongs to somebody else (tensor_archive.hpp), or in a file, from which copy_elements
// reads what it is asked for. Whoever made the tensor has checked that shape, type and bytes agree.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/foreign_file.hpp"

namespace dewpoint::checkpoint {

enum class ElementType {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  other
};

/// Bytes of one element; 0 for `other`, whose bytes nobody here can read.
[[nodiscard]] std::size_t size_of(ElementType type);
/// "bf16", ...
[[nodiscard]] const char* name_of(ElementType type);

struct Tensor {
  std::string name;
  ElementType type = ElementType::other;
  std::vector<std::size_t> shape;    // the slowest first; empty: one value
  std::span<const std::byte> bytes;  // empty where there is a file
  std::string foreign_type{};  // what the file calls a type that is `other` here: "F8_E4M3", "U12"

  struct InFile {
    std::shared_ptr<const ForeignFile> file = {};  // null: the bytes are in memory
    std::size_t first = 0;
    std::size_t count = 0;
  };
  InFile in_file{};

  [[nodiscard]] std::size_t elements() const;
  /// Its bytes, wherever they are: how many, and those from `first` on (ForeignFile::read).
  [[nodiscard]] std::size_t byte_count() const {
    return in_file.file ? in_file.count : bytes.size();
  }
  void read_bytes(std::size_t first, std::span<std::byte> out) const;
  /// Lets it have `count` bytes of a source, from `first` on.
  void take_bytes(const ByteSource& source, std::size_t first, std::size_t count);
};

/// "[4, 64, 192]".
[[nodiscard]] std::string shape_text(const std::vector<std::size_t>& shape);

/// The product of the extents, or nothing where it is beyond a std::size_t. An extent of 0 makes
/// it 0 whatever the others are.
[[nodiscard]] std::optional<std::size_t> checked_product(const std::vector<std::size_t>& shape);

/// Elements [first, first + out.size()) as numbers; truth values are 0 and 1. Throws
/// Error{bad_value} naming the tensor where its type is not a number that can be read, and what
/// ForeignFile::read throws.
///
///   Domain      first + out.size() <= elements().
///   Accuracy    exact, but for f64 and integers beyond 24 bits in the first and integers beyond
///               53 bits in the second, which go to the nearest.
///   Properties  (1) every f16 and bf16 is met exactly: subnormals, infinities, signed zeros; a NaN
///                   stays one.
///               (2) alignment does not matter.
void copy_elements(const Tensor& tensor, std::size_t first, std::span<float> out);
void copy_elements(const Tensor& tensor, std::size_t first, std::span<double> out);

/// Numbers as the bytes of a tensor of type f16, bf16, f32 or f64: rounded to the nearest, ties to
/// even, beyond the largest to infinity.
///
///   Properties  (3) copy_elements gives back what the type can hold, bit for bit (NaN as NaN).
[[nodiscard]] std::vector<std::byte> element_bytes(std::span<const float> values, ElementType type);

/// The text of a tensor that holds one: bytes (u8, one dimension), or one element of NumPy's texts
/// ("S<k>", or "U<k>" as UTF-8). Nothing for any other tensor.
[[nodiscard]] std::optional<std::string> text_of(const Tensor& tensor);

}  // namespace dewpoint::checkpoint
