// Attention with given queries, keys and values, of any kind, under any mask: the operator, and
// how a small change of its inputs passes through it.
//
// Rows of the three matrices belong to the same n tokens in the same order: token j asks with q_j,
// answers with k_j and says v_j. With Q = K = V this is the layer of layer.hpp without residual;
// tokens, heads, rotations and residuals are put around it by variant_layer.hpp.
//
//     o_j = Σ_i p_ji v_i,    p_ji from the logits β⟨q_j, k_i⟩ of the keys that token j sees.
//
// attention_kind.hpp says which weights p there are, key_pattern.hpp which masks. Whatever the
// kind, the statistics of a row are those of core/head_row.hpp, so that observables can read them;
// for linear kinds the logit of a pair is log⟨φ(q), φ(k)⟩.
//
// Two paths compute o: reference_attention (variant_reference.hpp), one pair after the other in
// double, and variant_attention here. Both pass tests/conformance.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/attention/variants/attention_kind.hpp"
#include "dewpoint/attention/variants/key_pattern.hpp"
#include "dewpoint/core/head_row.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::attention {

/// Three views of the caller's matrices, one row per token. Also a change of them.
template <class Scalar>
struct QueriesKeysValues {
  MatrixView<const Scalar> queries;  // n x d
  MatrixView<const Scalar> keys;     // n x d
  MatrixView<const Scalar> values;   // n x any number of columns

  /// Q = K = V.
  [[nodiscard]] static QueriesKeysValues same(MatrixView<const Scalar> rows) {
    return {rows, rows, rows};
  }
};
using AttentionInputs = QueriesKeysValues<double>;

/// The same with memory of its own: inputs that were made, or gradients with respect to them.
struct AttentionMatrices {
  Matrix<double> queries;
  Matrix<double> keys;
  Matrix<double> values;

  [[nodiscard]] AttentionInputs views() const { return {queries, keys, values}; }
};

struct AttentionVariant {
  double inverse_temperature = 1.0;  // β
  KeyPattern mask;
  AttentionKind kind;
  std::uint64_t seed = 0;  // of random features: stream "attention/features"
  std::uint64_t replica = 0;
};

/// What the weights of one query look like.
struct RowStatistics {
  std::size_t keys = 0;  // visible ones
  /// Of the keys with weight. Scores are logits: β is in them.
  SoftmaxRow softmax;
  double self_weight = 0.0;  // p_jj
};

struct AttentionResult {
  Matrix<double> outputs;           // one row per query that was asked for
  std::vector<RowStatistics> rows;  // of the same queries; empty for linear kinds, whose pairs are
                                    // never formed (LinearAttention::rows makes them)
};

/// Throws Error{bad_value}, one line, for what contradicts itself on n tokens:
///   - top:K with K above the number of keys that any query sees;
///   - a linear kind under a mask other than none and causal.
void check(const AttentionKind& kind, const KeyPattern& mask, std::size_t n);

/// The same, and Error{bad_value} for
///   - β outside [0, 1e30], inputs that are not finite;
///   - β · max‖q‖ · max‖k‖ of 1e18 and more, whose square float32 cannot hold.
/// Shapes that do not fit together are the caller's mistake.
void check(const AttentionInputs& inputs, const AttentionVariant& variant);

/// Outputs of some queries, increasing, and their statistics, a strip of them at a time. Values are
/// mixed from their mean v̄, o_j = (Σ_i p_ji) v̄ + Σ_i p_ji (v_i − v̄): tokens that nearly coincide
/// keep what tells them apart.
///
///   Domain      n ≥ 1, d ≥ 1, and what check() lets pass.
///   Accuracy    softmax kinds: float32 products, sums in double. An output is off by at most
///               variant_error(n, d, β max‖q‖ max‖k‖) times the largest |v − v̄|, with a sink times
///               the largest |v| more. With top:K this holds
///               where the K-th score leads the next by more than float32 can confuse, or ties
///               exactly. Linear kinds: linear_attention.hpp, in double.
///   Properties  (1) equals reference_attention within that accuracy, for every kind and mask.
///               (2) the same bytes for any number of threads.
///               (3) the outputs of some queries are those of all within that accuracy.
///               (4) memory beyond inputs and results: a float32 copy of the inputs and, per
///                   thread, a strip of 64 MiB at most (16 rows where n is above a million).
[[nodiscard]] AttentionResult variant_attention(const AttentionInputs& inputs,
                                                const AttentionVariant& variant,
                                                std::span<const std::size_t> queries,
                                                const RunContext& context = {});
/// All outputs; the queries are then all_queries(n) = 0, 1, .., n − 1.
[[nodiscard]] std::vector<std::size_t> all_queries(std::size_t n);
[[nodiscard]] AttentionResult variant_attention(const AttentionInputs& inputs,
                                                const AttentionVariant& variant,
                                                const RunContext& context = {});

/// All outputs Σ_i p_ji v_i, weights and sums in double: for values that differ little, which the
/// caller has centred. Some times slower than variant_attention.
///
///   Domain      as variant_attention.
///   Accuracy    mixing_error(variant, n, d) of the largest |v|.
///   Properties  (1) equals reference_attention within that accuracy, for every kind and mask.
///               (2) the same bytes for any number of threads.
[[nodiscard]] Matrix<double> attention_in_double(const AttentionInputs& inputs,
                                                 const AttentionVariant& variant,
                                                 const RunContext& context = {});

/// Rounding of attention_in_double over the largest |v|, for queries and keys of length 1 at most
/// in d coordinates. A logit is off by d + 4 roundings of β, above and below the fraction; sums of
/// n weights and of d coordinates add as many. A linear kind rounds its exponents √β⟨ω, x⟩ −
/// β‖x‖²/2 in place of logits, ‖ω‖ < √d + 6 but for one feature in 1e8, and sums over its features
/// twice.
[[nodiscard]] double mixing_error(const AttentionVariant& variant, std::size_t n, std::size_t d);

/// Σ (do_j/dq dq + do_j/dk dk + do_j/dv dv) for a change (dq, dk, dv) of the inputs. For softmax
/// kinds, with the rate r_ji = β(⟨dq_j, k_i⟩ + ⟨q_j, dk_i⟩) of a logit,
///
///     do_j = Σ_i p_ji dv_i + Σ_i p_ji r_ji v_i − (Σ_i p_ji r_ji) o_j.
///
/// A sink does not move (sink_derivative says what happens if it does); top:K keeps the keys that
/// it keeps, which is the derivative wherever its choice does not change.
///
///   Accuracy    double: (n + 4 d + 20 + 2 (d + 4) B) 2⁻⁵² of the sum of absolute values of all
///               terms, which is at most max‖dv‖ + 2 max|r| max‖v‖, B = β max‖q‖ max‖k‖.
///   Properties  (1) is the derivative of the outputs, for every kind and mask.
///               (2) the same bytes for any number of threads.
[[nodiscard]] Matrix<double> variant_jvp(const AttentionInputs& inputs,
                                         const AttentionVariant& variant,
                                         const AttentionInputs& change,
                                         const RunContext& context = {});

/// The gradient of Σ_j ⟨w_j, o_j⟩ with respect to the inputs, w one row per token. For softmax
/// kinds, with t_ji = β p_ji ⟨w_j, v_i − o_j⟩,
///
///     on q_j: Σ_i t_ji k_i,     on k_i: Σ_j t_ji q_j,     on v_i: Σ_j p_ji w_j.
///
///   Accuracy    as variant_jvp.
///   Properties  (1) is the transpose of variant_jvp: Σ⟨w, do⟩ = Σ⟨gradient, change⟩.
///               (2) the same bytes for any number of threads.
[[nodiscard]] AttentionMatrices variant_vjp(const AttentionInputs& inputs,
                                            const AttentionVariant& variant,
                                            MatrixView<const double> gradient,
                                            const RunContext& context = {});

/// ∂o_j/∂B = −p_j o_j for a sink of logit B, p_j being the sink's weight in row j: what a learned
/// sink needs beside the two products above. Zeros for kinds without a sink.
///
///   Accuracy    as variant_jvp.
///   Properties  (1) is the derivative of the outputs with respect to B.
[[nodiscard]] Matrix<double> sink_derivative(const AttentionInputs& inputs,
                                             const AttentionVariant& variant,
                                             const RunContext& context = {});

/// Keys whose products with values are added in float32 before the sum moves on to double.
inline constexpr std::size_t kMixedKeys = 64;

/// Float32 rounding of an output over the largest |v|, to first order in ε = 2⁻²³, for n keys,
/// dimension d and logits within ± scale. A weight e^{−y} is off by the exponential (kExpUlp and
/// kExpUlpPerUnit of y) and three roundings of y, half an ε each; weighted with p the mean of y is
/// at most log n, because the entropy log Z + Σ p y is. The logit behind it is off by d + 2
/// roundings (products, and q and k as float32). Both enter twice, above and below the fraction.
/// Values round once, kMixedKeys additions half an ε each, the quotient once more.
[[nodiscard]] double variant_error(std::size_t n, std::size_t d, double scale);

}  // namespace dewpoint::attention
