// Linear attention: kinds whose weights are inner products of features (attention_kind.hpp), in
// time O(n m d) for m features.
//
//     o_j = Σ_i ⟨φ(q_j), φ(k_i)⟩ v_i / Σ_i ⟨φ(q_j), φ(k_i)⟩
//
// Both sums are one call of kernel_sums with a column of ones behind the values: over all keys
// without a mask, running under a causal one. Other masks would need a sum of their own for every
// query and are refused (check in attention_variant.hpp). All sums are double: they are so few that
// float32 would not buy time, and running sums must not drift.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dewpoint/attention/variants/attention_variant.hpp"
#include "dewpoint/attention/variants/feature_rows.hpp"
#include "dewpoint/attention/variants/kernel_sums.hpp"

namespace dewpoint::attention {

/// Linear attention at given inputs, which outlive it, and products with its Jacobian.
class LinearAttention {
 public:
  /// Features and sums.
  ///
  ///   Domain      a linear kind that check() lets pass. Throws Error{bad_value} if random
  ///               features under a causal mask leave some token only weights that underflow: it
  ///               sees none of the keys at which features are largest, by e^700. This takes
  ///               β max‖k‖² beyond 1e3 or so.
  LinearAttention(const AttentionInputs& inputs, const AttentionVariant& variant,
                  const RunContext& context = {});

  /// o.
  ///
  ///   Accuracy    (n + 2 m + d + 20) 2⁻⁵² of the largest |v|, beside the rounding of features:
  ///               with random ones their exponents, (d + 4) 2⁻⁵² of √β‖ω‖‖x‖ + β‖x‖², twice.
  ///   Properties  (1) equals reference_attention.
  ///               (2) the same bytes for any number of threads.
  [[nodiscard]] const Matrix<double>& outputs() const { return outputs_; }

  /// As variant_jvp. With N_j = Σ_i ⟨φ(q_j), φ(k_i)⟩ (v_i, 1) = (N_v, N_1) and its change dN,
  ///
  ///     do_j = (dN_v − o_j dN_1)/N_1.
  [[nodiscard]] Matrix<double> jvp(const AttentionInputs& change) const;
  /// As variant_vjp: the gradient on N is (w, −⟨w, o⟩)/N_1, kernel_sums.hpp says how it goes on.
  [[nodiscard]] AttentionMatrices vjp(MatrixView<const double> gradient) const;

  /// The statistics of some queries, with logits log⟨φ(q), φ(k)⟩. These need every pair: O(n m)
  /// each. A logit that lies 700 below the features' scale counts as 700 below.
  [[nodiscard]] std::vector<RowStatistics> rows(std::span<const std::size_t> queries) const;

 private:
  [[nodiscard]] Matrix<double> sums(MatrixView<const double> a, MatrixView<const double> b,
                                    MatrixView<const double> c) const;
  void divide();
  [[nodiscard]] RowStatistics statistics(std::size_t query, std::span<double> weights) const;

  AttentionInputs inputs_;
  AttentionVariant variant_;
  RunContext context_;
  SummedRows summed_;
  std::optional<FeatureRows> queries_, keys_;
  Matrix<double> values_;   // (v_i, 1)
  Matrix<double> outputs_;  // o_j
  std::vector<double> normalisers_;
};

}  // namespace dewpoint::attention
