// The weights of the one-layer model, their start, and the way from them to Φ and M and back.
//
//     TQ = W0 WQ,  TK = W0 WK,  Φ = TQ TKᵀ,  M = W0 W1
//
//     ∂L/∂TQ = (∂L/∂Φ) TK                 ∂L/∂TK = (∂L/∂Φ)ᵀ TQ
//     ∂L/∂W0 = (∂L/∂M) W1ᵀ + (∂L/∂TQ) WQᵀ + (∂L/∂TK) WKᵀ
//     ∂L/∂W1 = W0ᵀ (∂L/∂M),  ∂L/∂WQ = W0ᵀ (∂L/∂TQ),  ∂L/∂WK = W0ᵀ (∂L/∂TK)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

template <class Real>
struct Parameters {
  Matrix<Real> embedding;    // W0: d x m
  Matrix<Real> unembedding;  // W1: m x d
  Matrix<Real> query;        // WQ: m x m
  Matrix<Real> key;          // WK: m x m

  Parameters() = default;
  Parameters(std::size_t vocabulary, std::size_t width)
      : embedding(vocabulary, width),
        unembedding(width, vocabulary),
        query(width, width),
        key(width, width) {}

  [[nodiscard]] std::size_t vocabulary() const { return embedding.rows(); }
  [[nodiscard]] std::size_t width() const { return embedding.cols(); }
};

/// Independent N(0, deviation²) entries, numbered through W0, W1, WQ, WK row by row, from the
/// stream (seed, "training/initial", replica).
[[nodiscard]] Parameters<double> initial_parameters(std::size_t vocabulary, std::size_t width,
                                                    double deviation, std::uint64_t seed,
                                                    std::uint64_t replica);

[[nodiscard]] Parameters<float> to_single(const Parameters<double>& parameters);
[[nodiscard]] Parameters<double> to_double(const Parameters<float>& parameters);

/// Φ and M.
[[nodiscard]] TokenMaps token_maps(const Parameters<double>& parameters);

/// The gradient with respect to the weights, from that with respect to Φ and M.
[[nodiscard]] Parameters<double> weight_gradient(const Parameters<double>& parameters,
                                                 const TokenMaps& slope);

/// How Φ and M change, to first order, when the weights change by `along`.
[[nodiscard]] TokenMaps token_maps_change(const Parameters<double>& parameters,
                                          const Parameters<double>& along);

/// The Hessian of L over all weights times a direction; costs about two gradients. Domain: a loss
/// over its whole data set at every step, no minibatch.
[[nodiscard]] Parameters<double> hessian_product(const TokenLoss& loss,
                                                 const Parameters<double>& parameters,
                                                 const Parameters<double>& along);

}  // namespace dewpoint::training
