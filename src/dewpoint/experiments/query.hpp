// Attention of one query over n uniform keys on the sphere S^{d−1}, measured at any n.
//
// Below the critical inverse temperature the output is a fixed contraction of the query with
// Gaussian fluctuations; at it a random few keys share the weight; above it the nearest key is
// returned. One draw is the n keys around the query, exactly in law whatever n
// (scores/sphere_output.hpp); it serves every temperature.
//
// Three units of temperature, with F the law of the gap T = 1 − ⟨q, k⟩ and F(t_n) = 1/n:
//
//     β itself,      θ = β/β*, β* = (c_d n)^{2/(d−1)},      multiples of β_edge = n F′(t_n).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::experiments {

/// Scales of inverse temperature for n keys.
struct QueryScales {
  double unit;         // β* = (c_d n)^{2/(d−1)}
  double typical_gap;  // t_n, the gap with n F(t_n) = 1; 1/t_n → β*
  double edge;         // β_edge, (d − 1)/2 times β* in the limit
};

///   Domain      2 ≤ d ≤ 512, n ≥ 2.
///   Accuracy    relative error 1e-12.
///   Properties  (1) d = 3: all are n/2, t_n its inverse.
[[nodiscard]] QueryScales query_scales(int dimension, double log_n);

/// Most β that is sampled.
inline constexpr double kLargestInverseTemperature = 1e299;

enum class TemperatureUnit { beta, theta, edge };

/// "beta", "theta", "edge".
[[nodiscard]] const char* name_of(TemperatureUnit unit);

/// β of a temperature in this unit.
[[nodiscard]] double inverse_temperature(TemperatureUnit unit, double value,
                                         const QueryScales& scales);

struct Query {
  int dimension = 5;
  std::vector<double> n = {1e3};  // whole numbers, 2 to 1e300 (1e145 at d = 2)
  TemperatureUnit unit = TemperatureUnit::theta;
  std::vector<double> temperatures = {1.0};  // in that unit
  std::size_t draws = 4000;                  // errors fall as its square root
  std::size_t top =
      0;  // k, the keys drawn one by one, at least `ranks`; 0: 64, or n if that is less
  double bound = 0.0;       // above 0: the k whose mean W bound on log Z is this, instead of `top`
  std::size_t ranks = 8;    // how many ordered weights
  bool keep_draws = false;  // return single draws too
  std::uint64_t seed = 1;
};

/// Checks and completes the parameters. Throws Error{bad_value} naming the field: d < 2, n < 2 or
/// not whole, k > n, k < ranks, a temperature that is not positive, draws < 2, a bound that 4096
/// keys do not reach.
[[nodiscard]] Query resolved(Query parameters);

/// The k of a resolved question at this n: `top`, or the one that `bound` needs at every
/// temperature, or the standard one; all n keys where they are no more than `ranks`. Throws
/// Error{bad_value} for a bound that 4096 keys do not reach.
[[nodiscard]] std::size_t top_count(const Query& question, double n);

struct QueryResult {
  Frame means;
  Frame draws;  // empty unless kept
};

/// Frame "query": U stands for the unit of temperature, "beta", "theta" or "edge".
///
///   over (n):    beta_star, inverse_typical_gap, beta_edge, top_count
///   over (n, U):
///     inverse_temperature  β
///     participation        Σ w²
///     entropy              −Σ w log w
///     remainder            1 − w_1
///     bias                 1 − ⟨q, ATT⟩, and scaled_bias, the same times β*
///     scatter              |ATT_⊥|², and scaled_scatter, the same times β*
///     expected_scatter     Σ w² (1 − ⟨q, k⟩²): the same mean as scatter, with less noise
///     radial_variance      n Var⟨q, ATT⟩
///     across_variance      n Var of one coordinate of ATT_⊥
///     skewness             of 1 − ⟨q, ATT⟩
///     virial_residual      (d − 1)⟨q, ATT⟩ − β Σ w(1 − w)(1 − ⟨q, k⟩²): zero in the mean
///     rest_weight          share of the keys that were not drawn one by one
///     log_partition_bound, largest_weight_bound    W bounds on the laws of log Z and w_max
///     exchange             ε of scores/sphere_output.hpp
///   over (n, U, rank): weight, the ordered weights
///
/// Frame "query_draws" over (n, U, draw): largest_weight, second_weight, scaled_radial (β*(1 −
/// ⟨q, ATT⟩)), scaled_across (√β* times one coordinate of ATT_⊥).
///
///   Properties  (1) equal bytes for any number of threads.
///               (2) a row does not depend on the other rows of the grid.
///               (3) virial_residual is zero within its error, and scatter is expected_scatter.
[[nodiscard]] QueryResult query(const Query& parameters, const RunContext& context = {});

}  // namespace dewpoint::experiments
