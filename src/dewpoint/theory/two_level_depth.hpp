// Many attention layers on clustered tokens: clusters collapse first, each on its own.
//
// A layer maps the two-level simplex to itself (two_level_simplex.hpp), so L layers are L steps of
// an exact map. A direction is √ρ_a e_0 + √(ρ_b − ρ_a) e_cluster + √(1 − ρ_b) e_i on orthonormal
// vectors; the three squares,
//
//     own = 1 − ρ_b,    cluster = ρ_b − ρ_a,    common = ρ_a,    own + cluster + common = 1,
//
// are the state. A layer replaces each by a sum of products of positive numbers, so that no digit
// is lost at any stage: not while clusters are loose, not when 1 − ρ_b has left the range of
// doubles and ρ_a is still moderate, not when everything has collapsed. All three are carried as
// logarithms, and counts are logarithms too: n = 1e300 is an ordinary length. After some 600 layers
// even log(1 − ρ_b) is −∞, and the rest goes on.
//
// In the middle phase (cluster_phase) a few layers turn every cluster into a point; what remains is
// a simplex of as many tokens as there are clusters, each p-fold, with correlation ρ_a/ρ_b. Its
// transition is that of simplex_depth.hpp with n/p in place of n: points stay apart as long as
// β(1 − ρ_a) > log(n/p), and collapse later and at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/theory/two_level_simplex.hpp"

namespace dewpoint::theory {

/// The tokens between two layers.
struct TwoLevelState {
  double squared_norm;  // q
  double log_own;       // log(1 − ρ_b); −∞ beyond the range of doubles
  double log_cluster;   // log(ρ_b − ρ_a); −∞ without contrast
  double log_common;    // log ρ_a; −∞ for uncorrelated clusters

  [[nodiscard]] double cluster_correlation() const;     // ρ_b
  [[nodiscard]] double rest_correlation() const;        // ρ_a
  [[nodiscard]] double log_rest_decorrelation() const;  // log(1 − ρ_a)
};

/// The state with given squared norm and correlations.
///
///   Domain      q > 0, 0 ≤ ρ_a ≤ ρ_b < 1.
///   Accuracy    rounding of the logarithms of differences of the ρ's, which are taken as exact.
///   Properties  (1) cluster_correlation() and rest_correlation() give ρ_b and ρ_a back.
///   Reference   [Critical attention scaling in long-context transformers, Assumption 3].
[[nodiscard]] TwoLevelState two_level_state(double squared_norm, double cluster_correlation,
                                            double rest_correlation);

/// What all layers share.
struct TwoLevelStack {
  double log_neighbours;       // log s; −∞ for none
  double log_strangers;        // log(n − 1 − s); −∞ for none
  double inverse_temperature;  // β
  double residual = 0.0;       // α
};

/// One layer: with κ = α√q and x, z, b − c, c of two_level_output,
///
///     own'     = x² own / q',
///     cluster' = { x² cluster + (2x + z) [(b − c) own + z cluster] } / q',
///     common'  = { (1 + κ)² common + c (own + p cluster)(1 + κ + x + z) } / q',
///
/// and q' the sum of the three numerators, all formed from logarithms.
///
///   Domain      β > 0, α ≥ 0; any state of two_level_state or of a previous layer. Every cluster
///               has the same size.
///   Accuracy    relative error of q' and absolute error of the logarithms for an exact state: at
///               most two_level_step_error(stack, state). Errors of the state grow as in
///               simplex_step: threefold per layer after a collapse without residual.
///   Properties  (1) agrees with two_level_output.
///               (2) the three shares add up to 1.
///               (3) ρ_a = ρ_b: both are those of simplex_step.
///               (4) ρ_b' ≥ ρ_b and ρ_a' ≥ ρ_a, up to rounding.
///               (5) 1 − ρ_b → 0, α = 0: 1 − ρ_b' = (1 − ρ_b)³ (β a)²/q', a the weight on each
///                   member of the cluster. With weight on the cluster only, a = 1/p and q' = 1:
///                   each cluster follows the cubic law of a simplex of p tokens.
///   Reference   derived here, as two_level_output.
[[nodiscard]] TwoLevelState two_level_step(const TwoLevelState& state, const TwoLevelStack& stack);

/// Rounding bound of two_level_step: eight operations on logarithms, none larger than the sum of
/// all that go in. A share that is 0 has no logarithm and adds nothing.
[[nodiscard]] double two_level_step_error(const TwoLevelStack& stack, const TwoLevelState& state);

/// The states before layer 0, 1, ..., `layers` − 1 and after the last: `layers` + 1 of them.
///
///   Domain      as two_level_step, layers ≥ 0.
///   Accuracy    as two_level_step, layer after layer.
///   Properties  (1) equals explicit tokens sent through softmax layers, before and after their
///                   clusters have collapsed.
///   Reference   as two_level_step.
[[nodiscard]] std::vector<TwoLevelState> two_level_trajectory(const TwoLevelState& start,
                                                              const TwoLevelStack& stack,
                                                              int layers);

}  // namespace dewpoint::theory
