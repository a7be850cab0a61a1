// Operations of the products of a step: what is counted, and what decides whether other threads are
// worth starting.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/transformer/batch.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::transformer {

/// One product of rows x inner and inner x columns.
[[nodiscard]] inline double product_cost(std::size_t rows, std::size_t inner, std::size_t columns) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) *
         static_cast<double>(columns);
}

/// One product of attention weights, n x n, and n x m rows, in all contexts together; the weights
/// behind a mask are counted too.
[[nodiscard]] inline double context_product_cost(const Shape& shape, const Batch& batch) {
  double cost = 0.0;
  for (std::size_t c = 0; c < batch.contexts(); ++c) {
    const std::size_t n = batch.context(c).size();
    cost += product_cost(n, n, shape.width);
  }
  return cost;
}

/// One product of the weights of every asked row and `columns` of the rows that it sees.
[[nodiscard]] inline double asked_product_cost(const Shape& shape, const Batch& batch,
                                               std::size_t columns) {
  double cost = 0.0;
  std::size_t context = 0;
  for (const std::uint32_t row : batch.asked) {
    while (batch.begins[context + 1] <= row) ++context;
    const Range rows = batch.context(context);
    cost += product_cost(1, shape.causal ? row + 1 - rows.begin : rows.size(), columns);
  }
  return cost;
}

/// A pass over so many numbers, in operations of products: it waits for memory.
[[nodiscard]] inline double pass_cost(std::size_t rows, std::size_t columns) {
  return 8.0 * product_cost(rows, 1, columns);
}

}  // namespace dewpoint::transformer
