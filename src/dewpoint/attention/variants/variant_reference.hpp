// Attention of every kind as one would write it on a blackboard: one pair after the other, no
// float32, no sums that stand for many keys. The fast paths are tested against it.
//
// A kind differs from softmax in at most three things: the logit of a pair, which keys are kept,
// and a sink. Linear kinds are softmax over log⟨φ(q), φ(k)⟩; so one page serves all of them, and
// random features need no care with underflow.
//
// The scalar may be complex: with an input moved by ih, h = 1e-30, the imaginary part of an output
// over h is its derivative to rounding (the complex step), because nothing here takes a modulus.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

#include "dewpoint/attention/variants/attention_variant.hpp"

namespace dewpoint::attention {

/// What variant_attention promises, with the statistics of linear kinds too. O(n² d), or O(n² M d)
/// with random features.
///
///   Domain      as variant_attention, without its limit on β.
///   Accuracy    double: (n + d + 20 + (d + 4) B) 2⁻⁵² of the largest |v|, B = β max‖q‖ max‖k‖.
[[nodiscard]] AttentionResult reference_attention(const AttentionInputs& inputs,
                                                  const AttentionVariant& variant);

/// The outputs alone, for Scalar = double or std::complex<double>.
template <class Scalar>
[[nodiscard]] Matrix<Scalar> reference_outputs(const QueriesKeysValues<Scalar>& inputs,
                                               const AttentionVariant& variant);
extern template Matrix<double> reference_outputs(const QueriesKeysValues<double>&,
                                                 const AttentionVariant&);
extern template Matrix<std::complex<double>> reference_outputs(
    const QueriesKeysValues<std::complex<double>>&, const AttentionVariant&);

}  // namespace dewpoint::attention
