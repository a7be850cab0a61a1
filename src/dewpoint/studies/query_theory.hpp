// What theory says of attention over uniform keys on the sphere, in its three regimes: shown beside
// the measurement by `dewpoint query point`.
//
//   exact      at this n, by quadrature (theory/finite_scores.hpp)
//   limit      n → ∞ at this θ = β/β* (theory/critical_sphere.hpp); the ordered weights, which
//              have no quadrature beyond the first, as means of draws of the law
//              (experiments/critical_limit.hpp)
//   gaussian   many keys share: mean with its bias, variances, skewness (theory/sphere_clt.hpp)
//   condensed  one key and its near ties (theory/condensed_sphere.hpp)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/query.hpp"

namespace dewpoint::studies {

/// NaN where a formula is not computed or does not apply. Lengths are scaled: bias is β*(1 −
/// ⟨q, ATT⟩), scatter β*|ATT_⊥|², as in the frame of experiments::query.
struct QueryPrediction {
  double effective_keys;                    // n_eff = n/R
  double exact_remainder, limit_remainder;  // E(1 − w_1)
  double exact_largest_weight, exact_participation, exact_entropy, exact_bias, exact_scatter;
  double exact_across_variance;  // n Var of one coordinate across
  double limit_largest_weight, limit_participation, limit_entropy, limit_bias, limit_scatter;
  double gaussian_participation, gaussian_bias, gaussian_scatter;
  double gaussian_radial_variance, gaussian_across_variance, gaussian_skewness;
  double condensed_remainder;  // E(1 − w_1)
  double condensed_bias, condensed_scatter;
};

/// From this n_eff on the Gaussian law has the variances to within 4 %.
inline constexpr double kSubcriticalKeys = 70.0;

/// From this multiple of β_edge on the nearest key has most of the weight in most draws.
inline constexpr double kCondensedEdge = 10.0;

/// At n ≥ 2 keys on S^{d−1} and β > 0.
[[nodiscard]] QueryPrediction query_prediction(int dimension, double n, double beta);

/// Draws of the limit law behind the mean of an ordered weight.
inline constexpr std::size_t kLimitDraws = 4000;

/// Frame "query_theory": every field above over (n, U), and over (n, U, rank) limit_weight, the
/// ordered weights as n → ∞, with its error; the same draws for every θ, from the question's seed.
///
///   Properties  (1) limit_weight at rank 1 is limit_largest_weight within its error.
///               (2) limit_weight is the measured weight of experiments::query at large n, rank by
///                   rank, within both errors.
///               (3) equal bytes for any number of threads.
[[nodiscard]] Frame query_theory(const experiments::Query& question, const RunContext& context);

/// "subcritical" where the Gaussian law is given and n_eff ≥ kSubcriticalKeys, "condensed" from
/// kCondensedEdge β_edge on, "critical" between.
[[nodiscard]] const char* query_regime(const QueryPrediction& prediction, double beta, double edge);

/// The same of a cell of the frame.
[[nodiscard]] const char* query_regime(const Frame& theory, std::size_t cell, double beta,
                                       double edge);

/// The same of every cell, [n][temperature], with the frame of experiments::query.
[[nodiscard]] std::vector<std::vector<std::string>> query_regimes(const Frame& measured,
                                                                  const Frame& theory);

}  // namespace dewpoint::studies
