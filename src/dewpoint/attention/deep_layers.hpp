// Many layers one after the other, in double, with every angle kept however small it becomes.
//
// The layer of layer.hpp, x'_i = Σ_j A_ij y_j + α x_i, is iterated with the directions of its own
// outputs. Once tokens have collapsed, their gaps Δ_ij = 1 − ⟨y_i, y_j⟩ shrink as the cube of
// themselves per layer: 1e-6, 1e-17, 1e-48, 1e-143, and the next is no double any more. So tokens
// are kept as
//
//     y_i = u + 2^k e_i,    Δ_ij = 4^k · ½‖e_i − e_j‖²,
//
// with a unit vector u, offsets e_i of order 1 and an exponent k of any size. With a = β 4^k and
// gaps in units of 4^k, a row of attention is the uniform row plus a small one,
//
//     A_ij = (1 + Q_ij)/(n + Σ_l Q_il),    Q_ij = expm1(−a Δ_ij)  (→ −a Δ_ij as a → 0),
//     Σ_j A_ij y_j = u + 2^k (ē + δ_i),    δ_i = (Σ_j Q_ij e_j − ē Σ_j Q_ij)/(n + Σ_j Q_ij),
//
// where the factor a comes out of Q, and with it the scale of the next layer. With κ_i = α‖x_i‖,
//
//     x'_i = (1 + κ_i) [ u + 2^k ē + 2^k (δ_i + κ_i (e_i − ē))/(1 + κ_i) ],
//
// so that tokens of different norms also share their large part. The offsets of the new directions
// follow without subtracting nearly equal numbers (of_deviations). Rows in which a gap exceeds 1/β
// use the weights exp(−aΔ) directly: there δ_i is no smaller than the offsets. So do all rows under
// a mask, because rows that see different keys differ by the means of those, at first order.
//
// There is one frame for all tokens. The gap of a pair that is far closer than the cloud is wide is
// known to 2^−52 of the width of the cloud, not of the pair: relative accuracy √(largest/own gap)
// times worse, none left below kUnresolvedGap of the largest. Clusters that collapse each on its
// own while they stay apart come to that point; theory/two_level_depth.hpp goes beyond it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/mask.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/token_cloud.hpp"

namespace dewpoint::attention {

/// Tokens between two layers.
class DeepTokens {
 public:
  /// Tokens as they are given; a direction that is a unit vector only up to rounding is normalised.
  explicit DeepTokens(const TokenCloud& tokens);

  /// The tokens x_i = lengths_i (base + 2^exponent deviations_i). Their offsets are taken from the
  /// direction u of v = base + 2^exponent · mean(deviations): with c = ‖v‖, σ = 2^exponent,
  /// D_i = deviations_i − mean, m_i = ‖v + σD_i‖,
  ///
  ///     y_i − u = σ (D_i − u (2c⟨D_i, u⟩ + σ‖D_i‖²)/(c + m_i)) / m_i,    ‖x_i‖ = lengths_i m_i.
  ///
  /// For v = 0 the offsets are the directions themselves. Throws Error{bad_value} when some x_i is
  /// 0, which has no direction.
  static DeepTokens of_deviations(std::span<const double> base, Matrix<double> deviations,
                                  double exponent, std::vector<double> lengths);

  [[nodiscard]] std::size_t size() const { return offsets_.rows(); }
  [[nodiscard]] std::size_t dimension() const { return offsets_.cols(); }
  [[nodiscard]] const std::vector<double>& norms() const { return norms_; }
  [[nodiscard]] const std::vector<double>& centre() const { return centre_; }
  [[nodiscard]] MatrixView<const double> offsets() const { return offsets_; }
  /// k, a whole number. From kLeastExponent on, after some 600 layers, it stays.
  [[nodiscard]] double exponent() const { return exponent_; }
  /// ½‖e‖² of the longest offset.
  [[nodiscard]] double largest_half_square() const { return largest_half_square_; }

  /// log Δ_ij; −∞ for tokens that cannot be told apart.
  [[nodiscard]] double log_gap(std::size_t i, std::size_t j) const;
  /// out(i, j) = ½‖e_i − e_j‖² of tokens rows.begin + i and cols.begin + j: gaps in units of 4^k.
  /// One matrix product; pairs in which it cancels are done again coordinate by coordinate.
  void gaps(Range rows, Range cols, MatrixView<double> out) const;

  /// Directions and norms as plain doubles, for whoever needs no gaps.
  [[nodiscard]] TokenCloud cloud() const;

 private:
  DeepTokens() = default;
  void settle();

  std::vector<double> centre_;
  Matrix<double> offsets_;
  std::vector<double> half_squares_;
  std::vector<double> norms_;
  double exponent_ = 0.0;
  double largest_half_square_ = 0.0;
};

inline constexpr double kLeastExponent = -1e300;

/// The tokens after one layer.
///
///   Domain      β ≥ 0, α ≥ 0, any number of tokens in any dimension. A single token keeps its
///               direction; in one dimension directions are signs, and gaps 0 or 2 up to rounding.
///               Throws Error{bad_value} when an output is 0.
///   Accuracy    relative error of a gap for exact inputs about deep_layer_error(n, d), times
///               √(largest/own gap). An error of the inputs is passed on, once without residual
///               three times as large: gaps are cubed.
///   Cost        O(n² d), memory O(n d) and kDeepStrip rows of n weights per thread.
///   Properties  (1) every gap agrees with arithmetic of hundreds of digits, through any number of
///                   layers, with and without residual, norms, mask, and on the whole sphere.
///               (2) agrees with reference_layer.
///               (3) equal bytes for any number of threads.
[[nodiscard]] DeepTokens deep_layer(const DeepTokens& tokens, const Layer& parameters,
                                    const Mask& mask = {}, const RunContext& context = {});

/// Roundings of sums of n weighted offsets and of d coordinates, relative to the largest offset,
/// twice since a gap is a square.
[[nodiscard]] constexpr double deep_layer_error(std::size_t n, std::size_t d) {
  return 2.0 * static_cast<double>(n + d + 8) * std::numeric_limits<double>::epsilon();
}

inline constexpr std::size_t kDeepStrip = 64;

/// What the angles of a set of tokens look like. Without pairs (a single token) gaps are 0.
struct DeepAngles {
  double log_mean_gap;  // over all pairs i < j; −∞ when all tokens are equal
  double smallest_cosine;
  double mean_cosine;
  double largest_cosine;
  /// n²/Σ_ij ⟨y_i, y_j⟩², the participation ratio of the spectrum of the Gram matrix: between 1
  /// (all on one line) and min(n, d).
  double effective_rank;
};

[[nodiscard]] DeepAngles deep_angles(const DeepTokens& tokens, const RunContext& context = {});

/// How much a layer has shrunk the gaps, λ = mean over pairs of Δ'_ij/Δ_ij.
struct DeepContraction {
  double contraction;            // λ; 0 below the range of doubles, or when no pair is resolved
  double log_contraction;        // right in any case; −∞ when no pair is resolved
  std::size_t unresolved_pairs;  // left out: gap before the layer 0 or below kUnresolvedGap
};

/// The contraction from `before` to `after`, which must have the same tokens.
[[nodiscard]] DeepContraction deep_contraction(const DeepTokens& before, const DeepTokens& after,
                                               const RunContext& context = {});

/// A gap below this share of the square of the longest offset is rounding. Offsets carry about √n
/// roundings of 2^−53; at n = 2^20 their difference is noise below 2^−43, and 2^−40 leaves room.
inline constexpr double kUnresolvedGap = 0x1p-80;

}  // namespace dewpoint::attention
