// Adam over the weights of a small transformer: a state that moves forward in steps.
//
// A step reads weight, gradient and both moments and writes back all but the gradient, 28 bytes a
// weight in single precision, so it takes as long as memory needs for that.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/training/trainer.hpp"
#include "dewpoint/transformer/weights.hpp"

namespace dewpoint::transformer {

/// Weights, both moments and the number of steps done: everything that is needed to go on.
template <class Real>
struct AdamState {
  Weights<Real> weights, first, second;  // θ, m, v of training::AdamOptions
  std::uint64_t done = 0;

  AdamState() = default;
  /// Moments 0.
  AdamState(const Shape& shape, Weights<Real> start);
};

/// One step: the formulas of training::AdamOptions, entry by entry, in vectors. With the factors
/// that all entries share taken together, κ = √(1 − β₂ᵗ),
///
///     m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²,
///     θ ← θ − (rate κ/(1 − β₁ᵗ)) m/(√v + κ ε).
///
/// A moment below the smallest normal number becomes 0: some processors are a hundred times slower
/// with the numbers beneath, and moments of a token that is seldom seen would stay among them.
///
/// A step is taken whole: a request to stop is for whoever would take the next one.
///
///   Domain      a state and a gradient of the same shape; options as training::check() wants them;
///               squares of the gradient within the range of Real.
///   Accuracy    with δ half the epsilon of Real, and apart from moments that become 0: v to
///               kSecondRoundings δ v; m to kFirstRoundings δ of |β₁ m| + |(1 − β₁) g|; the change
///               of θ to kChangeRoundings δ (and kPowerRoundings roundings of double for each
///               binary digit of t) of what it is with that sum in the place of m; then θ is
///               rounded once.
///   Properties  (1) equal bytes for any number of threads and on every processor.
///               (2) an entry that is not finite in the gradient is not finite in the weight, and
///                   changes no other.
template <class Real>
void adam_step(const training::AdamOptions& options, const Weights<Real>& gradient,
               AdamState<Real>& state, const RunContext& context = {});

inline constexpr double kFirstRoundings = 3;
inline constexpr double kSecondRoundings = 4;
inline constexpr double kChangeRoundings = 12;
inline constexpr double kPowerRoundings = 10;

/// Entries that one thread takes at a time.
inline constexpr std::size_t kAdamBlock = 16384;

}  // namespace dewpoint::transformer
