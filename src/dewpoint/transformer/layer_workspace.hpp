// The memory that layers in which every row asks (full_layer.hpp) use one after the other, and how
// wide their projections are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/transformer/context_attention.hpp"
#include "dewpoint/transformer/network.hpp"
#include "dewpoint/transformer/room.hpp"

namespace dewpoint::transformer {

/// States whose projections are one product.
inline constexpr std::size_t kStateBlock = 256;
/// Slopes of weights are sums over states, made in at most so many parts of at least so many.
inline constexpr std::size_t kParts = 8, kPartStates = 512;

/// Whether one matrix WQ WKᵀ serves so many states at less cost than two.
[[nodiscard]] bool merges_keys(const Shape& shape, std::size_t states);

/// Columns of W, and of P = X W.
[[nodiscard]] std::size_t projected_columns(const Shape& shape, bool merged);

/// What the layers use one after the other.
template <class Real>
struct LayerWorkspace {
  struct Lane {
    ContextAttention<Real> attention;
    Room<Real> gathered;  // operands of a context, where rows share states
    Room<Real> mixed;     // A V, or ∂L/∂ of it
  };
  std::vector<Lane> lanes;
  Room<Real> slope;            // ∂L/∂Z of every row
  Room<Real> state_slope;      // ∂L/∂X of every row, as far as it does not go through W
  Room<Real> projected_slope;  // ∂L/∂P of every row
  Room<Real> token_slope, token_projected;  // the last two, summed over the rows of a token
  Room<Real> token_carried;                 // and ∂L/∂Z, with pre-norm and residual
  Room<Real> partial;                       // sums of Xᵀ ∂L/∂P over parts of the states

  /// For so many layers of this kind; without any, only the slopes of states have room.
  LayerWorkspace(const Shape& shape, const Capacity& capacity, std::size_t full_layers);
};

}  // namespace dewpoint::transformer
