// Which tensors of a dump make up which layer: names only, no numbers are looked at.
//
// The names are those of head_dump.hpp. A file that carries two kinds of them at once is refused,
// because nobody can know which are meant.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/tensor_archive.hpp"

namespace dewpoint::checkpoint {

/// A tensor under the name by which a dump knows it, which a file's name may have given.
struct DumpPiece {
  std::string name;
  std::string file;  // for messages
  Tensor tensor;
};

using DumpMetadata = std::map<std::string, std::string>;

/// The tensors of one or several files, what these say of them, and whoever keeps the bytes.
struct DumpPieces {
  std::vector<DumpPiece> pieces;
  DumpMetadata metadata;
  std::vector<TensorArchive> archives;
};

/// Of one file, whose bytes stay with the caller. Throws Error{malformed_file} for a member
/// `metadata` that is not one JSON object of texts, numbers, truth values and nulls (which count as
/// absent).
[[nodiscard]] DumpPieces pieces_of(std::span<const Tensor> tensors, DumpMetadata metadata,
                                   const std::string& file);
[[nodiscard]] DumpPieces pieces_of(TensorArchive archive);
/// Of all dump files in a folder. Where several carry metadata, they must say the same.
[[nodiscard]] DumpPieces pieces_of_folder(const std::filesystem::path& folder);
/// Of two .npy files.
[[nodiscard]] DumpPieces pieces_of_pair(const std::filesystem::path& queries,
                                        const std::filesystem::path& keys);

struct LayerTensors {
  std::size_t number = 0;
  DumpPiece queries;
  DumpPiece keys;
  std::optional<DumpPiece> values;
  std::optional<DumpPiece> sinks;
};

struct DumpTensors {
  std::vector<LayerTensors> layers;  // by number, at least one
  bool transformer_lens = false;
  bool before_rotation = false;  // hook_q and hook_k without hook_rot_q and hook_rot_k
};

/// Throws Error{malformed_file}: no layer at all, two kinds of names, a name twice, or a layer
/// without queries or keys. `name` is that of the whole dump.
[[nodiscard]] DumpTensors tensors_of_layers(const std::vector<DumpPiece>& pieces,
                                            const std::string& name);

}  // namespace dewpoint::checkpoint
