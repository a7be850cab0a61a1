// Softmax over N Gaussian scores for N from 2 to 1e300: where attention condenses, and what it
// still finds.
//
// The scores are independent N(0, σ²), L = log N, and β = t√(2L)/σ: at the load t = 1 the random
// energy model freezes. One draw is the k largest scores with a law for the sum of the others
// (scores/top_scores.hpp); it serves every load and every planted key, so that curves over t and s
// are smooth and their differences have small errors. Draw i of one N uses the same random numbers
// as draw i of another.
//
// One more key may be planted with the score m = s σ√(2L). Its weight and what it leaves to the
// noise are
//
//     w_* = 1/(1 + Z e^{−βm}),      (1 − w_*) w_max,
//
// with Z and w_max of the noise alone. Half of the draws give the planted key more than half of the
// weight when s = s_half(t), the median of log Z over 2tL.
//
// The scores may also come from keys k_j ~ N(0, I_d) and a query q ~ N(0, σ²I_d), new in every
// draw: ⟨q, k_j⟩/√d, or ⟨q, k_j⟩ without the factor. Given the query they are independent and
// Gaussian with the deviation |q|/√d, or |q|. Then σ in β, t and s is replaced by the root of the
// mean square of that deviation, σ or σ√d; the load of one query differs from t by a relative
// 1/√(2d).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/scores/top_scores.hpp"

namespace dewpoint::experiments {

/// Keys in R^d and a random query.
struct QueryKeys {
  std::size_t dimension = 64;  // d; more makes queries more alike
  bool scaled = true;          // scores are divided by √d
};

struct Condense {
  std::vector<double> n;                // N: whole below 2⁵³, at most 1e300
  std::vector<double> loads;            // t = β/β_c
  std::vector<double> signals;          // s = m/(σ√(2 log N)); or
  std::vector<double> planted;          // m itself; not both
  double deviation = 1.0;               // σ
  std::optional<QueryKeys> query_keys;  // absent: scores of deviation σ
  std::size_t draws = 2000;             // errors fall as its square root
  std::size_t top = 0;                  // k; 0: the least that meets the bound at every load
  double bound = 1e-3;  // wanted mean error bound of log Z; smaller costs a larger k
  std::uint64_t seed = 1;
};

/// Ordered weights that are kept, and the least k that is chosen for it.
inline constexpr std::size_t kOrderedWeights = 8;

/// Throws Error{bad_value} with the option, its value and what is allowed:
///
///     n in [2, 1e300], t in (0, 1000], sigma in [1e-50, 1e50], finite signals and planted scores,
///     draws in [2, 1e7], 1 ≤ k ≤ min(N, 1e6), a bound in (0, 1], d in [1, 1e6].
void check(const Condense& question);

/// Root of the mean square deviation of a score, the σ of β, t and s.
[[nodiscard]] double score_deviation(const Condense& question);

/// β at a load, t√(2 log N)/σ.
[[nodiscard]] double inverse_temperature(const Condense& question, double n, double load);

/// m of planted key number `key` at N.
[[nodiscard]] double planted_score(const Condense& question, double n, std::size_t key);

/// The k of condense(): as asked for, or the least that meets the bound at every load. Remembers
/// what questions about the same n have in common, so that a grid of questions takes a tenth of the
/// time. Throws Error{bad_value} when no k up to 4096 meets the bound.
///
///   Domain      questions that check() lets pass.
///   Properties  (1) a function of the question and n alone, whatever was asked before.
class TopCounts {
 public:
  [[nodiscard]] std::size_t of(const Condense& question, double n);

 private:
  struct Row {  // of one n
    scores::TopCountChoice choice;
    std::unordered_map<double, std::optional<std::size_t>> known;  // by inverse temperature
  };

  [[nodiscard]] Row& row(const Condense& question, double n);
  [[nodiscard]] std::optional<std::size_t> enough(Row& row, double inverse_temperature);

  std::map<std::tuple<double, double, double, std::uint64_t>, Row> rows_;
  std::size_t bytes_ = 0;
};

/// Draws, weighs and averages. Frame "condense", with dimensions named as the options:
///
///   (n)          top_count                  k
///   (n, t)       inverse_temperature        β
///                largest_weight, log_largest_weight, participation, rest_weight (below the k-th)
///                entropy                    H = log Z − β Σ w s
///                mean_score                 Σ w s
///                log_partition              E log Z, quenched
///                log_partition_deviation    of log Z over draws
///                log_mean_partition         log E Z, annealed, with the error of the delta method:
///                                           meaningless once a few draws carry the mean
///                log_partition_bound, largest_weight_bound    errors of the sampler, bounded
///                retrieval_signal           s_half, the median of log Z over 2tL
///   (n, t, rank) ordered_weight             w_(1) ≥ w_(2) ≥ ...; not known beyond the k-th
///   and with planted keys, `key` being "signal" or "planted",
///   (n, t, key)  planted_weight, log_planted_weight, median_planted_weight, largest_noise_weight
///   (n, key)     best_load                  the load with the largest E w_*; its error is half the
///                                           span of loads that are not worse by more than the
///                                           standard error of the difference on the same draws
///                best_typical_load          the same for E log w_*
///
/// The error of a median is half the distance of the order statistics √draws/2 ranks to either
/// side of it. Where log Z hardly varies, at small t and large N, its rounding of 1e-15 log Z is
/// larger than the error given. Throws what TopCounts throws.
///
///   Domain      see check.
///   Properties  (1) the same bytes for any number of threads.
///               (2) a cell does not depend on the other n asked for, nor with fixed k on the other
///                   loads.
///               (3) E Σ w s = βσ² (1 − E Σw²) for scores of deviation σ [integration by parts].
///               (4) means equal the exact ones at finite N.
///               (5) with a random query, the softmax over ⟨q, k_j⟩ of explicit vectors.
///               (6) the best typical load for s < 1 tends to s, and s_half to (1 + t²)/(2t) or 1.
///   Reference   [A condensation crossover in softmax attention].
[[nodiscard]] Frame condense(const Condense& question, const RunContext& context = {});

}  // namespace dewpoint::experiments
