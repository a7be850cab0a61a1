// The weights of a small transformer, or anything that has one number per weight: a gradient, a
// moment.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::transformer {

template <class Real>
struct LayerWeights {
  Matrix<Real> query, key;  // WQ, WK: m x m
  Matrix<Real> value;       // WV: m x m; empty without a value matrix
};

template <class Real>
struct Weights {
  Matrix<Real> embedding;    // W0: V x m
  Matrix<Real> unembedding;  // W1: m x V
  std::vector<LayerWeights<Real>> layers;

  Weights() = default;
  /// All zero.
  explicit Weights(const Shape& shape);
};

/// The matrices that are there, in their order: W0, W1, then WQ, WK (and WV) of one layer after the
/// other. Pointers to constant ones where the weights are.
template <class AnyWeights>
[[nodiscard]] auto matrices_of(AnyWeights& weights) {
  std::vector all{&weights.embedding, &weights.unembedding};
  for (auto& layer : weights.layers) {
    all.push_back(&layer.query);
    all.push_back(&layer.key);
    if (layer.value.size() > 0) all.push_back(&layer.value);
  }
  return all;
}

/// "W0", "W1", "layers.0.WQ", "layers.0.WK", "layers.0.WV", ...: in the order of matrices_of().
[[nodiscard]] std::vector<std::string> matrix_names(const Shape& shape);

/// Independent N(0, deviation²) entries in the order of matrices_of(), row by row, from the stream
/// (seed, "training/initial", replica).
///
///   Domain      a shape that check() lets pass.
///   Properties  (1) without a value matrix they are those of training::initial_layers().
///               (2) heads, residual, branch, mask and norm change nothing.
template <class Real>
[[nodiscard]] Weights<Real> initial_weights(const Shape& shape, double deviation,
                                            std::uint64_t seed, std::uint64_t replica);

}  // namespace dewpoint::transformer
