// Tensors of a checkpoint by name, their shapes checked, as float32.
//
// The same description of a model (weights.cpp) is walked twice: once when it is opened, where
// every tensor is looked up and its shape compared but no number is touched, and once per layer
// when its turn comes, where the numbers are converted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/llama2c.hpp"
#include "dewpoint/checkpoint/tensor_archive.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::models {

/// The tensors of a model, whatever kind of file holds them; copies share the bytes.
class NamedTensors {
 public:
  explicit NamedTensors(const checkpoint::TensorArchive& archive);
  explicit NamedTensors(const checkpoint::Llama2cModel& model);

  /// The file, as the user named it.
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const checkpoint::Tensor* find(const std::string& name) const;
  /// Of that shape, and of real numbers. Throws Error{malformed_file}: a tensor that is missing is
  /// named with the nearest one there is, a shape with the one that the configuration asks for, and
  /// integers (quantised weights, whose scales nobody here would apply) with their type.
  [[nodiscard]] const checkpoint::Tensor& at(const std::string& name,
                                             const std::vector<std::size_t>& shape) const;

 private:
  void sort();

  std::string file_;
  std::vector<checkpoint::Tensor> tensors_;  // by name
  std::shared_ptr<const void> storage_;
};

/// How a matrix W lies in a file: HF's Linear keeps [out, in], GPT-2's Conv1D keeps [in, out].
enum class MatrixLayout { out_in, in_out };

class TensorReader {
 public:
  enum class Task { check, convert };
  /// The reader keeps a reference to the tensors.
  TensorReader(const NamedTensors& tensors, Task task, const RunContext& context = {})
      : tensors_(&tensors), task_(task), context_{context.threads, context.stop, {}} {}

  /// Looks a tensor up, counts it as used, and leaves it in the file.
  const checkpoint::Tensor& require(const std::string& name, const std::vector<std::size_t>& shape);
  /// Numbers; Task::check returns none in both.
  [[nodiscard]] std::vector<float> vector(const std::string& name, std::size_t size);
  /// [out, in], however it lies in the file.
  [[nodiscard]] Matrix<float> matrix(const std::string& name, std::size_t out, std::size_t in,
                                     MatrixLayout layout = MatrixLayout::out_in);
  /// Throws Error{malformed_file} where there is such a tensor: `why` says why it should not be.
  void refuse_if_present(const std::string& name, const std::string& why) const;

  /// What has been asked for so far, in that order.
  [[nodiscard]] const std::vector<checkpoint::Tensor>& used() const { return used_; }

 private:
  const NamedTensors* tensors_;
  Task task_;
  RunContext context_;
  std::vector<checkpoint::Tensor> used_;
};

}  // namespace dewpoint::models
