// Rows of numbers copied and cleared.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::transformer {

// std::ranges::copy of libstdc++ 12 goes number by number where the source is constant.
template <class Real>
void copy_row(std::type_identity_t<std::span<const Real>> from, std::span<Real> to) {
  DEWPOINT_EXPECTS(from.size() == to.size());
  std::copy_n(from.data(), to.size(), to.data());
}

template <class Real>
void copy_rows(std::type_identity_t<MatrixView<const Real>> from, MatrixView<Real> to) {
  DEWPOINT_EXPECTS(from.rows() == to.rows());
  for (std::size_t i = 0; i < to.rows(); ++i) copy_row(from.row(i), to.row(i));
}

template <class Real>
void clear_rows(MatrixView<Real> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) std::ranges::fill(rows.row(i), Real{0});
}

}  // namespace dewpoint::transformer
