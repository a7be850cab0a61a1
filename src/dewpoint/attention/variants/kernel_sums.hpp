// Sums over keys whose weights are inner products: the one loop behind linear attention.
//
//     S(a, b, c)_j = Σ_i ⟨a_j, b_i⟩ c_i,     i over all rows, over i ≤ j, or over i ≥ j
//
// costs O(n m d) instead of O(n² (m + d)) because Σ_i b_i c_iᵀ, an m x d matrix, can be summed
// before a_j is known, and kept as a running sum where i is bounded by j. S is linear in each of
// a, b and c; so its derivative is three such sums, and its transpose three others:
//
//     gradient on c: S'(b, a, g)      on a: S(g, c, b)      on b: S'(c, g, a)
//
// with S' the sum over i ≥ j where S is over i ≤ j.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::attention {

enum class SummedRows { all, up_to_own, from_own };

/// The rows over which the transpose sums.
[[nodiscard]] SummedRows transposed(SummedRows rows);

/// S(a, b, c), one row per row of a, by BLAS in double: chunks of rows are summed each for itself,
/// their sums added in order, and the triangle within a chunk is formed. Memory O(n (m + d)).
///
///   Domain      a, b, c with n rows; a and b with m columns.
///   Accuracy    (n + m) 2⁻⁵² of Σ_i Σ_k |a_jk b_ik c_i|.
///   Properties  (1) equals the double sum.
///               (2) the same bytes for any number of threads.
[[nodiscard]] Matrix<double> kernel_sums(SummedRows rows, MatrixView<const double> a,
                                         MatrixView<const double> b, MatrixView<const double> c,
                                         const RunContext& context);

}  // namespace dewpoint::attention
