// The largest singular values of a Jacobian that is known only by its products.
//
// They say how much the worst, and the next worst, small change of the tokens is stretched by a
// layer or a chain of layers. Lanczos with implicit restarts (Spectra) finds the top of the
// spectrum of JᵀJ from products alone; no matrix of side n d is formed.
//
// A Krylov space that grows from one vector holds one vector of each eigenspace, so a singular
// value of higher multiplicity, as symmetric token sets have them, may be listed too few times or
// even hide a smaller one's place. Hence a second look: the largest singular value of J on the
// complement of what was found must not exceed the last one listed; if it does, it is taken in and
// the look is repeated.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "dewpoint/attention/jacobian_products.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::attention {

struct SingularValueOptions {
  /// Vectors of side n d that are kept: more of them, fewer restarts. 0: the larger of 20 and
  /// 2 count + 1. At least count + 1 and at most n d are used.
  std::size_t basis = 0;
  /// Restarts before giving up; each costs about basis − count products with JᵀJ.
  std::size_t restarts = 1000;
};

struct SingularValues {
  std::vector<double> values;              // σ_1 ≥ σ_2 ≥ ...
  std::vector<Matrix<double>> directions;  // v_k, n x d, of length 1, orthogonal: ‖J v_k‖ = σ_k
};

/// The `count` largest singular values of J with their right singular vectors, in decreasing order,
/// each as often as its multiplicity. σ_k is computed as ‖J v_k‖.
///
/// Nothing is returned when Lanczos has not converged within the restarts: eigenvalues of JᵀJ near
/// the last one asked for lie closer together than the basis can separate.
///
///   Domain      1 ≤ count < n d, else Error{bad_value}. `stream` gives the start vectors.
///   Accuracy    ‖JᵀJ v_k − σ_k² v_k‖ ≤ kSingularValueError σ_1² as far as the products are exact,
///               so that each σ_k² is within this distance of the square of a singular value.
///   Properties  (1) the residuals keep this bound.
///               (2) agrees with a dense singular value decomposition, multiplicities included.
///               (3) scales with J, however small J is.
///   Reference   [Sorensen, SIAM J. Matrix Anal. Appl. 13 (1992) 357].
[[nodiscard]] std::optional<SingularValues> top_singular_values(
    const JacobianOperator& jacobian, std::size_t count, const Stream& stream,
    const SingularValueOptions& options = {});

inline constexpr double kSingularValueError = 1e-12;

}  // namespace dewpoint::attention
