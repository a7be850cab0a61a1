// The inner loop of the pass over packed rows, vectorised with Highway and dispatched at run time.
//
// Vectors hold numbers or dual numbers (x, ẋ) with (x, ẋ)(y, ẏ) = (xy, xẏ + ẋy): with these the
// same code gives the exact derivative of the slope along a direction of (Φ, M).
//
// A softmax does not see what all its logits share, and its slopes sum to zero: everything is taken
// relative to logit 0, and of d logits and slopes d − 1 are computed. Panels of kShortSum vectors
// go through one part of the formulas after the other, so that their chains of dependent operations
// overlap; sums over a panel are kept in Real, then added to sums in double. Their order is fixed
// by the rows and by the instruction set. Who fills the workspace and why it is safe:
// histogram_pass.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/training/packed_rows.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

inline constexpr std::size_t kShortSum = 8;

/// Sums over rows, not divided by their weight.
struct PassSums {
  std::vector<double> losses;  // by last token
  TokenMaps slope;

  explicit PassSums(std::size_t vocabulary) : losses(vocabulary), slope(vocabulary) {}
};

/// What the vectors read (d x d numbers each) and where they add (one line per sum).
template <class Real>
struct PassWorkspace {
  std::size_t vocabulary = 0;
  bool residual = false;
  std::vector<bool> shared;       // by last token: exponentials are shared
  Matrix<Real> attention;         // E, or Φ less the maximum of its row where not shared
  Matrix<Real> attention_change;  // the ẋ of these
  bool bounded = false;           // no exponential of a logit leaves the range of Real
  Matrix<Real> value;             // M less its column 0
  Matrix<Real> value_change;
  Matrix<double> totals;  // by lanes: d² slopes by M, d by Φ, the loss
};

namespace kernels {

/// Losses and slopes.
void slope(const PackedRows<float>& rows, PassWorkspace<float>& work, PassSums& sums);
void slope(const PackedRows<double>& rows, PassWorkspace<double>& work, PassSums& sums);
/// Their derivatives, by dual numbers.
void change(const PackedRows<double>& rows, PassWorkspace<double>& work, PassSums& sums);

}  // namespace kernels
}  // namespace dewpoint::training
