// Decompositions of dense matrices of doubles, by Eigen.
//
// The one place that compiles them: in every source that names one they cost seconds to minutes.
// All functions read a row-major view of any stride, change nothing and run on the calling thread,
// so the same matrix gives the same bytes every time.
//
// Accuracy is that of backward stable methods. With ε the double epsilon, n the larger side and
// ‖A‖ the largest singular value, what is returned belongs to a matrix at most
// kEmpiricalDenseRoundings n ε ‖A‖ away from A. Eigenvalues of symmetric matrices and singular
// values move by no more than that; other eigenvalues and solutions by as much times their
// condition number.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

/// The largest error over n ε ‖A‖ of 108 matrices, random, graded and of rank one, up to n = 60,
/// was 1.7 (singular values; 1.4 for what belongs to symmetric matrices, 0.4 for systems),
/// 2026-11-16.
inline constexpr double kEmpiricalDenseRoundings = 4.0;

/// kEmpiricalDenseRoundings n ε.
[[nodiscard]] constexpr double dense_error(std::size_t side) {
  return kEmpiricalDenseRoundings * static_cast<double>(side) *
         std::numeric_limits<double>::epsilon();
}

// ---- linear systems ----------------------------------------------------------------------------

/// x of A x = b, by LU with partial pivoting.
///
///   Domain      A square and not singular. A singular one gives numbers that are not finite or
///               mean nothing.
///   Properties  (1) ‖A x − b‖ ≤ dense_error(n) ‖A‖ ‖x‖.
[[nodiscard]] std::vector<double> lu_solve(MatrixView<const double> a, std::span<const double> b);

/// A⁻¹, by LU with partial pivoting. The same domain.
///
///   Properties  (1) ‖A A⁻¹ − I‖ ≤ n dense_error(n) ‖A‖ ‖A⁻¹‖.
[[nodiscard]] Matrix<double> lu_inverse(MatrixView<const double> a);

// ---- symmetric matrices ------------------------------------------------------------------------

/// W Wᵀ or WᵀW, the smaller of the two: both have the squares of the singular values of W.
[[nodiscard]] Matrix<double> smaller_gram(MatrixView<const double> w);

/// Eigenvalues of a symmetric matrix, the smallest first: Householder's tridiagonal form and
/// implicit QR steps. Only the lower triangle is read. All are NaN where an entry is not finite.
///
///   Properties  (1) within dense_error(n) ‖A‖ of the exact ones.
[[nodiscard]] std::vector<double> symmetric_eigenvalues(MatrixView<const double> a);

/// A = Σ_k values[k] v_k v_kᵀ with v_k the column k of `vectors`; their signs as they come.
///
///   Properties  (1) the values are within dense_error(n) ‖A‖ of the exact ones.
///               (2) ‖A v_k − values[k] v_k‖ ≤ dense_error(n) ‖A‖.
///               (3) |⟨v_k, v_l⟩ − δ_kl| ≤ dense_error(n).
struct SymmetricEigen {
  std::vector<double> values;  // the smallest first
  Matrix<double> vectors;
};
[[nodiscard]] SymmetricEigen symmetric_eigen(MatrixView<const double> a);

/// e^{tA} x for a symmetric A: where the flow x' = A x is after a time t.
///
///   Properties  (1) e^{sA} e^{tA} x = e^{(s+t)A} x, and x for t = 0, up to dense_error(n) times
///                   |t| ‖A‖ + 1 of the largest growth e^{tλ} times ‖x‖.
[[nodiscard]] std::vector<double> symmetric_exponential(MatrixView<const double> a, double time,
                                                        std::span<const double> x);

// ---- any square matrix -------------------------------------------------------------------------

using Complex = std::complex<double>;

/// Eigenvalues of a square matrix, in no order: Hessenberg's form and QR steps of Francis. Absent
/// where the steps do not converge, as for entries that are not finite.
///
///   Properties  (1) those that are not real come in conjugate pairs.
[[nodiscard]] std::optional<std::vector<Complex>> general_eigenvalues(MatrixView<const double> a);

/// A = Σ_k values[k] r_k l_k with r_k the column k of `right`, of length 1, and l_k the row k of
/// `left`, the inverse of `right`.
///
///   Domain      a matrix with n independent eigenvectors; for others `left` means nothing.
///   Properties  (1) ‖A r_k − values[k] r_k‖ ≤ dense_error(n) ‖A‖.
///               (2) ⟨l_k, r_l⟩ = δ_kl up to n dense_error(n) times the condition number of
///               `right`.
struct EigenModes {
  std::vector<Complex> values;
  Matrix<Complex> right, left;
};
[[nodiscard]] std::optional<EigenModes> eigen_modes(MatrixView<const double> a);

// ---- any matrix --------------------------------------------------------------------------------

/// The singular values, min(rows, cols) of them, the largest first: bidiagonal form, then divide
/// and conquer. All are NaN where an entry is not finite.
///
///   Properties  (1) within dense_error(n) of the largest from the exact ones.
[[nodiscard]] std::vector<double> singular_values(MatrixView<const double> a);

/// Q of A = Q R, R upper triangular with no negative number on its diagonal: as many orthonormal
/// columns as A has, by Householder's reflections. All are NaN where an entry is not finite.
///
///   Domain      at least as many rows as columns.
///   Properties  (1) |⟨q_k, q_l⟩ − δ_kl| ≤ dense_error(n).
///               (2) QᵀA is upper triangular up to dense_error(n) ‖A‖, and no number on its
///                   diagonal is below −dense_error(n) ‖A‖.
///               (3) of a square matrix of independent standard normal entries, Q is uniform among
///                   the orthogonal matrices (Haar); the signs of R are what makes it so.
///   Reference   [Mezzadri 2007].
[[nodiscard]] Matrix<double> orthonormal_factor(MatrixView<const double> a);

}  // namespace dewpoint
