// How many clouds an experiment averages over, and how it runs them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::experiments {

/// How many clouds: a fixed number, or as many as a target asks for.
struct Replication {
  std::size_t replicas = 1;   // clouds; with a target: the fewest (at least 8)
  double target_error = 0.0;  // double the clouds until the error is this small; 0: no target
  std::size_t most = 4096;    // never more clouds than this
};

/// Runs replicas 0, 1, 2, ... in rounds until the plan is fulfilled: run({begin, end}) adds those
/// of one round; worst_error() is asked after each round when there is a target.
void replicate(const Replication& plan, bool deterministic,
               const std::function<void(Range replicas)>& run,
               const std::function<double()>& worst_error);

/// The context of a part of the work: its progress counts from part.begin to part.end of `whole`.
/// `context` must outlive it.
[[nodiscard]] RunContext part_of(const RunContext& context, Range part, std::size_t whole);

/// The largest γ, α and β of a layer, in verbs, studies and rooms. β = γ log n stays below the last
/// for every number of tokens.
inline constexpr double kMostGamma = 1e6;
inline constexpr double kMostResidual = 1e6;
inline constexpr double kMostInverseTemperature = 1e8;

/// Throw Error{bad_value} naming the option when a number is out of range.
void check(const Replication& plan);
void check_gamma(double gamma);
void check_residual(double alpha);
void check_inverse_temperature(double beta);

/// The probes of one cloud: seed and replica are those of the cloud.
[[nodiscard]] std::optional<attention::NormOptions> norm_of_replica(
    std::optional<attention::NormOptions> norm, std::uint64_t seed, std::uint64_t replica);

}  // namespace dewpoint::experiments
