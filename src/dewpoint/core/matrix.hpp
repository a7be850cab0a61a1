// Row-major matrices that BLAS and SIMD can walk: an owning Matrix and a non-owning view.
//
// Memory is aligned to a cache line and zeroed. It comes from oneTBB's allocator, which keeps large
// blocks for the next matrix of that size instead of returning them to the system page by page. A
// view knows its stride, so that a strip of rows or a block of columns is a view too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "dewpoint/core/error.hpp"

namespace dewpoint {

/// Half-open interval of row or column numbers.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

namespace detail {
inline constexpr std::size_t kAlignment = 64;
[[nodiscard]] void* allocate_aligned(std::size_t bytes);  // throws std::bad_alloc
void free_aligned(void* memory);
}  // namespace detail

template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, std::size_t rows, std::size_t cols, std::size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}

  // A view of mutable numbers is also a view of constant ones.
  operator MatrixView<const T>() const  // NOLINT(google-explicit-constructor)
      requires(!std::is_const_v<T>) {
    return {data_, rows_, cols_, stride_};
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }

  [[nodiscard]] T& operator()(std::size_t i, std::size_t j) const {
    DEWPOINT_EXPECTS(i < rows_ && j < cols_);
    return data_[i * stride_ + j];
  }
  [[nodiscard]] std::span<T> row(std::size_t i) const {
    DEWPOINT_EXPECTS(i < rows_);
    return {data_ + i * stride_, cols_};
  }
  [[nodiscard]] MatrixView row_range(Range r) const { return block(r, {0, cols_}); }
  [[nodiscard]] MatrixView block(Range r, Range c) const {
    DEWPOINT_EXPECTS(r.end <= rows_ && c.end <= cols_);
    return {data_ + r.begin * stride_ + c.begin, r.size(), c.size(), stride_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
};

template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols)
      : data_(allocate(rows, cols)), rows_(rows), cols_(cols) {}
  Matrix(const Matrix& other) : Matrix(other.rows_, other.cols_) {
    std::copy_n(other.data(), size(), data());
  }
  Matrix& operator=(const Matrix& other) { return *this = Matrix(other); }
  Matrix(Matrix&&) noexcept = default;
  Matrix& operator=(Matrix&&) noexcept = default;
  ~Matrix() = default;

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] std::size_t size() const { return rows_ * cols_; }

  [[nodiscard]] T& operator()(std::size_t i, std::size_t j) { return view()(i, j); }
  [[nodiscard]] const T& operator()(std::size_t i, std::size_t j) const { return view()(i, j); }
  [[nodiscard]] std::span<T> row(std::size_t i) { return view().row(i); }
  [[nodiscard]] std::span<const T> row(std::size_t i) const { return view().row(i); }

  [[nodiscard]] MatrixView<T> view() { return {data(), rows_, cols_, cols_}; }
  [[nodiscard]] MatrixView<const T> view() const { return {data(), rows_, cols_, cols_}; }
  operator MatrixView<T>() { return view(); }              // NOLINT(google-explicit-constructor)
  operator MatrixView<const T>() const { return view(); }  // NOLINT(google-explicit-constructor)

 private:
  struct Free {
    void operator()(T* p) const { detail::free_aligned(p); }
  };
  static std::unique_ptr<T[], Free> allocate(std::size_t rows, std::size_t cols) {
    if (cols != 0 && rows > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T) / cols) {
      throw std::bad_alloc();
    }
    auto* typed = static_cast<T*>(detail::allocate_aligned(rows * cols * sizeof(T)));
    std::fill_n(typed, rows * cols, T{});
    return std::unique_ptr<T[], Free>(typed);
  }

  std::unique_ptr<T[], Free> data_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

}  // namespace dewpoint
