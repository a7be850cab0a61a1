// The softmax kinds of attention: the fast path, and products with the Jacobian. Formulas, domains
// and accuracies are in attention_variant.hpp, whose functions call these.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/attention/variants/attention_variant.hpp"

namespace dewpoint::attention {

/// variant_attention of a softmax kind, checked already.
[[nodiscard]] AttentionResult softmax_attention(const AttentionInputs& inputs,
                                                const AttentionVariant& variant,
                                                std::span<const std::size_t> queries,
                                                const RunContext& context);

/// attention_in_double of a softmax kind, checked already: by BLAS, a strip of queries at a time.
[[nodiscard]] Matrix<double> softmax_in_double(const AttentionInputs& inputs,
                                               const AttentionVariant& variant,
                                               const RunContext& context);

/// variant_jvp and variant_vjp of a softmax kind, by BLAS in double. Weights are computed anew for
/// every product: time O(n² d), memory O(n d) and a strip.
[[nodiscard]] Matrix<double> softmax_jvp(const AttentionInputs& inputs,
                                         const AttentionVariant& variant,
                                         const AttentionInputs& change, const RunContext& context);
[[nodiscard]] AttentionMatrices softmax_vjp(const AttentionInputs& inputs,
                                            const AttentionVariant& variant,
                                            MatrixView<const double> gradient,
                                            const RunContext& context);

}  // namespace dewpoint::attention
