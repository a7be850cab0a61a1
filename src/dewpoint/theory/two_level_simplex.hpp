// Attention on clustered tokens: when a middle phase opens between "all" and "self".
//
// Every token has s neighbours in its own cluster with correlation ρ_b, and the remaining n − 1 − s
// tokens, the strangers, with the lower correlation ρ_a. One row of softmax weights then splits
// into three masses,
//
//     w_self : w_cluster : w_rest  =  1 : s e^{−β(1−ρ_b)} : (n − 1 − s) e^{−β(1−ρ_a)}.
//
// With s = n^τ and β = γ log n each mass is a power of n, and the largest exponent of
//
//     0,    τ − γ(1 − ρ_b),    1 − γ(1 − ρ_a)
//
// names the phase. As γ grows the row moves from the rest to the cluster to the token itself, or
// straight from the rest to the token when clusters are too small or too loose. The tokens that
// realise these correlations are √ρ_a e_0 + √(ρ_b − ρ_a) e_{cluster} + √(1 − ρ_b) e_i on
// orthonormal vectors, and a layer of attention maps such tokens to such tokens. One cluster level
// only; without clusters see simplex.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

namespace dewpoint::theory {

/// How many tokens are near and far, and how near and far they are. Counts are logarithms.
struct TwoLevelSimplex {
  double log_neighbours;       // log s; −∞ for none
  double log_strangers;        // log(n − 1 − s); −∞ for none
  double cluster_correlation;  // ρ_b
  double rest_correlation;     // ρ_a ≤ ρ_b
};

/// The geometry with s = n^τ neighbours and n − 1 − n^τ strangers.
///
///   Domain      log n > 0, 0 ≤ τ ≤ 1 and n^τ ≤ n − 1, 0 ≤ ρ_a ≤ ρ_b < 1. τ = 1 means that all
///               other tokens are neighbours.
///   Accuracy    absolute error of a log count at most kTwoLevelError · (1 + log n), divided by the
///               share 1 − (1 + s)/n of strangers for theirs.
///   Properties  (1) 1 + s + (n − 1 − s) = n.
///   Reference   [Critical attention scaling in long-context transformers, Assumption 3], with
///               both intervals of correlations shrunk to a point.
[[nodiscard]] TwoLevelSimplex two_level_simplex(double log_n, double cluster_exponent,
                                                double cluster_correlation,
                                                double rest_correlation);

/// Shares of one row of attention.
struct TwoLevelMasses {
  double self;
  double cluster;
  double rest;
  double log_self;
  double log_cluster;
  double log_rest;
};

/// The three masses of a row, each a softmax over the three log odds
///
///     0,    log s − β(1 − ρ_b),    log(n − 1 − s) − β(1 − ρ_a).
///
///   Domain      β ≥ 0, 0 ≤ ρ_a ≤ ρ_b < 1. A mass below the range of a double is 0; its logarithm
///               is still right.
///   Accuracy    relative error of a mass and absolute error of a logarithm at most
///               kTwoLevelError · (1 + β + largest log count).
///   Properties  (1) the masses add up to 1.
///               (2) ρ_a = ρ_b: the masses of simplex_weights, self and others.
///               (3) β = 0: the masses are counts over n.
///               (4) self increases with β, rest decreases with β when ρ_a < ρ_b.
///   Reference   [Critical attention scaling in long-context transformers, Lemma C.1].
[[nodiscard]] TwoLevelMasses two_level_masses(const TwoLevelSimplex& simplex,
                                              double inverse_temperature);

/// Rounding of one difference and two log-sum-exps.
inline constexpr double kTwoLevelError = 4.0 * std::numeric_limits<double>::epsilon();

/// The tokens after one layer.
struct TwoLevelOutput {
  double squared_norm;           // q'
  double cluster_correlation;    // ρ_b'
  double rest_correlation;       // ρ_a'
  double cluster_decorrelation;  // 1 − ρ_b', to full relative accuracy
  double rest_decorrelation;     // 1 − ρ_a', likewise
};

/// Gram matrix after one layer with residual κ = α√q (simplex.hpp). With a, b, c the weights on the
/// token itself, on each neighbour and on each stranger, p = s + 1 tokens per cluster,
///
///     x = a − b + κ,    z = p(b − c),    Δ = ρ_b − ρ_a,
///     own     = x² (1 − ρ_b),
///     cluster = x²Δ + (2x + z) [ (b − c)(1 − ρ_b) + zΔ ],
///     common  = ρ_a (1 + κ)² + c (1 − ρ_b + pΔ)(1 + κ + x + z),
///     q' = own + cluster + common,    1 − ρ_b' = own/q',    1 − ρ_a' = (own + cluster)/q'.
///
/// x, x + z and 1 + κ are the eigenvalues of weights plus residual; the differences between them
/// that a Gram matrix needs are written without subtraction, 1 + κ − (x + z) = nc among them.
///
///   Domain      as two_level_masses, and κ ≥ 0. Every cluster has the same size. Without
///               neighbours or without strangers the correlation to them is that of a token one
///               could add.
///   Accuracy    relative error of every field at most kTwoLevelOutputError · (1 + β + largest log
///               count) for log n ≤ 350. Beyond, the square of a weight may be below the range of
///               doubles and counts as 0.
///   Properties  (1) equals the Gram matrix of explicit tokens after a softmax layer.
///               (2) correlation and decorrelation add up to 1, at both levels.
///               (3) ρ_a = ρ_b: both levels are those of simplex_output.
///               (4) 0 ≤ ρ_a' ≤ ρ_b': a layer keeps clusters clusters.
///               (5) in the middle of the cluster phase, as n → ∞ with κ = 0: ρ_b' → 1 and
///                   ρ_a' → ρ_a/ρ_b. Clusters collapse, each on its own.
///   Reference   derived here; the tokens are those of [Critical attention scaling in long-context
///               transformers, Assumption 3].
[[nodiscard]] TwoLevelOutput two_level_output(const TwoLevelSimplex& simplex,
                                              double inverse_temperature,
                                              double scaled_residual = 0.0);

/// Each weight has twice the error of a mass (its own score is subtracted once more), a Gram entry
/// has two weights, and a correlation is a quotient of two entries.
inline constexpr double kTwoLevelOutputError = 8.0 * kTwoLevelError;

/// The interval of γ = β/log n in which the cluster holds the row.
struct ClusterPhase {
  double rest_to_cluster;  // γ_1
  double cluster_to_self;  // γ_2
};

/// Borders of the middle phase as n → ∞,
///
///     γ_1 = (1 − τ)/(ρ_b − ρ_a),    γ_2 = τ/(1 − ρ_b),
///
/// or nothing when γ_1 ≥ γ_2: then the rest gives way to the token itself directly, at
/// critical_gamma(ρ_a).
///
///   Domain      0 ≤ τ ≤ 1, 0 ≤ ρ_a ≤ ρ_b < 1.
///   Accuracy    relative error kTwoLevelError for ρ's taken as exact.
///   Properties  (1) exists exactly when (1 − τ)(1 − ρ_a) + ρ_a < ρ_b, up to rounding.
///               (2) γ_1 < 1/(1 − ρ_a) < γ_2: the direct border lies inside, a mediant.
///               (3) at γ_1 cluster and rest have equal masses up to the share of strangers; at γ_2
///                   cluster and self have equal masses exactly, for every n.
///   Reference   [Critical attention scaling in long-context transformers, Theorem C.2].
[[nodiscard]] std::optional<ClusterPhase> cluster_phase(double cluster_exponent,
                                                        double cluster_correlation,
                                                        double rest_correlation);

}  // namespace dewpoint::theory
