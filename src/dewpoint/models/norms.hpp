// Normalisation of a hidden vector: RMSNorm (Llama and its family) and LayerNorm (GPT-2).
//
//     RMSNorm     y_k = g_k x_k/√(mean x² + ε)
//     LayerNorm   y_k = g_k (x_k − mean x)/√(var x + ε) + b_k
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::models {

enum class NormKind { root_mean_square, layer };

struct Norm {
  NormKind kind = NormKind::root_mean_square;
  std::vector<float> scale;  // g; empty: 1
  std::vector<float> shift;  // b; empty: 0, as in RMSNorm
  double epsilon = 1e-5;     // ε
};

/// One vector; `out` may be `in`. Sums are double, and each element is rounded once.
///
///   Domain      as many elements as norm.scale, where it is not empty.
///   Accuracy    half a unit in the last place of float32, plus 1e-15 relative.
///   Properties  (1) with g = 1, b = 0, ε = 0 the mean square of y is 1.
///               (2) LayerNorm does not change when a constant is added to x.
void normalise(const Norm& norm, std::span<const float> in, std::span<float> out);

/// Every row.
void normalise(const Norm& norm, MatrixView<const float> in, MatrixView<float> out);

}  // namespace dewpoint::models
