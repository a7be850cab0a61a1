// NumPy's archives: a .npz file is a ZIP file whose members are .npy files (npy_array.hpp).
//
// Members may be stored or deflated, and beyond 4 GiB (ZIP64). The name of an array is that of its
// member without ".npy"; other members are passed over. Encrypted members are refused, and so are
// archives made to explode. Before anything is unpacked, what the directory claims is checked:
//
//   of a member      at most 1032 times its packed size and 1 KiB, the most that DEFLATE can do
//   of all members   packed no more than the archive has bytes, so none are counted twice;
//                    unpacked at most 100 times the archive and `slack`, because a member can say
//                    the truth about zeros
//
// and of a member that its directory and its own .npy header promise the same number of bytes: no
// more is unpacked than an array is there for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::checkpoint {

struct NpzLimits {
  std::size_t slack = std::size_t{1} << 30;  // more: smaller archives of larger arrays of zeros
};

struct NpzContent {
  std::vector<Tensor> tensors;  // in the order of the archive
  std::vector<std::shared_ptr<const void>> storage;
};

/// The arrays in the bytes of an archive, unpacked into memory. Throws Error{malformed_file} with
/// one line: name and member, field, what was found, what is allowed.
///
///   Domain      any bytes; they are not needed afterwards.
///   Properties  (1) each array is that of parse_npy_array of its member, whose checksum is right.
///               (2) no name is there twice.
///               (3) no more than 100 times the bytes and `slack` are allocated for the members,
///                   and as much again for those that have to be brought into order.
///               (4) a member is allocated when its header has been seen to ask for its size.
///               (5) whatever the bytes, the outcome is arrays or an Error of one line.
[[nodiscard]] NpzContent parse_npz(const ByteSource& bytes, std::string_view name,
                                   const NpzLimits& limits = {});

}  // namespace dewpoint::checkpoint
