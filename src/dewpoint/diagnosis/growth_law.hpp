// Which law does a growing scale obey: log n, √(log n) or n^{1/a}? Or can nobody tell?
//
// The three are the ways in which attention condenses: scores with a gap of order one below the
// winner (log n), Gaussian scores (√(log n)), and keys that fill a manifold of dimension 2a around
// the query (n^{1/a}). The bare forms are asymptotic, and approached so slowly that good data would
// reject the right one. So each law is fitted in the form it takes at finite n, with L = log n,
//
//     log n          c (L + b)
//     √(log n)       c √(L + b)
//     n^{1/a}        c √(N(N − 1)),      N = e^{(L + b)/a},
//
// b is the logarithm of the share of keys that compete, times a constant of order one: it is
// log(1 + √2) = 0.88 for β_PR on a simplex and about −1.7 for β_PR of Gaussian scores. The last
// form follows from P(⟨q,k⟩ ≥ u) ≈ (1 − u²)^a: it is c n^{1/a} once N ≫ 1, and c √(L + b) while
// N − 1 ≪ 1. So one form joins two laws, and what it is called is decided by N at the longest
// length: a power from N = e on, a √(log n) up to N = 3/2, where it is bent by less than the other
// law differs, and between these neither. For d = 64 (a = 31.5) and up to a million keys N stays
// below 1.6: no power is seen there whatever the errors, and what is left, a bent √(log n) with b
// near −1.5 or a log n with b near 1.8, differ by so little that "cannot tell" is the answer. From
// 1e2 to 1e15 keys the same law is a power, and a comes out as 31.
//
// The verdict is Bayesian. The constant c is common to all and integrated over with a flat prior, b
// is uniform in [−6, 2], and log a uniform: from 1/4 to where N = e for the power, from there to
// N = 3/2 in between, over the next factor of ten for half of the √(log n), the other half being
// a = ∞. The four have equal prior weights. The one with at least kVerdictProbability of the
// posterior is the answer, unless it does not fit: when its χ² would be exceeded with probability
// below kPoorFit, none is right. Everything else is "cannot tell", with the reason.
//
// Over a short range only the local slope ζ = d log β/dL is measured, and ζL is 1 for the first
// law and 1/2 for the second up to b: what is decided there is decided with the prior of b. Over
// many decades the curvature decides: dζ/dL = −ζ², −2ζ², 0.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::diagnosis {

/// `crossover` is the third form between N = 3/2 and N = e: a hypothesis, never a verdict.
enum class GrowthLaw { logarithm, root_logarithm, power, crossover };

/// "log n", "sqrt(log n)", "n^(1/a)", "between sqrt(log n) and n^(1/a)".
[[nodiscard]] const char* name_of(GrowthLaw law);

/// Measured scales. The covariance counts errors of log β; replicates is how many draws it was
/// estimated from, 0 when it is exact.
struct GrowthData {
  std::vector<double> log_n;  // increasing
  std::vector<double> log_beta;
  Matrix<double> covariance;
  std::size_t replicates = 0;
};

/// What is known beside the curve. Over two decades the curves of a simplex, of Gaussian scores and
/// of a sphere in 30 to 50 dimensions are the same to a few tenths of a percent, so there the
/// answer is "cannot tell" unless one knows where the winner comes from.
struct GrowthPrior {
  double most_log_offset = 2.0;   // largest b of log n
  double most_bent_offset = 2.0;  // of √(log n) and of the crossover
  bool fixed_winner = false;      // log n or none of these

  /// The same key wins at every length: its competitors thin out, and no tail has a say.
  [[nodiscard]] static GrowthPrior fixed();
  /// The winner is the best of exchangeable keys. b is b_0 plus the logarithm of the share of keys
  /// that compete, which is at most 1; b_0 is known for β_PR and nearly the same for β_dew: −1.05,
  /// −1.3, −1.45, −1.6 for a = 8, 16, 32, ∞, and 0.88 for a gap of order one. The bounds leave
  /// room for a factor of 1.7 at a = 8, 3 at a = ∞ and 1.1 for log n.
  [[nodiscard]] static GrowthPrior tail();
};

/// One law against the data.
struct LawFit {
  GrowthLaw law;
  double chi_square = 0.0;       // at the best parameters within the prior
  double fit_probability = 0.0;  // of a larger χ² if the law is right
  double log_evidence = 0.0;     // log ∫ e^{−χ²/2} over the prior of b and a
  double probability = 0.0;      // posterior
  Estimate offset{};             // b: posterior mean and deviation
  Estimate exponent{};           // a, of the power and of the crossover
};

struct GrowthVerdict {
  std::optional<GrowthLaw> law;  // nothing: cannot tell
  std::string reason;            // of that, or the evidence for the law, in a sentence
  std::array<LawFit, 4> fits;    // in the order of GrowthLaw
};

/// Compares the laws. With a fixed winner the first is the answer, unless it does not fit.
///
/// The finite-n forms are themselves approximate: to every variance kFormError² is added. Against a
/// covariance estimated from B replicates χ² is multiplied by (B − p − 2)/(B − 1) for p points
/// [Hartlap et al. 2007].
///
///   Domain      at least 3 lengths and finite numbers, else "cannot tell". n ≥ 3.
///   Accuracy    integrals to 1 %, far below what a verdict depends on. For spheres and n = 1e2 to
///               1e15 the exponent comes out right to 1 % up to a = 24. Beyond it is too low: at
///               a = 63.5 by 4 % from β_PR and 8 % from β_dew, where its deviation, which knows
///               only kFormError, is too small.
///   Properties  (1) data on one of the forms over many decades, errors of 1 %: that law.
///               (2) over heads drawn from the priors, a verdict is wrong in fewer than
///                   1 − kVerdictProbability of the cases.
///               (3) multiplying β by a constant changes nothing but c.
///               (4) data that follow none of the forms: cannot tell, as even the best fits badly.
///               (5) exact β_PR of Gaussian scores, 256 to 16384 keys, errors of 0.6/√hands: with
///                   GrowthPrior::tail() √(log n); that of a simplex, with fixed(): log n. Without
///                   either: cannot tell.
///   Reference   [Kass and Raftery 1995] for the scale of evidence; forms derived here.
[[nodiscard]] GrowthVerdict judge_growth(const GrowthData& data, const GrowthPrior& prior = {});

inline constexpr double kVerdictProbability = 0.95;
inline constexpr double kPoorFit = 1e-3;
inline constexpr double kLeastOffset = -6.0;
inline constexpr double kMostOffset = 2.0;
inline constexpr double kLeastGrowthExponent = 0.25;
inline constexpr double kGaussianWindow = 0.405465108108164;  // log(3/2), of log N

/// Above the root mean square distance of β_dew and β_PR from their own forms, which is at most
/// 0.003: Gaussian scores and spheres of dimension 2 to 128, n from 1e2 to 1e15.
inline constexpr double kFormError = 0.005;

}  // namespace dewpoint::diagnosis
