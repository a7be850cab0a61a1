// What the logits of a query are multiplied with: m(n) of the law of a shape, n being the number of
// keys that the query sees, for the way forth and, as a factor of slopes, for the way back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::transformer {

template <class Real>
class LogitMultipliers {
 public:
  /// For contexts of up to `longest` rows.
  LogitMultipliers(const Shape& shape, std::size_t longest);

  /// row ← m row, the row being as long as its query sees keys, in a context of so many rows.
  /// Without a law the row is not touched.
  ///
  ///   Domain      1 ≤ row.size() ≤ context ≤ longest.
  ///   Accuracy    m rounded to Real, and one rounding.
  void apply(std::size_t context, std::span<Real> row) const {
    if (of_count_.empty()) return;
    const Real factor = of_count_[(set_once_ ? context : row.size()) - 1];
    for (Real& number : row) number *= factor;
  }

 private:
  std::vector<Real> of_count_;  // m(1), m(2), ...; empty: no law
  bool set_once_ = false;       // m of the context, for all of its queries
};

}  // namespace dewpoint::transformer
