// What a layer is handed on its way forth and back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/transformer/batch_index.hpp"

namespace dewpoint::transformer {

/// What a layer reads: one row per state.
template <class Real>
struct LayerInput {
  std::size_t layer = 0;
  MatrixView<const Real> states;   // X
  MatrixView<const Real> carried;  // Z, which a residual carries on; X itself without pre-norm
  std::span<const Real> factors;   // X = f Z; empty without pre-norm
};

/// A batch and what is known about it.
template <class Real>
struct IndexedBatch {
  const Batch& batch;
  const BatchIndex& index;
  std::span<const Real> log_counts;  // empty: all are 0

  [[nodiscard]] std::span<const Real> log_counts_of(Range rows) const {
    return log_counts.empty() ? log_counts : log_counts.subspan(rows.begin, rows.size());
  }
};

}  // namespace dewpoint::transformer
