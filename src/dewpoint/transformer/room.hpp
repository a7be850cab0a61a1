// Memory that is planned once, for the largest matrix it will hold, and looked at as smaller ones.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::transformer {

template <class Real>
class Room {
 public:
  Room() = default;
  explicit Room(std::size_t numbers) : memory_(1, numbers) {}

  /// The first rows · cols numbers as a matrix without gaps.
  [[nodiscard]] MatrixView<Real> view(std::size_t rows, std::size_t cols) {
    return part(0, rows, cols);
  }
  /// The same from number `begin` on.
  [[nodiscard]] MatrixView<Real> part(std::size_t begin, std::size_t rows, std::size_t cols) {
    DEWPOINT_EXPECTS(begin + rows * cols <= memory_.size());
    return {memory_.data() + begin, rows, cols, cols};
  }

 private:
  Matrix<Real> memory_;
};

}  // namespace dewpoint::transformer
