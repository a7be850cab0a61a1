// Arrays that pass between Python and us without being copied.
//
// An Array is a block of numbers, its type, shape and strides, and whoever keeps the memory alive:
// we, for results, or the Python object that it came from. It speaks the buffer protocol and
// DLPack, in both directions, so that NumPy, PyTorch and JAX read ours and we read theirs. NumPy's
// own C interface is not used: it differs between NumPy 1 and 2.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/tensor.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::python {

namespace py = pybind11;

struct Array {
  checkpoint::ElementType type = checkpoint::ElementType::other;
  std::byte* data = nullptr;
  std::vector<py::ssize_t> shape;
  std::vector<py::ssize_t> strides;  // in bytes
  bool writable = false;
  std::shared_ptr<const void> keeper;

  [[nodiscard]] std::size_t rank() const { return shape.size(); }
  [[nodiscard]] std::size_t elements() const;
  /// Whether the numbers follow each other in C order.
  [[nodiscard]] bool contiguous() const;
};

/// What `object` holds, in place: by the buffer protocol or, without it, by __dlpack__ on the CPU.
/// Throws TypeError where it has neither or where its numbers are none that we read (float64, 32,
/// 16, bfloat16 and whole ones); ValueError where rows are not contiguous. Both name the argument.
[[nodiscard]] Array array_of(const py::object& object, const char* argument);

/// The same, of one of these ranks and without axes of length 0; ValueError else.
[[nodiscard]] Array array_of(const py::object& object, const char* argument,
                             std::initializer_list<std::size_t> ranks);

/// Numbers of ours, in this shape.
[[nodiscard]] Array to_array(std::vector<double> numbers, std::vector<py::ssize_t> shape);
[[nodiscard]] Array to_array(std::vector<std::uint64_t> numbers, std::vector<py::ssize_t> shape);

/// As a foreign tensor, which the array must outlive. Domain: contiguous.
[[nodiscard]] checkpoint::Tensor tensor_of(const Array& array, std::string name);

/// Rows as float64: a copy. Domain: rank 2.
[[nodiscard]] Matrix<double> matrix_of(const Array& array);
/// Rows where they are. Domain: rank 1 (one row) or 2, of this type.
template <class Number>
[[nodiscard]] MatrixView<const Number> view_of(const Array& array) {
  const bool one = array.rank() == 1;
  const auto stride = one ? array.elements() : static_cast<std::size_t>(array.strides[0]);
  return {reinterpret_cast<const Number*>(array.data),
          one ? 1 : static_cast<std::size_t>(array.shape[0]),
          static_cast<std::size_t>(array.shape.back()), one ? stride : stride / sizeof(Number)};
}

void bind_arrays(py::module_& module);

}  // namespace dewpoint::python
