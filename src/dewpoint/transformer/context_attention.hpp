// Attention of all rows of one context on each other, forwards and backwards, by matrix products.
//
// A context whose weights are kept is one strip of queries. A longer one is taken in strips of
// kKeptContext queries, whose weights are made again on the way back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/transformer/logit_multipliers.hpp"
#include "dewpoint/transformer/room.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::transformer {

/// Queries, keys and values of a context, n x m each, or ∂L/∂ of them; head h is columns S_h.
template <class Real>
struct Operands {
  MatrixView<Real> query, key, value;
};

/// The workspace of one thread; nothing is allocated after construction.
template <class Real>
class ContextAttention {
 public:
  /// For contexts of up to `longest` rows.
  ContextAttention(const Shape& shape, std::size_t longest);

  /// out = A V for every head. `log_counts` is added to the scores of the keys (empty: nothing is).
  /// Weights go to `kept`, [head][query][key], unless that is empty.
  void forward(const Operands<const Real>& of, std::span<const Real> log_counts,
               std::span<Real> kept, MatrixView<Real> out);

  /// From ∂L/∂out to the slopes of the operands: that of the queries is set, those of keys and
  /// values are added to (they may be one matrix).
  void backward(const Operands<const Real>& of, std::span<const Real> log_counts,
                std::span<Real> kept, MatrixView<const Real> out_slope,
                const Operands<Real>& slopes);

  /// What the softmax of a head sees, n x n. Entries behind a mask mean nothing.
  void scores(const Operands<const Real>& of, std::span<const Real> log_counts, std::size_t head,
              MatrixView<Real> out) const;

 private:
  struct Strip;
  template <class Body>
  void for_strips(std::size_t rows, bool kept, const Body& body) const;
  [[nodiscard]] Range columns_of(std::size_t head) const {
    return {head * head_width_, (head + 1) * head_width_};
  }
  [[nodiscard]] MatrixView<Real> weights_of(const Strip& strip, std::span<Real> kept);
  void score_strip(const Strip& strip, const Operands<const Real>& of,
                   std::span<const Real> log_counts, MatrixView<Real> scores) const;
  void weigh_strip(const Strip& strip, const Operands<const Real>& of,
                   std::span<const Real> log_counts, MatrixView<Real> weights) const;
  void take_slopes(const Strip& strip, MatrixView<const Real> weights,
                   MatrixView<Real> slopes) const;

  std::size_t heads_, head_width_;
  bool causal_;
  LogitMultipliers<Real> multipliers_;
  Room<Real> weights_, slopes_;
};

}  // namespace dewpoint::transformer
