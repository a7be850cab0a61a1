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

namespace dewpoint::checkpoint {

/// Writes the file. Throws Error{unwritable_file}.
///
///   Domain      names that differ, none of them "__metadata__"; no type `other`; as many bytes as
///               shape and type ask for. Texts are UTF-8, or mended with U+FFFD.
///   Properties  (1) parse_safetensors gives back names, types, shapes, every byte and the
///                   metadata.
void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// The bytes that the file would have, for those who keep them elsewhere.
[[nodiscard]] std::vector<std::byte> safetensors_bytes(
    std::span<const Tensor> tensors, const std::map<std::string, std::string>& metadata = {});

}  // namespace dewpoint::checkpoint
