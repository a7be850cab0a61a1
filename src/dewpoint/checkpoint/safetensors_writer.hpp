// Tensors for other programs: a file in the format of safetensors.hpp.
//
// The header is padded with blanks to a multiple of 8 bytes and wider elements come first, so every
// tensor begins at a multiple of its element's size. The same tensors give the same bytes. The file
// appears whole or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/tensor.hpp"
#include "dewpoint/core/output_file.hpp"

namespace dewpoint::checkpoint {

/// Writes the file, over one of this kind; the default is for whoever has looked at the folder.
/// Throws Error{unwritable_file}, and Error{bad_value} for another file in the way.
///
///   Domain      names that differ, none of them "__metadata__"; no type `other`; as many bytes as
///               shape and type ask for. Texts are UTF-8, or mended with U+FFFD.
///   Properties  (1) parse_safetensors gives back names, types, shapes, every byte and the
///                   metadata.
void write_safetensors(const OutputFile& file, std::span<const Tensor> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const FileKind& kind = file_of_own_folder());

/// The bytes that the file would have, for those who keep them elsewhere.
[[nodiscard]] std::vector<std::byte> safetensors_bytes(
    std::span<const Tensor> tensors, const std::map<std::string, std::string>& metadata = {});

/// Files of this format whose metadata have this key with this value.
[[nodiscard]] FileKind safetensors_kind(const std::string& name, const std::string& key,
                                        const std::string& value);

/// A model as a folder: config.json, its tokenizer, and model.safetensors with these metadata,
/// which make the folder ours.
[[nodiscard]] const std::map<std::string, std::string>& model_metadata();
[[nodiscard]] FolderKind model_folder_kind();

}  // namespace dewpoint::checkpoint
