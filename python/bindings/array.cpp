#include "array.hpp"

#include <dlpack/dlpack.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace dewpoint::python {
namespace {

using checkpoint::ElementType;

// ---- types --------------------------------------------------------------------------------------

/// One row for each type: its letter in the buffer protocol and its code in DLPack.
struct TypeNames {
  ElementType type;
  char letter;
  const char* name;
  DLDataType code;
};
constexpr TypeNames kTypes[] = {{ElementType::f64, 'd', "float64", {kDLFloat, 64, 1}},
                                {ElementType::f32, 'f', "float32", {kDLFloat, 32, 1}},
                                {ElementType::f16, 'e', "float16", {kDLFloat, 16, 1}},
                                {ElementType::bf16, '\0', "bfloat16", {kDLBfloat, 16, 1}},
                                {ElementType::i64, 'q', "int64", {kDLInt, 64, 1}},
                                {ElementType::i64, 'l', "int64", {kDLInt, 64, 1}},
                                {ElementType::i32, 'i', "int32", {kDLInt, 32, 1}},
                                {ElementType::i16, 'h', "int16", {kDLInt, 16, 1}},
                                {ElementType::u64, 'Q', "uint64", {kDLUInt, 64, 1}},
                                {ElementType::u64, 'L', "uint64", {kDLUInt, 64, 1}},
                                {ElementType::u32, 'I', "uint32", {kDLUInt, 32, 1}},
                                {ElementType::u16, 'H', "uint16", {kDLUInt, 16, 1}}};

const TypeNames& names_of(ElementType type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const TypeNames& one) { return one.type == type; });
}

constexpr const char* kAllowed = "float64, float32, float16, bfloat16 and whole numbers";

ElementType type_of_format(const char* format, const char* argument) {
  std::string_view text = format == nullptr ? "B" : format;
  if (text.size() == 2 && (text[0] == '<' || text[0] == '=' || text[0] == '@'))
    text.remove_prefix(1);
  for (const TypeNames& one : kTypes) {
    if (text.size() == 1 && text[0] == one.letter) return one.type;
  }
  throw py::type_error(
      fmt::format("{}: numbers of format '{}'; allowed: {}", argument, text, kAllowed));
}

ElementType type_of_code(const DLDataType& code, const char* argument) {
  for (const TypeNames& one : kTypes) {
    if (one.code.code == code.code && one.code.bits == code.bits && code.lanes == 1) {
      return one.type;
    }
  }
  throw py::type_error(fmt::format("{}: numbers of DLPack type {} with {} bits; allowed: {}",
                                   argument, code.code, code.bits, kAllowed));
}

// ---- layout -------------------------------------------------------------------------------------

std::vector<py::ssize_t> dense_strides(const std::vector<py::ssize_t>& shape, std::size_t size) {
  std::vector<py::ssize_t> strides(shape.size(), static_cast<py::ssize_t>(size));
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

// One row may lie anywhere behind the one before it; within a row numbers follow each other.
bool has_rows(const Array& array) {
  const auto size = static_cast<py::ssize_t>(size_of(array.type));
  const std::size_t rank = array.rank();
  if (rank == 0 || array.elements() == 0 || array.contiguous()) return true;
  return rank == 2 && (array.strides[1] == size || array.shape[1] == 1) &&
         array.strides[0] >= size * array.shape[1] && array.strides[0] % size == 0;
}

void require_rows(const Array& array, const char* argument) {
  if (has_rows(array)) return;
  throw py::value_error(fmt::format(
      "{}: its numbers do not follow each other in memory (shape {}, strides {} bytes); "
      "pass numpy.ascontiguousarray({}) or tensor.contiguous(), which copy",
      argument, array.shape, array.strides, argument));
}

// ---- in: the buffer protocol --------------------------------------------------------------------

struct HeldBuffer {
  Py_buffer view{};
  HeldBuffer() = default;
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  ~HeldBuffer() {
    if (view.obj == nullptr) return;
    const py::gil_scoped_acquire locked;
    PyBuffer_Release(&view);
  }
};

Array array_of_buffer(const py::object& object, const char* argument) {
  auto held = std::make_shared<HeldBuffer>();
  constexpr int kReadOnly = PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(object.ptr(), &held->view, kReadOnly) != 0) {
    const py::error_already_set error;
    throw py::type_error(fmt::format("{}: {}; allowed: {} (bfloat16: as a uint16 view)", argument,
                                     error.what(), kAllowed));
  }
  const Py_buffer& view = held->view;
  Array array;
  array.type = type_of_format(view.format, argument);
  array.data = static_cast<std::byte*>(view.buf);
  array.shape.assign(view.shape, view.shape + view.ndim);
  array.strides.assign(view.strides, view.strides + view.ndim);
  array.writable = view.readonly == 0;
  array.keeper = std::move(held);
  return array;
}

// ---- in: DLPack ---------------------------------------------------------------------------------

struct HeldTensor {
  DLManagedTensor* tensor;
  explicit HeldTensor(DLManagedTensor* taken) : tensor(taken) {}
  HeldTensor(const HeldTensor&) = delete;
  HeldTensor& operator=(const HeldTensor&) = delete;
  ~HeldTensor() {
    if (tensor->deleter == nullptr) return;
    const py::gil_scoped_acquire locked;
    tensor->deleter(tensor);
  }
};

void require_processor(const py::object& object, const char* argument) {
  const auto device = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  if (device.first == kDLCPU) return;
  throw py::value_error(
      fmt::format("{}: lives on a device (DLPack type {}), not in memory; pass {}.cpu()", argument,
                  device.first, argument));
}

Array array_of_dlpack(const py::object& object, const char* argument) {
  require_processor(object, argument);
  py::capsule capsule;
  try {
    capsule = object.attr("__dlpack__")().cast<py::capsule>();
  } catch (const py::error_already_set& error) {  // a tensor with a gradient, say
    throw py::value_error(fmt::format("{}: {}", argument, error.what()));
  }
  auto* taken = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (taken == nullptr) throw py::error_already_set();
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  auto held = std::make_shared<HeldTensor>(taken);
  const DLTensor& tensor = taken->dl_tensor;
  Array array;
  array.type = type_of_code(tensor.dtype, argument);
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  const std::size_t size = size_of(array.type);
  array.strides = dense_strides(array.shape, size);
  if (tensor.strides != nullptr) {
    for (std::size_t k = 0; k < array.rank(); ++k) {
      array.strides[k] = tensor.strides[k] * static_cast<py::ssize_t>(size);
    }
  }
  array.writable = true;
  array.keeper = std::move(held);
  return array;
}

// ---- out ----------------------------------------------------------------------------------------

template <class Number>
Array owned(std::vector<Number> numbers, std::vector<py::ssize_t> shape, ElementType type) {
  auto kept = std::make_shared<std::vector<Number>>(std::move(numbers));
  Array array;
  array.type = type;
  array.data = reinterpret_cast<std::byte*>(kept->data());
  array.shape = std::move(shape);
  array.strides = dense_strides(array.shape, sizeof(Number));
  array.writable = true;
  array.keeper = std::move(kept);
  return array;
}

py::buffer_info buffer_of(Array& array) {
  const TypeNames& names = names_of(array.type);
  if (names.letter == '\0') {
    throw py::type_error("bfloat16 has no format in the buffer protocol; use __dlpack__");
  }
  return {array.data,
          static_cast<py::ssize_t>(size_of(array.type)),
          std::string(1, names.letter),
          static_cast<py::ssize_t>(array.rank()),
          array.shape,
          array.strides,
          !array.writable};
}

/// A tensor that keeps its Array alive until the consumer is done with it.
struct SentTensor {
  DLManagedTensor managed{};
  Array array;
  std::vector<std::int64_t> shape, strides;
};

void forget_unused(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;  // somebody took it
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->deleter(managed);
}

py::capsule dlpack_of(const Array& array) {
  auto sent = std::make_unique<SentTensor>();
  sent->array = array;
  const auto size = static_cast<std::int64_t>(size_of(array.type));
  sent->shape.assign(array.shape.begin(), array.shape.end());
  for (const py::ssize_t stride : array.strides) sent->strides.push_back(stride / size);
  DLTensor& tensor = sent->managed.dl_tensor;
  tensor.data = array.data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int>(array.rank());
  tensor.dtype = names_of(array.type).code;
  tensor.shape = sent->shape.data();
  tensor.strides = sent->strides.data();
  sent->managed.manager_ctx = sent.get();
  sent->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<SentTensor*>(self->manager_ctx);
  };
  return py::capsule(&sent.release()->managed, "dltensor", &forget_unused);
}

}  // namespace

std::size_t Array::elements() const {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), py::ssize_t{1}, std::multiplies<>()));
}

bool Array::contiguous() const {
  const std::vector<py::ssize_t> dense = dense_strides(shape, size_of(type));
  for (std::size_t k = 0; k < rank(); ++k) {
    if (shape[k] > 1 && strides[k] != dense[k]) return false;
  }
  return true;
}

Array array_of(const py::object& object, const char* argument) {
  Array array;
  if (py::isinstance<Array>(object)) {
    array = object.cast<Array>();
  } else if (PyObject_CheckBuffer(object.ptr()) != 0) {
    array = array_of_buffer(object, argument);
  } else if (py::hasattr(object, "__dlpack__")) {
    array = array_of_dlpack(object, argument);
  } else {
    throw py::type_error(
        fmt::format("{}: a {} is no array; allowed: what has the buffer protocol or __dlpack__, "
                    "such as a NumPy "
                    "array or a tensor",
                    argument, Py_TYPE(object.ptr())->tp_name));
  }
  require_rows(array, argument);
  return array;
}

Array array_of(const py::object& object, const char* argument,
               std::initializer_list<std::size_t> ranks) {
  Array array = array_of(object, argument);
  if (std::find(ranks.begin(), ranks.end(), array.rank()) == ranks.end()) {
    throw py::value_error(fmt::format("{}: shape {} has {} axes; allowed: {}", argument,
                                      array.shape, array.rank(), fmt::join(ranks, " or ")));
  }
  if (array.elements() == 0) {
    throw py::value_error(fmt::format("{}: shape {} holds no number", argument, array.shape));
  }
  return array;
}

Array to_array(std::vector<double> numbers, std::vector<py::ssize_t> shape) {
  return owned(std::move(numbers), std::move(shape), ElementType::f64);
}

Array to_array(std::vector<std::uint64_t> numbers, std::vector<py::ssize_t> shape) {
  return owned(std::move(numbers), std::move(shape), ElementType::u64);
}

checkpoint::Tensor tensor_of(const Array& array, std::string name) {
  DEWPOINT_EXPECTS(array.contiguous());
  checkpoint::Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = array.type;
  tensor.shape.assign(array.shape.begin(), array.shape.end());
  tensor.bytes = {array.data, array.elements() * size_of(array.type)};
  return tensor;
}

Matrix<double> matrix_of(const Array& array) {
  DEWPOINT_EXPECTS(array.rank() == 2);
  const auto rows = static_cast<std::size_t>(array.shape[0]);
  const auto cols = static_cast<std::size_t>(array.shape[1]);
  Matrix<double> matrix(rows, cols);
  checkpoint::Tensor row;
  row.type = array.type;
  row.shape = {cols};
  for (std::size_t i = 0; i < rows; ++i) {
    row.bytes = {array.data + static_cast<std::ptrdiff_t>(i) * array.strides[0],
                 cols * size_of(array.type)};
    copy_elements(row, 0, matrix.row(i));
  }
  return matrix;
}

void bind_arrays(py::module_& module) {
  py::class_<Array>(module, "Array", py::buffer_protocol(),
                    "Numbers in memory, for NumPy (numpy.asarray), PyTorch and JAX (from_dlpack): "
                    "none of them copies.")
      .def_buffer(&buffer_of)
      .def_property_readonly("shape", [](const Array& a) { return py::tuple(py::cast(a.shape)); })
      .def_property_readonly(
          "strides", [](const Array& a) { return py::tuple(py::cast(a.strides)); }, "In bytes.")
      .def_property_readonly("dtype", [](const Array& a) { return names_of(a.type).name; })
      .def_property_readonly(
          "pointer", [](const Array& a) { return reinterpret_cast<std::uintptr_t>(a.data); },
          "Address of the first number.")
      .def_property_readonly("writable", [](const Array& a) { return a.writable; })
      .def("__len__",
           [](const Array& a) {
             if (a.rank() == 0) throw py::type_error("an array of no axes has no length");
             return a.shape[0];
           })
      .def(
          "__dlpack__",
          [](const Array& a, const py::args&, const py::kwargs&) { return dlpack_of(a); },
          "A capsule that shares the memory; streams and versions do not matter on the CPU.")
      .def("__dlpack_device__",
           [](const Array&) { return std::make_pair(static_cast<int>(kDLCPU), 0); });
  module.def(
      "as_array", [](const py::object& object) { return array_of(object, "object"); },
      py::arg("object"), "An array of NumPy, PyTorch or JAX as we see it: the same memory.");
}

}  // namespace dewpoint::python
