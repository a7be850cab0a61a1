// What theory says of softmax over N Gaussian scores at one load: exact at finite N, as a law with
// its first correction, as the limit N → ∞, and as printed in the papers. `dewpoint condense` shows
// it beside a measurement, `dewpoint predict condense` alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/condense.hpp"

namespace dewpoint::studies {

/// NaN where a formula is not computed or does not apply.
struct CondensePrediction {
  double edge_load;                 // t_e = β/b_N
  double largest_weight;            // E w_max, exact: 1000 ≤ N ≤ 1e277, t ≤ 2.5
  double largest_weight_law;        // t < 1: N^{−(1−t)²} with its prefactor
  double bare_largest_weight;       // t < 1: without it, as CC prints
  double limit_largest_weight;      // Poisson-Dirichlet at t: N → ∞
  double edge_largest_weight;       // Poisson-Dirichlet at t_e
  double series_largest_weight;     // CAS, Eq (118): does not hold
  double participation;             // E Σw², exact: t ≤ 20
  double participation_law;         // t < 1/2: N^{2t²−1}; t > 1: Poisson-Dirichlet at t_e
  double entropy;                   // E H, exact
  double entropy_law;               // t < 1: L(1 − t²); t > 1: Poisson-Dirichlet at t_e
  double log_partition;             // E log Z, exact
  double log_partition_law;         // to the first order in finite size
  double log_partition_deviation;   // of log Z, exact, where above 1e-4
  double log_partition_spread_law;  // t > 1: of log Z, the stable law
  double log_mean_partition;        // log E Z, exact
  double retrieval_signal;          // s_c(t), N → ∞
};

/// At log N ≥ log 2 and t > 0.
[[nodiscard]] CondensePrediction condense_prediction(double log_n, double load);

/// Frame "condense_theory": every field above over (n, t), and for planted keys over (n, t, key)
/// retrieval_exponent, lim log w_*/log N, and typical_planted_weight, 1/(1 + e^{E log Z − βm});
/// over (n, key) best_load, lim of the best t.
[[nodiscard]] Frame condense_theory(const experiments::Condense& question,
                                    const RunContext& context);

}  // namespace dewpoint::studies
