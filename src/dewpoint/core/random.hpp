// Random numbers that are addressed, not consumed.
//
// A Stream is a function from an index to random bits: the same (seed, name, replica, index) gives
// the same number on one thread, on many, and in whatever order they are asked for. The generator
// is Philox4x32-10 [Salmon et al., SC 2011] from Random123; seed and name select the key, replica
// and index the counter. Normal and exponential draws are our own transforms
// (random_transforms.hpp), because those of the standard library differ between libraries: their
// bytes are the same on every instruction set, one by one and many at once.
//
//     Stream z{seed, "tokens/noise", replica};
//     double a = z.normal(17);            // always the same number
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dewpoint {

class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name, std::uint64_t replica = 0);

  /// The 128 random bits at an address: one Philox4x32-10 block.
  [[nodiscard]] std::array<std::uint32_t, 4> bits(std::uint64_t index) const;

  /// Uniform on the open interval (0, 1): (k + 1/2) 2⁻⁵² with k of 52 random bits.
  ///
  ///   Properties  (1) never 0 and never 1, so log(u) and log1p(-u) are finite.
  [[nodiscard]] double uniform(std::uint64_t index) const;

  /// Standard normal by Box-Muller: draws 2k and 2k+1 are the two halves of block k,
  ///
  ///     √(-2 log u) cos 2πv  and  √(-2 log u) sin 2πv.
  ///
  ///   Properties  (2) |draw| ≤ √(106 log 2) < 8.6: the tail beyond has probability 1e-17.
  ///               (3) relative error below 8 · 2⁻⁵³ (transforms::kNormalError).
  [[nodiscard]] double normal(std::uint64_t index) const;

  /// out[j] = normal(first + j), in vectors.
  ///
  ///   Properties  (4) bit for bit, for any first number and any length, on every instruction set.
  void normals(std::uint64_t first, std::span<double> out) const;

  /// Exponential with mean 1: -log u.
  ///
  ///   Properties  (5) relative error below 6 · 2⁻⁵³ (transforms::kExponentialError).
  [[nodiscard]] double exponential(std::uint64_t index) const;

  /// out[j] = exponential(first + j), in vectors.
  ///
  ///   Properties  (6) as (4).
  void exponentials(std::uint64_t first, std::span<double> out) const;

  /// +1 or -1 with equal probability; 128 of them per block.
  [[nodiscard]] int rademacher(std::uint64_t index) const;

  /// out[j] = rademacher(first + j), a block at a time.
  void rademachers(std::uint64_t first, std::span<float> out) const;

 private:
  std::array<std::uint32_t, 2> key_{};
  std::uint64_t replica_;
};

/// `count` distinct numbers of {0..population-1}, increasing; every subset equally likely.
[[nodiscard]] std::vector<std::size_t> sample_without_replacement(std::size_t population,
                                                                  std::size_t count,
                                                                  const Stream& stream);

/// The Philox4x32-10 bijection itself, for its published test vectors.
[[nodiscard]] std::array<std::uint32_t, 4> philox_block(const std::array<std::uint32_t, 4>& counter,
                                                        const std::array<std::uint32_t, 2>& key);

}  // namespace dewpoint
