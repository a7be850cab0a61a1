// Many self-attention layers one after the other: when do tokens collapse, and what is left of a
// gradient by then?
//
// A layer is iterated on its own outputs (attention/deep_layers.hpp keeps every angle, however
// small it becomes) at one inverse temperature β = γ log n, or at one that is re-scaled before each
// layer so that the reduced scale c = β (1 − mean cosine)/log n keeps its first value. Each layer
// has its contraction and Jacobian norm; the product of the Jacobians of all layers so far, the
// end-to-end Jacobian, has a norm and singular values of its own, found from products with it
// alone.
//
// Layers of other forms than the plain one (attention/variants/layer_form.hpp) go the same way,
// each with matrices of its own where they are random. Their gaps are followed to the rounding of
// one layer (attention/variants/deep_variant_layer.hpp): a gap of 1e-9 to 1e-27 and not further.
// From there on, gaps and contractions are unknown and all pairs unresolved; cosines, ranks, norms
// and singular values stay right.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::experiments {

/// The product of the Jacobians of all layers so far.
struct EndToEnd {
  std::size_t singular_values = 1;  // how many of the largest
  std::size_t probes = 32;          // for its norm, by Hutchinson's estimate
};

struct PhaseDepth {
  tokens::CloudParameters cloud;
  std::vector<double> gamma = {2.0};  // β = γ log n of the first layer
  bool rescaled = false;              // keep c instead of β
  double residual = 0.0;              // α
  attention::LayerForm form;
  std::size_t layers = 12;                                                // L
  std::optional<attention::NormOptions> norm = attention::NormOptions{};  // empty: no Jacobian norm
  std::optional<EndToEnd> end_to_end;
  Replication replication;
  std::uint64_t seed = 1;
};

/// Checks and completes the parameters as phase_depth would. Throws Error{bad_value} naming the
/// field: layers < 1, α < 0, γ < 0, a norm by Hutchinson with one probe, ...
[[nodiscard]] PhaseDepth resolved(PhaseDepth parameters);

/// Names of what is known of every layer, in storage order; the last two may not be asked for.
inline constexpr std::array<const char*, 11> kDepthObservables = {
    "log10_gap",        "smallest_cosine",     "mean_cosine",    "largest_cosine",
    "effective_rank",   "inverse_temperature", "contraction",    "log10_contraction",
    "unresolved_pairs", "jacobian_norm",       "end_to_end_norm"};

/// Whether an observable was asked for.
[[nodiscard]] bool is_asked_for(const PhaseDepth& parameters, std::size_t observable);

/// What one cloud shows at one γ; NaN for what is unknown or was not asked for.
struct DepthSample {
  std::vector<std::array<double, kDepthObservables.size()>> layers;  // 0 .. L
  std::vector<std::vector<double>> singular_values;                  // per layer, decreasing
};

/// Replica `replica` at one γ; the list of γ is not used. `parameters` must be resolved.
[[nodiscard]] DepthSample sample_depth(const PhaseDepth& parameters, double gamma,
                                       std::uint64_t replica, const RunContext& context);

/// A Frame "phase_depth" over (gamma, layer), layer = 0, 1, ..., L.
///
///   of the tokens after so many layers:
///     log10_gap         log10 of the mean of 1 − cos over pairs
///     smallest_cosine, mean_cosine, largest_cosine
///     effective_rank    n²/Σ_ij cos²: 1 when all tokens are on one line
///   of the layer that made them (unknown at layer 0):
///     inverse_temperature
///     contraction       λ, over pairs that are resolved
///     log10_contraction
///     unresolved_pairs  left out of it (attention/deep_layers.hpp)
///     jacobian_norm     η, if asked for
///   of all layers up to it, if asked for (the identity at layer 0):
///     end_to_end_norm   ‖J‖²/(n d)
///     singular_value    over (gamma, layer, rank): the largest ones, decreasing
///
///   Properties  (1) equal bytes for any number of threads.
///               (2) one layer agrees with phase_point.
///               (3) on a simplex it is theory's recursion.
///               (4) plain forms measured the way of the others show the same.
[[nodiscard]] Frame phase_depth(const PhaseDepth& parameters, const RunContext& context = {});

}  // namespace dewpoint::experiments
