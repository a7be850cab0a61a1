// The ways of all embeddings in the plane in which they vary most.
//
// The points are the rows of W0 of every token at every recorded time, less the mean of all of
// them; the plane is spanned by the two leading eigenvectors of Σ x xᵀ (principal components).
// Their signs are chosen so that token 0 ends at coordinates ≥ 0.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dewpoint/training/record.hpp"

namespace dewpoint::training {

struct EmbeddingPaths {
  std::vector<double> coordinates;   // (time, token, component), row-major; two components
  double explained[2] = {0.0, 0.0};  // share of the variance
};

/// Where all points coincide, or m = 1 leaves no second direction, coordinates and shares are 0.
[[nodiscard]] EmbeddingPaths embedding_paths(std::span<const Record> records);

}  // namespace dewpoint::training
