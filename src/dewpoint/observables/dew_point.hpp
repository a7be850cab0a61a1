// Where attention condenses: the dew point of a row of scores, and two companions.
//
// One query has the scores s_1..s_n. With gaps T_j = s_max − s_j, everything but the best key has,
// relative to it, the competitor mass
//
//     R(β) = Σ_{j≠max} e^{−βT_j},        w_max = 1/(1 + R).
//
// R falls strictly from n − 1 to the number of keys that tie with the best one. The dew point β_dew
// is the β where R = 1: the winner holds as much weight as all the others together. Below it
// attention is a vapour, above it a drop. It is
//
//     undefined    for n < 3: R never passes 1 from above        (std::nullopt)
//     +∞           when the maximum is tied: R stays above 1, and the row never condenses.
//
// Two other scales are reported beside it, because the literature uses them: β_PR, where the mean
// of Σw² over many queries is 1/2, and the accumulation scale Λ of Karakida and Hayase. For gaps
// that are all equal to Δ the three are log(n−1)/Δ, [log(n−1) + log(1+√2)]/Δ up to O(1/n), and
// log(n)/Δ.
//
// Scores are finite numbers of size at most kLargestScore; anything else is the world's mistake and
// raises Error{Code::bad_value} with its place. Scores closer than kSmallestGap count as tied.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::observables {

/// Between these limits no product of an inverse temperature and a gap that matters underflows.
inline constexpr double kLargestScore = 1e150;
inline constexpr double kSmallestGap = 1e-150;

/// β_dew of one query, from scores in any order.
///
/// Solved in a form whose relative condition number is at most 1 even where R is flat: with T the
/// smallest gap, what the runner-up lacks is what the others hold,
///
///     1 − e^{−βT} = Σ_{others} e^{−βT_j},
///
/// by Newton's method on the logarithm of the ratio of both sides, in log β, inside a bracket.
///
///   Domain      see the top of the file.
///   Accuracy    relative error at most kDewPointError; float scores are taken as exact.
///   Properties  (1) R(β_dew) = 1.
///               (2) equal gaps Δ: log(n−1)/Δ.
///               (3) adding a constant to the scores changes nothing, multiplying them by c > 0
///                   divides β_dew by c, and their order does not matter.
///               (4) grows when a key is added below the maximum or moved towards it.
///               (5) log(n−1)/mean gap ≤ β_dew ≤ log(n−1)/smallest gap.
///               (6) +∞ exactly when the maximum is tied, nullopt exactly when n < 3.
///   Reference   the definition is this project's own.
[[nodiscard]] std::optional<double> dew_point(std::span<const double> scores);
[[nodiscard]] std::optional<double> dew_point(std::span<const float> scores);

/// β_dew of every row of a matrix of scores (queries × keys).
///
///   Domain      at least 3 columns, or Error{Code::bad_value}.
///   Properties  (1) equals dew_point row by row, for any number of threads.
[[nodiscard]] std::vector<double> dew_points(MatrixView<const double> scores,
                                             const RunContext& context = {});
[[nodiscard]] std::vector<double> dew_points(MatrixView<const float> scores,
                                             const RunContext& context = {});

/// The same beside a sink, a logit B without a key that β does not multiply (off-by-one softmax has
/// B = 0): where the winner holds as much as all other keys and the sink together, w_max = 1/2,
///
///     R(β) + e^{B − β s_max} = 1.
///
/// A sink sees the size of the scores, not only their gaps. Where s_max > 0 both terms fall and
/// there is one such β. Where s_max < 0 the sink wins back what it lost: log(R + e^{B − βs_max}) is
/// convex in β and crosses 0 twice or not at all; the first crossing is the dew point. Newton's
/// method from the left of a convex function never passes its first root, and is on the left at
/// the larger of dew_point and B/s_max.
///
///   Domain      as dew_point; B finite, or −∞ for no sink; else Error{Code::bad_value}.
///   Accuracy    relative error at most 2 kDewPointError where s_max > 0; where s_max ≤ 0, that
///               times (1 + |B| + β|s_max|) over −d log(R + e^{B − βs_max})/d log β at the root,
///               which vanishes as the two crossings meet.
///   Properties  (1) w_max is 1/2 there.
///               (2) B = −∞: dew_point. Otherwise above it, and above B/s_max for s_max > 0.
///               (3) equal gaps Δ = s_max: log(n − 1 + e^B)/Δ.
///               (4) multiplying all scores by c > 0 divides it by c, and their order does not
///                   matter; adding a constant c > 0 to them lowers it.
///               (5) grows with B.
///               (6) nullopt exactly when n < 3; +∞ when the maximum is tied, and when s_max ≤ 0
///                   and the sink is never outweighed, as for B ≥ 0.
///   Reference   this project's own.
[[nodiscard]] std::optional<double> dew_point_beside_sink(std::span<const double> scores,
                                                          double sink_logit);

/// Sums run in blocks of 256, which are then added with compensation: 256 roundings; the exponents
/// cost one rounding per unit of their mean, and that mean divides the result again.
inline constexpr double kDewPointError = 1e-13;

// ---- scores that arrive in pieces -----------------------------------------------------------

namespace detail {

/// Sum of terms that are not negative: blocks of 256, the blocks added with compensation.
class BlockSum {
 public:
  void add(double term) {
    block_ += term;
    if (++count_ == 256) flush();
  }
  [[nodiscard]] double total() const { return sum_ + (lost_ + block_); }

 private:
  void flush();

  int count_ = 0;
  double block_ = 0.0, sum_ = 0.0, lost_ = 0.0;
};

/// The keys below winner and runner-up at one β.
struct Others {
  BlockSum mass;      // Σ e^{−βT}
  BlockSum exponent;  // Σ βT e^{−βT}
  void add(double scaled_gap);
};

}  // namespace detail

/// Two inverse temperatures with β_dew between them, ends included.
struct DewPointBracket {
  double lower;
  double upper;
};

/// The inverse temperatures watched while scores go by for the first time.
struct DewPointGrid {
  double lowest = 1e-3;     // outside the grid the bracket is property (5) of dew_point: wide,
  double highest = 1e5;     // but never wrong
  std::size_t points = 32;  // more give a narrower first bracket, at one exponential per score each
};

/// β_dew of a query whose scores do not fit into memory, in passes over them.
///
/// The first pass keeps R on a grid of β relative to the largest score so far: when a score exceeds
/// it by δ, the old winner joins the competitors and all are worth less, R ← (R + 1) e^{−βδ}. That
/// brackets β_dew. Each further pass evaluates the equation of dew_point at nodes that crowd around
/// the best guess, and interpolates; three of them end at full accuracy if the grid holds β_dew, a
/// few more if it does not. Memory is the grid and nothing else.
///
///     DewPointStream stream;
///     do {
///       for (auto chunk : chunks) stream.push(chunk);
///       stream.end_pass();
///     } while (!stream.done());
///
///   Domain      as dew_point. Every pass brings the same scores, in any order and in chunks of any
///               size, or Error{Code::bad_value}. A grid with 0 < lowest < highest and 2 points.
///   Accuracy    as dew_point.
///   Properties  (1) the bracket after the first pass holds β_dew.
///               (2) the result equals dew_point of all scores, within the sum of both errors.
///               (3) done after one pass for n < 3 and for a tied maximum.
class DewPointStream {
 public:
  explicit DewPointStream(const DewPointGrid& grid = {});

  void push(std::span<const double> chunk);
  void push(std::span<const float> chunk);
  void end_pass();

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::size_t passes() const { return passes_; }
  /// nullopt for n < 3; both ends +∞ for a tied maximum. Needs one finished pass.
  [[nodiscard]] std::optional<DewPointBracket> bracket() const;
  /// The answer; needs done().
  [[nodiscard]] std::optional<double> dew_point() const;

 private:
  static constexpr std::size_t kNodes = 9;

  struct Node {
    double beta;
    detail::Others others;
  };

  template <class Score>
  void push_any(std::span<const Score> chunk);
  void survey(double score);
  void evaluate(double score);
  void end_survey();
  void end_refinement();
  void place_nodes(double guess);

  std::vector<double> grid_;  // β
  std::vector<double> mass_;  // R at each of them
  double largest_, second_, mean_gap_ = 0.0;
  std::size_t count_ = 0;  // of the first pass

  std::size_t seen_ = 0;  // of the present pass
  bool met_largest_ = false, met_second_ = false;
  std::array<Node, kNodes> nodes_;

  std::size_t passes_ = 0;
  bool done_ = false;
  DewPointBracket bracket_{};
  double answer_ = 0.0;
};

/// DewPointStream driven to its end: `replay` is called once per pass with a receiver, to which it
/// hands every chunk of the scores.
using ScoreReceiver = std::function<void(std::span<const double>)>;
[[nodiscard]] std::optional<double> dew_point_in_passes(
    const std::function<void(const ScoreReceiver&)>& replay, const DewPointGrid& grid = {});

// ---- companions -----------------------------------------------------------------------------

/// β_PR, the inverse temperature where the mean over all rows of Σ_j w_j² is 1/2. Σw² of every row
/// rises strictly with β, so there is one at most:
///
///     d log Σw²/dβ = 2(⟨s⟩_{2β} − ⟨s⟩_β) ≥ 0.
///
///   Domain      at least one row and 3 columns, or Error{Code::bad_value}. +∞ when so many rows
///               have a tied maximum that the mean stays at 1/2 or below.
///   Accuracy    the mean of Σw² at the result is 1/2 to kParticipationError. The relative error of
///               β_PR is that over the slope of the mean in log β, or kDewPointError if larger.
///   Properties  (1) the mean of Σw² there is 1/2.
///               (2) equal gaps Δ: [log(n−1) + log(1 + √(2 − 2/(n−1)))]/Δ.
///               (3) shift, scale and order as property (3) of dew_point.
///               (4) the same bytes for any number of threads.
///   Reference   the participation ratio of [Derrida and Toulouse 1985]; as a definition of a
///               critical temperature, this project's own.
[[nodiscard]] double participation_point(MatrixView<const double> scores,
                                         const RunContext& context = {});
[[nodiscard]] double participation_point(MatrixView<const float> scores,
                                         const RunContext& context = {});
/// The same for queries that see different numbers of keys, 3 at least each.
[[nodiscard]] double participation_point(std::span<const std::span<const double>> scores,
                                         const RunContext& context = {});

/// Twice the 256 roundings of a blocked sum for Z², once for Σ e^{−2βT}, and those of exponents.
inline constexpr double kParticipationError = 2e-13;

/// Λ, the upper-tail accumulation scale of one query,
///
///     Λ = sup_{t>0} log N(t)/t = max_{k≥2} log k/T_(k),      N(t) = #{j : T_j ≤ t},
///
/// with T_(1) = 0 ≤ T_(2) ≤ .. the sorted gaps. Its mean over queries is infinite whenever scores
/// have a density, so rows are summarised by their median.
///
///   Domain      nullopt for n < 2; +∞ for a tied maximum.
///   Accuracy    relative error of 4 units in the last place.
///   Properties  (1) equal gaps Δ: log(n)/Δ.
///               (2) max_k log(k−1)/T_(k) ≤ β_dew ≤ kZetaIsTwo Λ, because e^{−cΛT_(k)} ≤ k^{−c} and
///                   ζ(c) = 2 there.
///   Reference   [Karakida and Hayase, A Unified Framework for Critical Scaling of Inverse
///               Temperature in Self-Attention, arXiv:2605.12697]; (2) derived here.
[[nodiscard]] std::optional<double> accumulation_scale(std::span<const double> scores);
[[nodiscard]] std::optional<double> accumulation_scale(std::span<const float> scores);

/// The median of Λ over the rows: of an even number, the mean of the middle two.
///
///   Domain      at least one row and 2 columns, or Error{Code::bad_value}.
[[nodiscard]] double median_accumulation_scale(MatrixView<const double> scores,
                                               const RunContext& context = {});
[[nodiscard]] double median_accumulation_scale(MatrixView<const float> scores,
                                               const RunContext& context = {});

/// The c with ζ(c) = 2.
inline constexpr double kZetaIsTwo = 1.7286472389981836;

}  // namespace dewpoint::observables
