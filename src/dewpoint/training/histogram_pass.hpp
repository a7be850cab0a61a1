// One pass over packed histogram rows: losses and slopes, a vector of rows at a time.
//
// The formulas are those of row_formulas.hpp. Rows of one last token l share E_j = exp(Φ_lj − max),
// so that a row costs d exponentials, not 2d. This is safe while no E_j underflows; where a row of
// Φ spreads further than kWidestSpread, as it does late in training, the largest score of a context
// may belong to a token that the context lacks, and every context subtracts its own maximum.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "dewpoint/training/histogram_kernels.hpp"
#include "dewpoint/training/packed_rows.hpp"
#include "dewpoint/training/token_loss.hpp"

namespace dewpoint::training {

/// Largest max_j Φ_lj − min_j Φ_lj for which exponentials are shared: a sum over a context is then
/// at least exp(−kWidestSpread), far above the smallest normal number.
template <class Real>
inline constexpr double kWidestSpread = sizeof(Real) == sizeof(float) ? 60.0 : 600.0;

/// Largest |z_k − z_0| for which no maximum is subtracted from logits: d times its exponential, and
/// the reciprocal of that, are normal numbers.
template <class Real>
inline constexpr double kLargestExponent = sizeof(Real) == sizeof(float) ? 80.0 : 600.0;

/// Divides the slopes by the weight of the rows; returns the mean loss.
double take_means(const PassSums& sums, double weight, TokenMaps& means);

/// Real is float or double.
template <class Real>
class HistogramPass {
 public:
  HistogramPass(std::size_t vocabulary, bool residual);

  /// Losses and slopes at `at`. NaN when Φ or M is not finite. No allocation; the workspace makes
  /// this a function for one thread at a time.
  void slope(const PackedRows<Real>& rows, const TokenMaps& at, PassSums& sums);
  /// Their derivatives along `along`; in double only.
  void change(const PackedRows<Real>& rows, const TokenMaps& at, const TokenMaps& along,
              PassSums& sums);

 private:
  bool prepare(const TokenMaps& at);
  void prepare_change(const TokenMaps& along);

  PassWorkspace<Real> work_;
};

/// What rounding can do to a slope divided by the weight of its rows, ε that of Real: no entry of
/// ∂L/∂M is off by more than pass_error(), none of ∂L/∂Φ by more than 8 max|M| times that, the mean
/// loss by no more than 4 times that.
///
/// To first order in u = ε/2, with S the spread of Φ and b = 2 max|M| ≥ |M_jk − M_j0|. Errors that
/// all tokens of a row share, such as that of the maximum subtracted, drop out of shares and
/// probabilities.
///
///   share A_j         4S + d + 8              two roundings of an exponent, above and below; two
///                                             exponentials, d − 1 additions, products, quotient
///   logit z_k − z_0   (share + 2d + 4) b      absolute, with residual; M − M_·0 is rounded too
///   probability p_k   logit + 4b + d + 6      |z_k − z_0| ≤ 2b, then as for a share
///   B_j (w p − y)     2 (share + probability + d + 6), for B ≤ 2; 2 kShortSum more for the sums
///
/// Slopes that are minus the sum of others (k = 0; j = 0 of ∂L/∂Φ) are off by no more than these
/// allow for, as the errors are relative ones of p_k and A_j, which sum to at most 1.
[[nodiscard]] inline double pass_error(std::size_t vocabulary, double spread, double largest_value,
                                       double epsilon) {
  const auto d = static_cast<double>(vocabulary);
  const double bound = 2.0 * largest_value;
  const double share = 4.0 * spread + d + 8.0;
  const double logit = (share + 2.0 * d + 4.0) * bound;
  const double probability = logit + 4.0 * bound + d + 6.0;
  return (share + probability + d + 6.0 + static_cast<double>(kShortSum)) * epsilon;
}

}  // namespace dewpoint::training
