// One attention layer on a handful of tokens written out coordinate by coordinate, and its Jacobian
// by complex step: no formula for a derivative enters, so it can judge those that have one.
//
// The derivative of an analytic f at x is Im f(x + i h)/h with h = 1e-30: nothing is subtracted, so
// it is as accurate as f itself [Squire, Trapp 1998].
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::experiments {

/// x'_i = Σ_j A_ij y_j + α x_i with y = x/‖x‖ and A = softmax(β y yᵀ), in double.
struct ExplicitLayer {
  Matrix<double> directions;  // y, n x d
  Matrix<double> weights;     // A, n x n
  Matrix<double> mixed;       // m = A y, n x d
  Matrix<double> outputs;     // x', n x d
};

/// Domain: n ≥ 1, d ≥ 1, no token is zero, β ≥ 0, any α.
[[nodiscard]] ExplicitLayer explicit_layer(const Matrix<double>& tokens, double inverse_temperature,
                                           double residual);

/// Derivatives by complex step, (n d) x (n d): entry (j d + v, i d + u) is the derivative of
/// coordinate v of output j with respect to coordinate u of token i. O(n³ d²): for small n d.
[[nodiscard]] Matrix<double> complex_step_jacobian(const Matrix<double>& tokens,
                                                   double inverse_temperature, double residual);

/// Derivatives by complex step of the mixing alone, m_j = Σ_i A_ji y_i with A = softmax(β y yᵀ),
/// where y are free vectors that are not normalised; ordered as above.
[[nodiscard]] Matrix<double> complex_step_mixing(const Matrix<double>& points,
                                                 double inverse_temperature);

/// η = ‖J‖_F²/(n d) of a Jacobian J of n tokens in R^d: the sum of squares of its entries over its
/// number of rows. Summed row by row, so that 2 n d roundings bound its relative error.
[[nodiscard]] double mean_squared_gain(const Matrix<double>& jacobian);

/// η of the layer without forming J, from the blocks of attention/jacobian_reference.hpp: O(n³) and
/// O(n² d), for hundreds of tokens. Agrees with mean_squared_gain(complex_step_jacobian(..)).
[[nodiscard]] double gradient_norm(const Matrix<double>& tokens, double inverse_temperature,
                                   double residual);

}  // namespace dewpoint::experiments
