// What the claims about Gaussian scores share: a question to the sampler of condensation, a cell of
// its answer, and the means that go with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::claims {

[[nodiscard]] inline experiments::Condense noise(std::vector<double> n, std::vector<double> loads,
                                                 std::size_t quick_draws, const Setting& setting) {
  experiments::Condense question;
  question.n = std::move(n);
  question.loads = std::move(loads);
  question.draws = draws_of(setting, quick_draws);
  question.seed = setting.seed;
  return question;
}

[[nodiscard]] inline const Estimate& cell(const Frame& frame, const char* name,
                                          const std::vector<std::size_t>& position) {
  const Variable& variable = frame.variable(name);
  return variable.cells[frame.cell_index(variable, position)];
}

[[nodiscard]] inline Comparison compare(std::string quantity, double predicted, Relation relation,
                                        const Estimate& measured, double tolerance) {
  return {std::move(quantity), predicted, relation, measured, tolerance};
}

/// What a drawn log Z of N scores may be off by beyond chance: the bound of the sampler, and the
/// rounding of log N + β max s in a mean over draws.
[[nodiscard]] inline double partition_error(const Frame& frame, std::size_t n, std::size_t t) {
  const double log_n = std::log(frame.dimension("n").coordinates[n]);
  const double load = frame.dimension("t").coordinates[t];
  return cell(frame, "log_partition_bound", {n, t}).mean +
         64.0 * kEpsilon * (1.0 + load) * (1.0 + load) * log_n;
}

/// Exact means at β = t√(2 log N)/σ.
[[nodiscard]] inline theory::RandomEnergyMeans exact_means(double log_n, double load) {
  return theory::random_energy_means(log_n, load * theory::freezing_beta(log_n));
}

/// E log w_max = β E M_N − E log Z, the logarithm of the typical largest weight, exactly.
[[nodiscard]] inline double exact_log_largest_weight(double log_n, double load) {
  return load * theory::freezing_beta(log_n) * theory::mean_largest_score(log_n) -
         exact_means(log_n, load).log_partition;
}

/// What the law of the weights above freezing, taken at t_e = β/b_N, misses at finite N: the scores
/// near the edge are b + G/b − (G + G²/2)/b³ + ..., so the error is of order b⁻². For loads from
/// 1.4 on its coefficient is below 1 in every mean weight: 0.06 in E w_max and 0.09 in E Σw² at
/// t = 2.
[[nodiscard]] inline double edge_remainder(double log_n) {
  const double edge = theory::edge_score(log_n);
  return 1.0 / (edge * edge);
}

}  // namespace dewpoint::claims
