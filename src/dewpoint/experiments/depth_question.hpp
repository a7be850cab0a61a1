// What can be asked of many layers one after the other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/experiments/phase_depth.hpp"

namespace dewpoint::experiments {

inline constexpr double kMostLayers = 1e5;

struct DepthQuestion {
  LayerQuestion layer = {.cloud = {.n = 256}};
  std::size_t layers = 12;
  bool rescale = false;
  std::size_t singular_values = 0;
  std::optional<bool> end_to_end = false;
  std::optional<std::size_t> probes = EndToEnd{}.probes;
};

template <class Visitor>
void describe(Visitor& visit, DepthQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.layer);
  visit("layers", q.layers, in(1.0, kMostLayers), "layers", fixed);
  visit("rescale", q.rescale, "before each layer, raise beta so that beta (1 - mean cosine) stays");
  visit("singular-values", q.singular_values, in(0.0, 1e6),
        "of the end-to-end Jacobian: its norm and so many of the largest; 0: not looked at", fixed);
  visit("end-to-end", q.end_to_end,
        "the norm of the end-to-end Jacobian without its singular values");
  visit("probes", q.probes, in(1.0, 1e6), "random probes for the norm of the end-to-end Jacobian",
        fixed);
}

/// As of the layer; end-to-end and probes only where something is looked at with them. Throws
/// Error{bad_value} for what phase_depth does not take.
///   Properties  (1) completed(completed(q)) = completed(q).
[[nodiscard]] DepthQuestion completed(DepthQuestion question);
/// The same with every temperature as gamma.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] DepthQuestion resolved(DepthQuestion question);

/// A complete question for phase_depth, at its gamma.
[[nodiscard]] PhaseDepth phase_depth_of(const DepthQuestion& question, std::uint64_t seed);

/// As verbs and rooms ask: lists of one of the temperatures, and clouds to average over.
[[nodiscard]] const std::vector<question::Field>& depth_fields();

}  // namespace dewpoint::experiments
