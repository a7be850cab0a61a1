// Files of tensors behind one door: .safetensors (one, or the shards of an index), .npz and .npy.
//
//   x.safetensors                     read as its tensors are asked for
//   model.safetensors.index.json      its shards, in the same way
//   folder                            model.safetensors, or its index
//   x.npz                             NumPy's archive; stored or deflated, read into memory
//   x.npy                             one array, named "array"
//
// The extension decides; a file without one of these is told by its first bytes. The shards of an
// index lie beside it: a name that leads to another folder is refused. What each kind of file must
// be is in safetensors.hpp, npz.hpp and npy_array.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::checkpoint {

/// Keeps the bytes behind the tensors, or the files that have them; copies share them.
class TensorArchive {
 public:
  /// Throws Error{unreadable_file}, or Error{malformed_file} with one line: file, field, what was
  /// found, what is allowed.
  ///
  ///   Properties  (1) no name is there twice, in one file or in all shards together.
  ///               (2) every tensor of an index is in the shard that the index names.
  [[nodiscard]] static TensorArchive open(const std::filesystem::path& path);

  /// As the user named it.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// In the order of their names.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Of a safetensors file, or of all shards, the first to say a thing being right. An .npz has
  /// none but what its members say (text_of).
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Null where there is none of this name.
  [[nodiscard]] const Tensor* find(const std::string& name) const;
  /// Throws Error{malformed_file} naming file and tensor, with the nearest name there is.
  [[nodiscard]] const Tensor& at(const std::string& name) const;

 private:
  std::string name_;
  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::vector<std::shared_ptr<const void>> storage_;
};

}  // namespace dewpoint::checkpoint
