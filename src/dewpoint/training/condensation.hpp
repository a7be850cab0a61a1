// Units that point the same way.
//
// A unit of the hidden layer is a column of W0, or a row of W1, WQ or WK: m vectors for each
// matrix. At a small random start their directions are independent; training first turns them all
// into ± one direction, later into ± several. The cosines between units show it as blocks once the
// units are put in order:
//
//     unit i lies at (σ₁ u₁ᵢ, σ₂ u₂ᵢ) in the plane of the two leading singular directions; units
//     are sorted by their angle in this plane, from the widest gap of its lower half on.
//
// With one direction the units are two opposite bundles: two blocks on the diagonal, the opposite
// sign off it. With a second direction they are four bundles, next to each other along the circle.
// The axes are turned so that the units' coordinates have sums ≥ 0. Units that are 0 come last.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/parameters.hpp"

namespace dewpoint::training {

/// Cosines at one time. Units beyond kMostUnits are averaged in equal blocks along the order (equal
/// up to one unit where m is no multiple).
struct Condensation {
  double time = 0.0;
  struct Block {
    std::string matrix;         // "W0", "W1", "WQ", "WK"
    Matrix<double> cosines;     // between columns of W0, rows of the others, ordered
    double mean_modulus = 0.0;  // mean |cos| over pairs of different units, before averaging
    double rank_one = 0.0;      // σ₁²/Σσ² of the matrix, to kRankOneError; 0 for zeros
  };
  std::vector<Block> blocks;
};
inline constexpr std::size_t kMostUnits = 64;
inline constexpr double kRankOneError = 1e-10;

///   Properties  (1) up to kMostUnits units, cosines are symmetric with diagonal 1.
///               (2) a unit that is 0 has cosine 0 with all, itself included.
///               (3) with equal blocks, averaging keeps the mean of all cosines.
///               (4) cosines, mean_modulus and rank_one do not depend on the order in which the
///                   units come, up to rounding.
/// With one unit there is no pair, and mean_modulus is NaN.
[[nodiscard]] Condensation condensation_of(double time, const Parameters<double>& parameters);

}  // namespace dewpoint::training
