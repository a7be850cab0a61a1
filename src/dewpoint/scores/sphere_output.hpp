// What attention over n uniform keys on a sphere returns, as a vector, at the cost of its k nearest
// keys.
//
// A query q and n keys on S^{d−1}, gaps T = 1 − ⟨q, k⟩, weights w ∝ e^{−βT}, output ATT = Σ w_j
// k_j. A key is its gap and a direction across the query,
//
//     k_j = (1 − T_j) q + √v_j ω_j,      v = T(2 − T),      ω uniform on S^{d−2}, independent of T,
//
// so that with the k nearest keys drawn exactly (top_scores.hpp) the others enter through
//
//     (R_1, R_2, R_3, R_4, R_5) = Σ (e, e², x e, v e², v e),      e = e^{−βx},  x = T − cut,
//
// and through their sum across the query, Σ e √v ω. The five are drawn from the Gaussian law with
// their exact means and covariances; the first three are the numbers weigh_top_scores draws. Given
// the gaps the sum across has mean 0 and covariance R_4/(d − 1) times the identity, and it is drawn
// from that Gaussian law: R_4 must fluctuate along with R_1 .. R_3, or the output is too short or
// too long in the draws that matter.
//
// With Z the sum of all e and seen from the nearest key,
//
//     1 − ⟨q, ATT⟩ = T_(1) + Σ w (T − T_(1)),      ATT_⊥ = Σ w √v ω:
//
// sums of positive terms, so that the output is known to full relative precision where it differs
// from the query by 1e-200.
//
// How good it is: the laws of log Z and w_max have the bounds of top_scores.hpp. Replacing the
// others one by one by Gaussian vectors with the same two moments [Lindeberg 1922] moves the mean
// of a smooth function of weights and output by the order of
//
//     ε = w_k Σ_{j>k} w_j² ≤ w_k²,
//
// which comes with each draw as a measure, not as a bound.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "dewpoint/core/random.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "dewpoint/scores/sphere_rest.hpp"
#include "dewpoint/scores/top_scores.hpp"

namespace dewpoint::scores {

/// Means and relative covariances of R_1 .. R_5.
struct OutputRestMoments {
  static constexpr std::size_t kSums = 5;

  double log_count;                    // log(n − k); −∞ when nothing is left
  std::array<double, kSums> log_mean;  // log E R, with x and v as lengths
  std::array<std::array<double, kSums>, kSums> covariance;  // of R_a/E R_a
};

/// One attention output.
struct OutputSample {
  TopSample softmax;            // w_max, Σw², rest weight, bounds: as weigh_top_scores draws them
  std::vector<double> weights;  // w_1 ≥ ... ≥ w_k
  double entropy;               // −Σ w log w
  double radial_gap;            // 1 − ⟨q, ATT⟩
  double sine_square;           // Σ w v, the mean of 1 − ⟨q, k⟩² over the weights
  std::vector<double> across;   // ATT_⊥ in an orthonormal frame, d − 1 coordinates
  double across_square;         // |ATT_⊥|²
  double expected_across;       // Σ w² v, the mean of |ATT_⊥|² given the gaps
  double exchange;              // ε
};

class SphereOutput {
 public:
  /// 2 ≤ d ≤ SphereGap::kMostDimension; throws bad_value.
  explicit SphereOutput(int dimension);

  [[nodiscard]] int dimension() const { return dimension_; }
  [[nodiscard]] const SphereLaw& law() const { return law_; }

  /// ω of the key of this rank (0: the nearest): a normalised Gaussian vector from normal numbers
  /// of the stream at indices from 2⁶¹ on, the same for every β.
  [[nodiscard]] std::vector<double> direction(std::size_t rank, const Stream& stream) const;

  ///   Domain      β ≥ 0, cut < 2.
  ///   Properties  (1) the leading 3 × 3 part, in the order of RestMoments, is that of the law's
  ///                   rest_moments.
  ///               (2) the covariances are those of the sums, over draws of the rest.
  [[nodiscard]] OutputRestMoments rest_moments(const TopScores& top,
                                               double inverse_temperature) const;

  /// Weighs a draw of the top scores. The rest takes five normal numbers at indices from 2⁶² on and
  /// d − 1 from 2⁶³ on, the same for every β.
  ///
  ///   Domain      β ≥ 0; the depths in `top` are draws of law().
  ///   Accuracy    rounding, beside the approximation above.
  ///   Properties  (1) k = n: the softmax and the output of the explicit vectors.
  ///               (2) in law those of n explicit vectors, to within ε.
  ///               (3) (d − 1) E⟨q, ATT⟩ = β E Σ w(1 − w) v at every n, β and d (the divergence
  ///                   theorem on the sphere, key by key).
  ///               (4) E|ATT_⊥|² = E Σ w² v.
  ///   Reference   derived here; the regimes are those of [Scaling limits of long-context
  ///               transformers, arXiv:2605.08505].
  [[nodiscard]] OutputSample weigh(const TopScores& top, double inverse_temperature,
                                   const Stream& stream) const;

 private:
  void add_top(OutputSample& sample, const TopScores& top, double beta, const Stream& stream) const;
  void add_rest(OutputSample& sample, const TopScores& top, double beta,
                const Stream& stream) const;

  int dimension_;
  SphereLaw law_;
  SphereRest rest_;
};

}  // namespace dewpoint::scores
