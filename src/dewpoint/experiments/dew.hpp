// The dew point of a score law over the number of keys n, from a handful to 1e15 and beyond.
//
// One draw is a query: the k best of n keys exactly in law, and a law for the sum of the others
// (scores/top_scores.hpp). With R(β) the competitor mass, what the winner leaves to all others in
// units of its own weight, the draw's dew point solves
//
//     R(β) = Σ_{1<j≤k} e^{−βT_j} + rest(β) = 1,
//
// where the rest has its conditional mean and its Gaussian fluctuation, both functions of β, the
// random numbers behind the fluctuation being the same at every β. Up to k = n there is no rest.
// Over draws come the quartiles of β_dew, the mean of log β_dew, β_PR, where the mean of Σw² is
// 1/2, and the median of the accumulation scale Λ.
//
// Draw i uses the same random numbers at every n, whatever the list of n: neighbouring n share
// their accidents, so that slopes are known far better than scales. The covariance over n is
// returned for whoever fits a law to the curve.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::experiments {

struct DewCurve {
  std::vector<double> n;    // increasing, whole numbers of at least 3 below 2⁵³, at most 1e300
  std::size_t draws = 400;  // errors fall as its square root
  std::size_t top = 256;    // k; more leaves less to the Gaussian law of the rest
  std::uint64_t seed = 1;
};

/// Throws Error{bad_value} with the option, its value and what is allowed.
void check(const DewCurve& question, const scores::TopLaw& law);

/// Variables over n:
///
///   beta_dew_lower, beta_dew_median, beta_dew_upper   quartiles over draws; their errors are half
///                      the distance of the values that lie one deviation of the rank to each side
///   log_beta_dew       mean of log β_dew
///   beta_pr            β_PR
///   accumulation       median of Λ. Keys beyond the top are taken at their quantiles, good to
///                      1/√k of it; no samples for laws without quantiles
///   slope_dew, slope_pr   d log β/d log n between the neighbours of an n, of the mean of log β_dew
///                      and of β_PR; absent for a single n
///   rest_bound         mean over draws of the bound on the error that the Gaussian law of the
///                      rest makes in log Z at β_dew (top_scores.hpp)
///
/// and over (n, other_n): covariance_log_beta_dew, covariance_log_beta_pr.
///
///   Domain      as DewCurve; draws ≥ 2, 3 ≤ k; log n ≤ law.most_log_scores().
///   Accuracy    roots to 1e-12; statistics as the errors say.
///   Properties  (1) the simplex: β_dew = log(n−1)/(1−ρ), and no errors.
///               (2) in law the dew points of direct samples.
///               (3) β_PR within its error of the exact value, for Gaussian and uniform keys.
///               (4) a cell depends on law, n, draws, top and seed, not on the list of n.
///               (5) the same bytes for any number of threads.
[[nodiscard]] Frame dew_curve(const scores::TopLaw& law, const DewCurve& question,
                              const RunContext& context = {});

/// The dew points of the draws at one n.
[[nodiscard]] std::vector<double> drawn_dew_points(const scores::TopLaw& law, double n,
                                                   const DewCurve& question,
                                                   const RunContext& context = {});

}  // namespace dewpoint::experiments
