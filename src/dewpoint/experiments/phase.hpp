// The phase diagram of one self-attention layer, point by point.
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

}  // namespace dewpoint::experiments
