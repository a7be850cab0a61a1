// Many blocks of a stream at once, in vectors: Philox4x32-10 and the transforms of
// random_transforms.hpp, with the bytes of the plain functions on every instruction set.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dewpoint::kernels {

/// Blocks first .. first + count − 1 of the stream with this key: block i is
/// philox_block({low i, high i, low replica, high replica}, key).
struct RandomBlocks {
  std::array<std::uint32_t, 2> key;
  std::uint64_t replica;
  std::uint64_t first;
  std::size_t count;
};

/// out[2i], out[2i + 1] = words 1·2³² + 0 and 3·2³² + 2 of block first + i.
///   Properties  (1) those of philox_block.
void random_words(const RandomBlocks& blocks, std::uint64_t* out);

/// out[2i], out[2i + 1] = transforms::exponential of the two words.
///   Properties  (2) bit for bit.
void random_exponentials(const RandomBlocks& blocks, double* out);

/// out[2i], out[2i + 1] = transforms::normal_pair of the two words.
///   Properties  (3) bit for bit.
void random_normals(const RandomBlocks& blocks, double* out);

}  // namespace dewpoint::kernels
