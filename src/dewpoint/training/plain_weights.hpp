// The four weight matrices as four rows of numbers, for optimisers that treat every weight alike.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/trainer_state.hpp"

namespace dewpoint::training {

[[nodiscard]] inline std::array<std::span<double>, 4> matrices(Parameters<double>& p) {
  return {{{p.embedding.data(), p.embedding.size()},
           {p.unembedding.data(), p.unembedding.size()},
           {p.query.data(), p.query.size()},
           {p.key.data(), p.key.size()}}};
}

[[nodiscard]] inline std::array<std::span<const double>, 4> matrices(const Parameters<double>& p) {
  return {{{p.embedding.data(), p.embedding.size()},
           {p.unembedding.data(), p.unembedding.size()},
           {p.query.data(), p.query.size()},
           {p.key.data(), p.key.size()}}};
}

[[nodiscard]] inline std::size_t byte_count(const Parameters<double>& p) {
  std::size_t bytes = 0;
  for (const auto matrix : matrices(p)) bytes += matrix.size_bytes();
  return bytes;
}

inline void add(StateWriter& writer, const Parameters<double>& p) {
  for (const auto matrix : matrices(p)) writer.add(matrix);
}

inline void take(StateReader& reader, Parameters<double>& p) {
  for (const auto matrix : matrices(p)) reader.take(matrix);
}

}  // namespace dewpoint::training
