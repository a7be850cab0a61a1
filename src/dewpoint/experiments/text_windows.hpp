// Which windows of a text a run sees: drawn anew for every step, or evenly spaced to be measured
// again and again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dewpoint/core/random.hpp"
#include "dewpoint/transformer/batch.hpp"

namespace dewpoint::experiments {

/// Places at which a window of `context` tokens and a label can begin.
[[nodiscard]] std::size_t window_places(std::size_t tokens, std::size_t context);

/// Windows that begin anywhere with equal probability, with replacement: window b of step t is draw
/// number t · batch + b of the stream (seed, "training/windows", replica).
class WindowDraws {
 public:
  /// At least one place for a window. The text must outlive this.
  WindowDraws(std::span<const std::int32_t> text, std::size_t context, std::size_t batch,
              std::uint64_t seed, std::uint64_t replica);

  /// The windows of a step. Keeps the memory of `windows`.
  ///
  ///   Properties  (1) a step's windows do not depend on which steps were drawn before.
  void draw(std::uint64_t step, transformer::Windows& windows) const;

 private:
  std::span<const std::int32_t> text_;
  std::size_t context_, batch_, places_;
  Stream stream_;
};

/// `count` windows, evenly spaced from the beginning of a text; fewer where it has not so many
/// places, none where it has no place at all.
///
///   Properties  (2) distances between neighbours differ by at most 1.
[[nodiscard]] transformer::Windows even_windows(std::span<const std::int32_t> text,
                                                std::size_t context, std::size_t count);

}  // namespace dewpoint::experiments
