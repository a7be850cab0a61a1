// Small dumps for tests: tensors made in memory, as files or as the pieces of a dump.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/dump_tensors.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::test {

using Shape = std::vector<std::size_t>;

/// Element (head, token, coordinate) of tensor `part` in `layer`: multiples of 1/16 of size at most
/// 2, which f16 and bf16 hold exactly.
inline float exact_element(std::size_t layer, char part, std::size_t head, std::size_t token,
                           std::size_t coordinate) {
  const std::size_t mixed = 11 * layer + static_cast<std::size_t>(part) + 7 * head + 3 * token +
                            5 * coordinate + token * coordinate;
  return (static_cast<float>(mixed % 65) - 32.0F) / 16.0F;
}

/// Tensors that own their bytes.
class TensorSet {
 public:
  /// Elements in C order, `value` of their number.
  void add(std::string name, Shape shape, const std::function<float(std::size_t)>& value,
           checkpoint::ElementType type = checkpoint::ElementType::f32) {
    checkpoint::Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    tensor.shape = std::move(shape);
    std::vector<float> values(tensor.elements());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = value(k);
    bytes_.push_back(std::make_shared<Bytes>(checkpoint::element_bytes(values, type)));
    tensor.bytes = *bytes_.back();
    tensors_.push_back(std::move(tensor));
  }
  /// The same with one value throughout.
  void add(std::string name, Shape shape, float value = 1.0F) {
    add(std::move(name), std::move(shape), [value](std::size_t) { return value; });
  }
  /// A tensor whose type is relabelled afterwards, its bytes kept.
  void relabel(const std::string& name, checkpoint::ElementType type) {
    for (checkpoint::Tensor& tensor : tensors_) {
      if (tensor.name == name) tensor.type = type;
    }
  }
  /// exact_element in layout HND.
  void add_exact(std::size_t layer, char part, std::size_t heads, std::size_t tokens,
                 std::size_t coordinates) {
    add("layers." + std::to_string(layer) + "." + part, {heads, tokens, coordinates},
        [=](std::size_t k) {
          return exact_element(layer, part, k / coordinates / tokens, k / coordinates % tokens,
                               k % coordinates);
        });
  }

  [[nodiscard]] const std::vector<checkpoint::Tensor>& tensors() const { return tensors_; }
  void write(const std::filesystem::path& path,
             const std::map<std::string, std::string>& metadata = {}) const {
    checkpoint::write_safetensors(path, tensors_, metadata);
  }
  /// As if read from "dump.safetensors"; the set must outlive the dump.
  [[nodiscard]] checkpoint::HeadDump dump(const checkpoint::DumpMetadata& metadata = {},
                                          const checkpoint::DumpOptions& options = {}) const {
    const std::string name = "dump.safetensors";
    return checkpoint::HeadDump::from_pieces(checkpoint::pieces_of(tensors_, metadata, name), name,
                                             options);
  }

 private:
  using Bytes = std::vector<std::byte>;

  std::vector<std::shared_ptr<const Bytes>> bytes_;  // shared, so that copies of the set are safe
  std::vector<checkpoint::Tensor> tensors_;
};

/// Two heads over one key head, 6 tokens, d = 4.
inline TensorSet small_set() {
  TensorSet set;
  set.add_exact(0, 'q', 2, 6, 4);
  set.add_exact(0, 'k', 1, 6, 4);
  return set;
}

}  // namespace dewpoint::test
