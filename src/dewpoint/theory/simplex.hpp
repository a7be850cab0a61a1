// One attention layer on a regular simplex of tokens, exactly, at any finite length.
//
// All n tokens have unit direction y_i with ⟨y_i, y_j⟩ = ρ for i ≠ j; keys, queries and values are
// the identity. Scores are β ⟨y_i, y_j⟩, so every row of weights is the same up to relabelling:
// one weight a on the token itself and the same weight b on each of the others. With
//
//     ℓ = log(n − 1) − β(1 − ρ),
//
// the odds of the others against the token itself are e^ℓ, and the whole layer is a function of
// ℓ, ρ and n. A residual branch enters through one number,
//
//     κ = α √q          (skip strength α, squared norm q of the incoming tokens),
//
// because x'_i = Σ_j A_ij y_j + α √q y_i. The output is again a regular simplex, with squared norm
// q' and correlation ρ'; the contraction λ = (1 − ρ')/(1 − ρ) says how much of the spread between
// tokens survives. In the reduced scale c = β(1 − ρ)/log n the transition is at c = 1 for every ρ
// (critical_line.hpp).
//
// Everything takes log n, never n: lengths far beyond 1e300 cost nothing, and no two nearly equal
// numbers are subtracted. Clusters of tokens are in two_level_simplex.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace dewpoint::theory {

/// One row of attention weights on the simplex.
struct SimplexWeights {
  double self;            // a, on the token itself
  double others;          // s = 1 − a, on all others together
  double per_token;       // b = s/(n − 1), on each other token
  double gap;             // a − b, the nontrivial eigenvalue of the weight matrix
  double log_self;        // log a
  double log_others;      // log s
  double log_per_token;   // log b
  double log_gap;         // log(a − b)
  double log_normaliser;  // log Z, Z = e^β + (n − 1) e^{βρ}
};

/// Weights of one row,
///
///     a = 1/(1 + e^ℓ),   s = e^ℓ/(1 + e^ℓ),   b = s/(n − 1),   a − b = a (1 − e^{−β(1−ρ)}),
///     log Z = β + log(1 + e^ℓ).
///
///   Domain      log n ≥ log 2, β ≥ 0, 0 ≤ ρ < 1. Beyond the range of a double the weight is 0 and
///               its logarithm is still right; log(a − b) is −∞ at β = 0.
///   Accuracy    relative error of a weight and absolute error of a logarithm are at most
///               simplex_error(log n, β).
///   Properties  (1) a + s = 1.
///               (2) a = n/(2n − 1) at c = 1.
///               (3) a increases with β and decreases with n.
///               (4) a = b = 1/n at β = 0.
///   Reference   [Critical attention scaling in long-context transformers, proof of (7)].
[[nodiscard]] SimplexWeights simplex_weights(double log_n, double inverse_temperature,
                                             double correlation);

/// The tokens after one layer.
struct SimplexOutput {
  double squared_norm;     // q' = ⟨x'_i, x'_i⟩
  double correlation;      // ρ' = ⟨x'_i, x'_j⟩/q'
  double decorrelation;    // 1 − ρ', to full relative accuracy
  double log_contraction;  // log λ; λ itself underflows for long subcritical contexts
};

/// Gram matrix after one layer with residual κ,
///
///     q'  = ρ(1 + κ)² + (1 − ρ) [(a + κ)² + s b],
///     p'  = ρ(1 + κ)² + (1 − ρ) [2(a + κ) b + (n − 2) b²],    ρ' = p'/q',
///     λ   = (a − b + κ)²/q',    1 − ρ' = (1 − ρ) λ.
///
///   Domain      as simplex_weights, and κ ≥ 0.
///   Accuracy    relative error of q', ρ' and 1 − ρ', absolute error of log λ: at most
///               simplex_error(log n, β).
///   Properties  (1) ρ' + (1 − ρ') = 1: the two are computed apart and agree.
///               (2) λ increases with β.
///               (3) 0 ≤ λ ≤ 1: attention with identity values never spreads tokens.
///               (4) λ increases with κ: a skip connection slows the collapse.
///               (5) as n → ∞ at fixed c ≠ 1 it tends to simplex_crossover(±∞, ρ, κ).
///   Reference   [Critical attention scaling in long-context transformers, Theorem 2.1].
[[nodiscard]] SimplexOutput simplex_output(double log_n, double inverse_temperature,
                                           double correlation, double scaled_residual = 0.0);

/// Rounding bound of simplex_weights and simplex_output: the exponent ℓ is a difference of numbers
/// as large as log n and β, each known to half a unit in the last place, and enters at most three
/// times.
[[nodiscard]] constexpr double simplex_error(double log_n, double inverse_temperature) {
  return 4.0 * std::numeric_limits<double>::epsilon() * (2.0 + log_n + inverse_temperature);
}

/// The layer in the crossover window, where n → ∞ while c → 1.
struct SimplexCrossover {
  double self;          // a
  double squared_norm;  // q'
  double contraction;   // λ
};

/// Finite-size scaling form of the layer in the variable x = (c − 1) log n,
///
///     a = 1/(1 + e^{−x}),   q' = ρ(1 + κ)² + (1 − ρ)(a + κ)²,   λ = (a + κ)²/q'.
///
/// The transition is 1/log n wide in c.
///
///   Domain      −∞ ≤ x ≤ ∞, 0 < ρ < 1, κ ≥ 0. The infinite ends are the two phases.
///   Accuracy    rounding of a few units in the last place; as an approximation to n tokens,
///               |λ − λ_n| ≤ kCrossoverBias/(ρ (n − 1)).
///   Properties  (1) x = −∞, κ = 0: λ = 0, full collapse. x = +∞: λ = 1, q' = (1 + κ)².
///               (2) x = 0: q' = κ² + κ(1 + ρ) + (1 + 3ρ)/4.
///               (3) x = −∞: q' = κ² + 2κρ + ρ.
///               (4) the distance to the exact layer at n tokens is within the stated bias.
///   Reference   limits (6)-(9) of [Critical attention scaling in long-context transformers].
[[nodiscard]] SimplexCrossover simplex_crossover(double scaling_variable, double correlation,
                                                 double scaled_residual = 0.0);

/// Two terms. The crossover moves a − b by at most 1/(4(n − 1)) (the odds lose a factor 1 − 1/n)
/// plus b ≤ 1/(n − 1), and |∂λ/∂(a−b)| ≤ 2/(ρ(1 + κ)). Dropping the rest of q', b(2(a + κ) − b + s)
/// ≤ (1 + κ)²/(n − 1), changes λ by at most 1/(ρ(n − 1)). Together 2 · 5/4 + 1.
inline constexpr double kCrossoverBias = 3.5;

}  // namespace dewpoint::theory
