// How training leaves the origin: linear growth, and the direction onto which weights condense.
//
// One attention layer with weights W0 (d × m), W1 (m × d), WQ, WK (m × m) predicts the next token
// of a Markov chain from a long context. With A_ij ∝ π_j e^{Φ_ij}, Φ = W0 WQ WKᵀ W0ᵀ, M = W0 W1,
// the loss is L = −Σ π_i P_ij log softmax(A M)_ij [FD, Eq (5)]. All weights start small, of size ε.
//
// At the origin ∂L/∂M = −π(π − 1/d)ᵀ and ∂L/∂Φ = 0 [FD, Eq (9)]. With
//
//     q = π/‖π‖,   u = (π − 1/d)/‖π − 1/d‖,   μ = ‖π‖ ‖π − 1/d‖,
//
// the flow linearised there is W0' = μ q uᵀ W1ᵀ, W1' = μ W0ᵀ q uᵀ, and WQ, WK stand still. It moves
// a = W0ᵀq and b = W1 u only: a' = μ b, b' = μ a, so that both tend to (a + b)(0)/2 · e^{μt} and
//
//     W0 → ‖W0‖ q α₁ᵀ,   W1 → ‖W1‖ α₁ uᵀ,   α₁ = (a + b)(0)/‖(a + b)(0)‖.
//
// Corrected here: [FD, Theorem 4.2] speaks of a single unstable direction. Growth +μ has
// multiplicity m, one for each direction in the space of width m; α₁ is not selected by the
// dynamics but inherited from the start, and the second half of [FD, Lemma 4.1], which needs a
// simple eigenvalue, does not apply.
//
// The loss is even in the weights, so the terms left out are cubic: the linear flow is followed up
// to O(ε³e^{3μt}), one order better than Lemma 4.1 gives for any saddle.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::theory {

/// Growth at the origin.
struct OriginGrowth {
  double rate = 0.0;                        // μ
  std::vector<double> embedding_direction;  // q: the rows of W0 grow in proportion to π
  std::vector<double> output_direction;     // u
};

/// μ, q and u of a law.
///
///   Domain      π_i > 0, Σπ = 1. For the uniform law (up to rounding) nothing grows: μ = 0, u = 0.
///   Accuracy    rounding: relative error kOriginGrowthError/‖π − 1/d‖.
///   Properties  (1) μ = ‖π‖ (π_1 − 1/d) √(d/(d − 1)) for two groups.
///               (2) 0 ≤ μ < 1, and μ² = ‖π‖²(‖π‖² − 1/d).
///               (3) ∂L/∂M at the origin is −μ q uᵀ.
///   Reference   [FD, Theorem 4.2].
[[nodiscard]] OriginGrowth origin_growth(std::span<const double> law);

inline constexpr double kOriginGrowthError = 0x1p-49;  // eight roundings of numbers up to 1

/// An eigenvalue with the number of times it occurs.
struct EigenvalueGroup {
  double value = 0.0;
  std::size_t multiplicity = 0;
};

/// Spectrum of −∇²L at the origin over all 2dm + 2m² weights: +μ and −μ, m times each, and 0.
///
///   Domain      m ≥ 1.
///   Properties  (1) multiplicities add up to 2dm + 2m².
///               (2) the Hessian of the population loss has this spectrum.
[[nodiscard]] std::vector<EigenvalueGroup> origin_spectrum(std::span<const double> law,
                                                           std::size_t width);

/// What the start decides: along α₁ both W0ᵀq and W1 u grow as amplitude · e^{μt}.
struct Condensate {
  std::vector<double> direction;  // α₁, of length m
  double amplitude = 0.0;         // ‖W0ᵀq + W1 u‖/2 at the start
};

/// α₁ and the amplitude from the initial W0 (d × m) and W1 (m × d).
///
///   Domain      a law that is not uniform.
///   Properties  (1) with N(0, ε²) entries the amplitude is of size ε √(m/2).
///               (2) the population flow from these weights, once ‖W0‖ is of order 1/5, has
///                   W0/‖W0‖ = q α₁ᵀ up to O(ε).
[[nodiscard]] Condensate condensate(std::span<const double> law, MatrixView<const double> embedding,
                                    MatrixView<const double> unembedding);

}  // namespace dewpoint::theory
