// The phase diagram of one self-attention layer: a point, or a map over ρ and γ.
//
// A replica is one cloud of tokens. The error of every number is that of its mean over replicas; it
// is unknown (NaN) for a single random cloud and 0 for a law without randomness.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::experiments {

struct PhasePoint {
  tokens::CloudParameters cloud;
  double inverse_temperature = 1.0;  // β
  double residual = 0.0;             // α
  std::size_t rows = 0;              // queries sampled per cloud; 0: all
  std::size_t rank_rows = 0;         // outputs whose effective rank is measured; 0: it is not
  attention::LayerForm form;
  std::optional<attention::NormOptions> norm = attention::NormOptions{};  // empty: no Jacobian norm
  Replication replication;
  std::uint64_t seed = 1;
};

/// Checks and completes the parameters as phase_point would, without running it. Throws
/// Error{bad_value} naming the field. The Jacobian norm of a form that is not plain is sampled by
/// Hutchinson's probes: `automatic` becomes that, other methods are refused.
[[nodiscard]] PhasePoint resolved(PhasePoint parameters);

/// A 0-d Frame "phase_point" with the observables of phase_cell.hpp. With sampled rows also
/// "row_sampling_error": the part of λ's error per cloud that is due to the sampling of rows. Where
/// the Jacobian norm was sampled, "norm_sampling_error": the same for η, probes included. Seed and
/// replica of the probes are those of the clouds. Sampled rows of very many tokens do without the
/// cloud in memory: streamed_rows.hpp.
[[nodiscard]] Frame phase_point(const PhasePoint& parameters, const RunContext& context = {});

/// Why λ, and with it the cosines, of a frame of phase_point is NaN: which tokens have none.
/// Nothing where it is a number.
[[nodiscard]] std::optional<std::string> why_undefined(const Frame& point);

struct PhaseMap {
  tokens::CloudParameters cloud;  // n, d and rho are replaced by the grid
  std::vector<std::size_t> n = {512};
  std::vector<std::size_t> d = {64};  // 0: the law's own
  std::vector<double> rho;            // empty: 0, 0.05, ..., 0.95
  std::vector<double> gamma;          // empty: 0.25, 0.5, ..., 8
  double residual = 0.0;
  attention::LayerForm form;
  std::optional<attention::NormOptions> norm = attention::NormOptions{};  // empty: no Jacobian norm
  Replication replication;  // per (n, d), the worst cell decides
  std::uint64_t seed = 1;
};

/// The map's own grid where none was given.
[[nodiscard]] std::vector<double> default_rhos();
[[nodiscard]] std::vector<double> default_gammas();

/// A Frame "phase_map" over (n, d, rho, gamma), β = γ log n.
///
///   Properties  (1) equal bytes for any number of threads.
///               (2) a cell's value for a given number of replicas does not depend on the other
///                   cells of the map.
///               (3) agrees with phase_point at the same parameters to the accuracy of float32.
[[nodiscard]] Frame phase_map(const PhaseMap& parameters, const RunContext& context = {});

/// Checks and completes the parameters as phase_map would, without running it.
[[nodiscard]] PhaseMap resolved(PhaseMap parameters);

}  // namespace dewpoint::experiments
