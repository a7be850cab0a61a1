#include "dewpoint/models/tensor_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::models {
namespace {

using checkpoint::Tensor;

Error missing(const std::string& file, const std::string& name,
              const std::vector<Tensor>& present) {
  std::vector<std::string> names;
  for (const Tensor& tensor : present) names.push_back(tensor.name);
  const auto nearest = nearest_word(name, names);
  const std::string found =
      nearest ? fmt::format("nothing, but '{}'", checkpoint::excerpt(*nearest)) : "nothing";
  return checkpoint::to_error(
      Code::malformed_file, file,
      {"tensor '" + name + "'", found, "the tensors that the model's configuration asks for"});
}

void check_type(const std::string& file, const Tensor& tensor) {
  using checkpoint::ElementType;
  for (const auto type :
       {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    if (tensor.type == type) return;
  }
  const bool known = tensor.type != ElementType::other;
  throw checkpoint::to_error(Code::malformed_file, file,
                             {"tensor '" + tensor.name + "'",
                              "type " + checkpoint::excerpt(known ? checkpoint::name_of(tensor.type)
                                                                  : tensor.foreign_type),
                              "f16, bf16, f32, f64"});
}

// Rows [first, first + block) of an [in, out] matrix become columns.
void convert_transposed(const Tensor& tensor, Range rows, MatrixView<float> out_in) {
  std::vector<float> row(out_in.rows());
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    checkpoint::copy_elements(tensor, i * row.size(), std::span<float>(row));
    for (std::size_t o = 0; o < row.size(); ++o) out_in(o, i) = row[o];
  }
}

constexpr std::size_t kConversionRows = 256;

}  // namespace

NamedTensors::NamedTensors(const checkpoint::TensorArchive& archive)
    : file_(archive.name()),
      tensors_(archive.tensors()),
      storage_(std::make_shared<const checkpoint::TensorArchive>(archive)) {
  sort();
}

NamedTensors::NamedTensors(const checkpoint::Llama2cModel& model)
    : file_(model.config.file), tensors_(model.tensors) {
  sort();
}

void NamedTensors::sort() {
  std::sort(tensors_.begin(), tensors_.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
}

const Tensor* NamedTensors::find(const std::string& name) const {
  const auto place =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const Tensor& tensor, const auto& key) { return tensor.name < key; });
  return place != tensors_.end() && place->name == name ? &*place : nullptr;
}

const Tensor& NamedTensors::at(const std::string& name,
                               const std::vector<std::size_t>& shape) const {
  const Tensor* tensor = find(name);
  if (tensor == nullptr) throw missing(file_, name, tensors_);
  if (tensor->shape != shape) {
    throw checkpoint::to_error(
        Code::malformed_file, file_,
        {"tensor '" + name + "'", "shape " + checkpoint::shape_text(tensor->shape),
         "the shape " + checkpoint::shape_text(shape) +
             " that the model's configuration asks for"});
  }
  check_type(file_, *tensor);
  return *tensor;
}

const Tensor& TensorReader::require(const std::string& name,
                                    const std::vector<std::size_t>& shape) {
  const Tensor& tensor = tensors_->at(name, shape);
  used_.push_back(tensor);
  return tensor;
}

std::vector<float> TensorReader::vector(const std::string& name, std::size_t size) {
  const Tensor& tensor = require(name, {size});
  if (task_ == Task::check) return {};
  std::vector<float> values(size);
  checkpoint::copy_elements(tensor, 0, std::span<float>(values));
  return values;
}

Matrix<float> TensorReader::matrix(const std::string& name, std::size_t out, std::size_t in,
                                   MatrixLayout layout) {
  const bool transposed = layout == MatrixLayout::in_out;
  const Tensor& tensor = require(name, transposed ? std::vector{in, out} : std::vector{out, in});
  if (task_ == Task::check) return {};
  Matrix<float> values(out, in);
  const std::size_t rows = transposed ? in : out;
  parallel_for((rows + kConversionRows - 1) / kConversionRows, context_, [&](std::size_t block) {
    const Range range{block * kConversionRows, std::min(rows, (block + 1) * kConversionRows)};
    if (transposed) return convert_transposed(tensor, range, values);
    checkpoint::copy_elements(tensor, range.begin * in,
                              std::span(values.data() + range.begin * in, range.size() * in));
  });
  return values;
}

void TensorReader::refuse_if_present(const std::string& name, const std::string& why) const {
  if (tensors_->find(name) == nullptr) return;
  throw checkpoint::to_error(Code::malformed_file, tensors_->file(),
                             {"tensor '" + name + "'", "a tensor", why});
}

}  // namespace dewpoint::models
