// One self-attention layer on tokens, with Q = K = V = I and a residual:
//
//     x'_i = Σ_j A_ij y_j + α x_i,   A_ij ∝ exp(β ⟨y_i, y_j⟩),   y_i = x_i / ‖x_i‖
//
// (Eq 3-5 of [CAS], docs/notation.md). Two paths compute it: `reference_layer` (reference.hpp),
// double and obvious, O(n² d) scalar work; and `layer` here, float32 blocks through BLAS, symmetric
// (each pair of tokens once), streaming: memory O(n d), never n x n. Both pass tests/conformance.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/core/centred_cloud.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/token_cloud.hpp"

namespace dewpoint::attention {

struct Layer {
  double inverse_temperature = 1.0;  // β
  double residual = 0.0;             // α
};

/// What a layer made of the tokens `rows`: x'_i = base + deviations_i, kept apart so that angles
/// between collapsing outputs survive (centred_cloud.hpp), and the moments of each row's weights.
struct LayerResult {
  std::vector<std::size_t> rows;
  std::vector<double> base;
  Matrix<double> deviations;
  std::vector<RowMoments> moments;

  [[nodiscard]] CentredCloud directions() const;
};

/// The layer on every token.
///
///   Accuracy    float32 products: the contraction of a regular simplex of n ≤ 512 tokens is exact
///               to kLayerError, relative.
///   Properties  (1) equal bytes for any number of threads.
///               (2) agrees with reference_layer on every cloud of tests/conformance.
[[nodiscard]] LayerResult layer(const TokenCloud& tokens, const Layer& parameters,
                                const RunContext& context = {});

/// The layer on some of the tokens only (their keys are still all tokens): cost O(rows · n · d).
[[nodiscard]] LayerResult layer_on_rows(const TokenCloud& tokens, const Layer& parameters,
                                        std::vector<std::size_t> rows,
                                        const RunContext& context = {});

inline constexpr double kLayerError = 1e-6;

/// (1/n) Σ_i x_i, norms included.
[[nodiscard]] std::vector<double> mean_of_tokens(const TokenCloud& tokens);

/// Adds α x_i to the outputs: the mean over all tokens goes to the base, the rest to the
/// deviations.
void add_residual(const TokenCloud& tokens, double alpha, LayerResult& result);

}  // namespace dewpoint::attention
