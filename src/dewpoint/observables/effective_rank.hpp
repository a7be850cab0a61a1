// How many directions a set of vectors still uses.
//
// The covariance of r vectors x_i of R^d, its eigenvalues as shares of their sum,
//
//     C = (1/r) Σ_i (x_i − x̄)(x_i − x̄)ᵀ,    p_k = μ_k/tr C,
//
// and the exponential of their entropy, exp(−Σ_k p_k log p_k): d when the vectors spread alike in
// all directions, 1 when they lie on a line [Roy and Vetterli 2007]. A layer that only shrinks all
// differences keeps it; one that leaves a few directions lowers it.
//
// A sample of r vectors underestimates it: equal eigenvalues come out unequal (Marchenko and
// Pastur), the entropy too low by about d/(2r) [Page 1993]. Compare samples of one size.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::observables {

/// The effective rank of the rows.
///
///   Domain      at least two rows, finite numbers. 0 where all rows are equal.
///   Accuracy    relative error at most effective_rank_error(rows, d).
///   Properties  (1) between 1 and min(d, r − 1) where rows differ.
///               (2) shifting, rotating or scaling all rows changes nothing.
///               (3) e^{H(p)} for eigenvalues of shares p; k where k are equal and the others 0.
///   Reference   [Roy and Vetterli 2007], of squared singular values.
[[nodiscard]] double effective_rank(MatrixView<const double> rows);

/// An eigenvalue is off by the rounding of a sum of r products and of the decomposition, δ of the
/// largest; that moves −p log p by at most δ(1 − log δ), and there are d of them.
[[nodiscard]] inline double effective_rank_error(std::size_t rows, std::size_t d) {
  const double delta = dense_error(d) + dense_error(rows);
  return static_cast<double>(d) * delta * (1.0 - std::log(delta));
}

}  // namespace dewpoint::observables
