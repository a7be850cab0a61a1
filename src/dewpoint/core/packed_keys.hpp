// Inner products of queries with many keys, for vectors as short as those of a head.
//
// A general matrix product packs its operands at every call, writes zeros and then adds to them.
// With 64 numbers per inner product that costs a third of the time, and all strips of queries meet
// the same keys. So the keys are packed once, sixteen side by side, and a product is written when
// it is complete.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

class PackedKeys {
 public:
  /// One row per key; the rows are copied.
  explicit PackedKeys(MatrixView<const float> keys);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t dimension() const { return dimension_; }

  /// products(i, j) = ⟨query i, key keys.begin + j⟩, on the calling thread.
  ///
  ///   Domain      keys.begin a multiple of kLanePadding; the stride of `products` holds
  ///               padded(keys.size()) columns, and those behind the last key are overwritten.
  ///   Accuracy    float32, one sum from the first coordinate to the last.
  ///   Properties  (1) a product has the same bytes whatever other queries and keys are asked for.
  void multiply(MatrixView<const float> queries, Range keys, MatrixView<float> products) const;

 private:
  std::size_t size_;
  std::size_t dimension_;
  Matrix<float> panels_;  // one row per kLanePadding keys: coordinate 0 of all, then 1, ...
};

}  // namespace dewpoint
