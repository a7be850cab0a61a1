// Hands an array to a peer, in NumPy's format.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>

#include "dewpoint/checkpoint/npy_writer.hpp"

namespace dewpoint::bench {

inline void write_npy(const std::filesystem::path& file, std::span<const double> values,
                      std::size_t rows) {
  std::ofstream(file, std::ios::binary)
      << checkpoint::npy_bytes(values, {rows, values.size() / rows});
}

}  // namespace dewpoint::bench
