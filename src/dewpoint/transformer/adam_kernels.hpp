// The arithmetic of adam_step(): its inner loop, vectorised, and the powers of its factors.
//
// Every operation is one of IEEE 754 on one entry, and no product is fused with a sum (the build
// compiles adam_kernels.cpp with -ffp-contract=off): neither the width of a vector nor the
// instruction set changes a bit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace dewpoint::transformer {

/// What all entries share in one step.
template <class Real>
struct AdamFactors {
  Real first_decay, first_fresh;    // β₁, 1 − β₁
  Real second_decay, second_fresh;  // β₂, 1 − β₂
  Real step;                        // rate κ/(1 − β₁ᵗ)
  Real epsilon;                     // κ ε, above 0
};

/// Consecutive entries of one matrix.
template <class Real>
struct AdamEntries {
  Real* weights;
  Real* first;
  Real* second;
  const Real* gradient;
  std::size_t count;
};

void adam_update(const AdamFactors<float>& factors, const AdamEntries<float>& entries);
void adam_update(const AdamFactors<double>& factors, const AdamEntries<double>& entries);

/// 1 − decay^power by products and sums alone: libraries differ in the last bits of a power.
///
///   Domain      decay in (0, 1), power ≥ 1.
///   Accuracy    five roundings for each binary digit of the power, relative: with r(t) = 1 −
///               decayᵗ, r(s + t) = r(s) + (1 − r(s)) r(t) adds what is positive, and passes on no
///               more than the relative errors of its terms.
[[nodiscard]] double one_minus_power(double decay, std::uint64_t power);

}  // namespace dewpoint::transformer
