// Sequences of a chain, drawn from addressed random numbers.
//
// A sequence is a context of s tokens x_1..x_s and its label x_{s+1}; x_1 is uniform, and x_{j+1}
// follows row x_j of the chain. Sequence i is a function of (chain, s, seed, replica, i) alone:
//
//     x_{j+1} is the first token whose cumulative probability exceeds u,
//     u = number i(s + 1) + j of the uniform numbers of stream (seed, "training/sequences",
//     replica)
//
// counted from i = j = 0. A u has 52 bits: every probability of a law is met to 2⁻⁵³, and a token
// of probability 0 is never drawn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/training/chain.hpp"

namespace dewpoint::training {

struct SequenceSet {
  std::size_t vocabulary = 0;
  std::size_t context = 0;           // s
  std::vector<std::uint8_t> tokens;  // (s + 1) per sequence, the last one is the label

  [[nodiscard]] std::size_t size() const { return tokens.size() / (context + 1); }
  [[nodiscard]] std::span<const std::uint8_t> sequence(std::size_t i) const {
    return std::span(tokens).subspan(i * (context + 1), context + 1);
  }
};

/// `count` sequences.
///
///   Domain      context ≥ 1, count ≥ 1.
///   Properties  (1) the same for any number of threads.
///               (2) a longer set begins with the shorter one.
[[nodiscard]] SequenceSet sample_sequences(const Chain& chain, std::size_t context,
                                           std::size_t count, std::uint64_t seed,
                                           std::uint64_t replica, const RunContext& run);

}  // namespace dewpoint::training
