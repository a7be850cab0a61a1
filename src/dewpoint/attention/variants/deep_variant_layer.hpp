// Layers of any kind one after the other, with the angles of tokens that collapse.
//
// The layer of variant_layer.hpp, on the tokens of deep_layers.hpp, y_i = u + 2^k e_i. Everything
// that all tokens share is taken out before weights are applied: with v̄ = (u + 2^k ē) W_v and
// c_i = (e_i − ē) W_v, head by head,
//
//     x'_j = S_j v̄ + α r_j u + 2^k (Σ_i p_ji c_i + α r_j e_j),    S_j = Σ_i p_ji,
//
// where S_j = 1 for all kinds but those with a sink. Weights and sums are double.
//
// How far. A row of Σ p c is off by E = mixing_error of the longest c, which is not smaller for
// being the same in all rows: without mask, rotations and residual, rows of tokens that have come
// within a gap g of each other differ by β g of their length only, and below g ≈ E/β that is
// rounding. So one layer is followed from a gap g to about E² g, and gaps of g³ from g ≥ E. A sink
// puts S_j v̄ into the sum, which is off by E whatever the gap, and gaps end at E²: 1e-26 for a
// hundred tokens, 1e-23 for thousands. With a residual they end at the rounding of α r_j, 1e-30.
// log_deep_variant_noise says where, layer by layer. deep_layer, for the plain layer, has no such
// end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/attention/deep_layers.hpp"
#include "dewpoint/attention/variants/variant_layer.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::attention {

/// The tokens after one layer.
///
///   Domain      as variant_layer, α ≥ 0. Throws Error{bad_value} when an output is 0.
///   Accuracy    a gap g' is off by at most 2 √(g' N) + N for tokens that are exactly those given,
///               log N = log_deep_variant_noise(tokens, parameters, result).
///   Properties  (1) equals reference_variant_layer, for every kind and mask.
///               (2) of the plain layer equals deep_layer within that accuracy.
///               (3) the same bytes for any number of threads.
///   Cost        O(n² d), memory O(n d) and a strip.
[[nodiscard]] DeepTokens deep_variant_layer(const DeepTokens& tokens,
                                            const LayerVariant& parameters,
                                            const RunContext& context = {});

/// Logarithm of the largest gap N that rounding alone puts between two outputs. With the longest
/// offset ℓ = 2^k max‖e_i − ē‖ and the shortest output r', a row is off by
///
///     δ = E (√H ℓ + [sink]) + [α > 0] 2^−51 max α r_i,    N = ½ (2 δ/r')²;
///
/// √H because each head has its own longest value.
[[nodiscard]] double log_deep_variant_noise(const DeepTokens& before,
                                            const LayerVariant& parameters,
                                            const DeepTokens& after);

}  // namespace dewpoint::attention
