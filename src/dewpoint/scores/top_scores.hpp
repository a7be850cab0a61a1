// Softmax over N scores at the cost of its k largest, for N up to 1e300 and beyond.
//
// The k smallest depths are drawn exactly in law (score_law.hpp). Given the last of them, the cut,
// the other N − k scores are independent, and they enter the softmax only through the sums
//
//     R_1 = Σ e,      R_2 = Σ e²,      R_3 = Σ x e,      e = e^{−βx},  x = depth − cut,
//
// which are drawn from the Gaussian law with their exact means and covariances
//
//     mean (N − k) E g_a,      covariance (N − k) (E g_a g_b − E g_a E g_b),
//
// and kept where the sums must be: R_1, R_3 ≥ 0, 0 ≤ R_2 ≤ R_1. That Gaussian is the only
// approximation, and it has a bound. By Goldstein's form of the Berry-Esseen theorem the law of R_1
// is within
//
//     D = E|e − m|³/v,      m = E e,  v = Var e,
//
// of its Gaussian in the Wasserstein-1 distance W, whatever N. Here D is replaced by the least of
// (E e³ + m³)/v, max(m, 1 − m) and 2 √((N − k) v), each of which bounds it or W. Since e ≤ 1, an
// error is never more than the weight of the k-th score.
//
// All sums are logarithms or relative to the largest score; nothing overflows at any N or β.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

/// The k largest of N scores, as increasing depths. One draw serves every β.
struct TopScores {
  double log_scores;  // log N
  std::vector<double> depths;
};

/// Draws them. N is a real number: where it is small enough to be counted, give the logarithm of an
/// integer.
///
///   Domain      1 ≤ k ≤ N. Throws bad_value when log N > law.most_log_scores().
[[nodiscard]] TopScores draw_top_scores(const TopLaw& law, double log_scores, std::size_t count,
                                        const Stream& stream);

/// log(N − k), of the scores that were not drawn; within half a score of k, N is k.
[[nodiscard]] double log_rest_count(const TopScores& top);

/// Means and relative covariances of the sums over the rest, for g = (e, e², x e) as above.
struct RestMoments {
  double log_count;         // log(N − k), −∞ when every score is among the top
  double log_mass;          // log E e
  double log_square;        // log E e²
  double mean_depth;        // E[x e]/E e
  double covariance[3][3];  // of R_a/E R_a
  double distance;          // bound on W for R_1, in units of the weight at the cut
};

/// A variance below 16 roundings of the squares it is the difference of counts as zero: that is a
/// relative deviation of R_1 of at most 6e-8/√(N − k).
///
///   Properties  (1) the covariance matrix is that of the sums, over draws of the rest.
///               (2) W between the law of R_1 and its Gaussian is at most `distance`.
[[nodiscard]] RestMoments rest_moments(const TopLaw& law, const TopScores& top,
                                       double inverse_temperature);

/// One softmax over N scores.
struct TopSample {
  double top_score;               // the largest score s_1
  double log_relative_partition;  // log Σ_j e^{β(s_j − s_1)}
  double log_partition;           // log Σ_j e^{βs_j}
  double largest_weight;          // e^{βs_1}/Z
  double participation;           // Σ w²
  double log_participation;
  double mean_gap;              // Σ_j w_j (s_1 − s_j)
  double rest_weight;           // share of the N − k scores below the cut
  double log_partition_bound;   // W bounds, given the top scores, on the laws of log Z
  double largest_weight_bound;  // and of w_max
};

/// Weighs a draw. The rest takes three normal numbers from the stream, at indices from 2⁶² on and
/// the same for every β.
///
/// For the bounds, let s be the sum over the top and m the mean of R_1, both in units of the
/// largest. A function of s + R_1 with slope at most ℓ once R_1 ≥ rm, 0 ≤ r < 1, is replaced below
/// rm by its tangent there. The replaced function moves by at most ℓ D, and the replacement is felt
/// with probability at most p = e^{−(1−r)² m²/(2(N−k)E e²)} under either law [Maurer 2003], so
///
///     log Z:   D/(s + rm) + 2 p log(1 + rm/s),
///     w_max:   D/(s + rm)² + 2 p/s,
///
/// the second terms absent at r = 0. The least of five r is taken. Means over draws of the top
/// scores bound the distances of the unconditional laws.
///
///   Domain      β ≥ 0.
///   Properties  (1) for k = N the softmax of the depths, and both bounds 0.
///               (2) in law the softmax of a direct sample, to within the bounds.
///               (3) Gaussian scores: E Σ w s = βσ² (1 − E Σ w²) at every N [Gaussian integration
///                   by parts].
///               (4) the simplex: w_max = 1/(1 + (N − 1) e^{−β(1−ρ)}) to rounding.
///               (5) β = 0: w_max = Σ w² = 1/N to rounding.
///   Reference   [Goldstein 2010] for the constant 1 in the bound of W.
[[nodiscard]] TopSample weigh_top_scores(const TopLaw& law, const TopScores& top,
                                         double inverse_temperature, const Stream& stream);

/// How k is chosen.
struct TopCountSearch {
  double bound = 1e-3;      // wanted mean of log_partition_bound; smaller costs a larger k
  std::size_t most = 4096;  // gives up beyond
  std::size_t pilots = 32;  // draws the mean is taken over; more make the choice steadier
};

/// The smallest power of two (or N itself, if less) whose mean bound over pilot draws is as wanted;
/// nothing when `most` is not enough. Pilot i draws from
/// replica i of the stream "scores/top-count".
[[nodiscard]] std::optional<std::size_t> choose_top_count(const TopLaw& law, double log_scores,
                                                          double inverse_temperature,
                                                          const TopCountSearch& search,
                                                          std::uint64_t seed);

/// choose_top_count() at one N and many inverse temperatures. Pilots are drawn once, and their mean
/// bound is followed only until it is known to be too large.
///
///   Properties  (1) of() is choose_top_count() of the same arguments.
class TopCountChoice {
 public:
  TopCountChoice(std::shared_ptr<const TopLaw> law, double log_scores, const TopCountSearch& search,
                 std::uint64_t seed);

  [[nodiscard]] std::optional<std::size_t> of(double inverse_temperature);
  /// Of the numbers that are kept; it grows with the largest k that was looked at.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] const TopScores& pilot(std::size_t number, std::size_t count);
  [[nodiscard]] bool is_enough(std::size_t count, double inverse_temperature);

  std::shared_ptr<const TopLaw> law_;
  double log_scores_;
  TopCountSearch search_;
  std::uint64_t seed_;
  std::map<std::size_t, std::vector<TopScores>> pilots_;  // of each k: those drawn so far
};

}  // namespace dewpoint::scores
