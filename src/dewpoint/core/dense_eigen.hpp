// Our matrices as Eigen's, for the sources of dense_algebra.hpp only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::detail {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::MatrixXd to_eigen(MatrixView<const double> a) {
  return Eigen::Map<const Rows, 0, Eigen::OuterStride<>>(
      a.data(), static_cast<Eigen::Index>(a.rows()), static_cast<Eigen::Index>(a.cols()),
      Eigen::OuterStride<>(static_cast<Eigen::Index>(a.stride())));
}

template <class Columns>
Matrix<typename Columns::Scalar> from_eigen(const Columns& columns) {
  const auto rows = static_cast<std::size_t>(columns.rows());
  const auto cols = static_cast<std::size_t>(columns.cols());
  Matrix<typename Columns::Scalar> result(rows, cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < cols; ++k) {
      result(i, k) = columns(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
    }
  }
  return result;
}

template <class Column>
std::vector<typename Column::Scalar> to_vector(const Column& column) {
  return {column.data(), column.data() + column.size()};
}

}  // namespace dewpoint::detail
