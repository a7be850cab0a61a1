// The exact recursions of theory beside a measurement of many layers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/phase_depth.hpp"

namespace dewpoint::studies {

/// Layers on tokens that are a simplex, or two levels of one, of any length up to 1e300.
struct ExactDepth {
  std::string law = "simplex";  // simplex or two-level
  double n = 512.0;
  double d = 512.0;
  double rho = 0.5;            // between clusters, or all
  double rho_inner = 0.8;      // two-level: within a cluster
  double cluster_size = 16.0;  // two-level
  double squared_norm = 1.0;   // q
  std::vector<double> gamma = {2.0};
  double residual = 0.0;
  std::size_t layers = 12;
};

/// A Frame "depth_theory" over (gamma, layer) by the recursions of theory: log10_gap, mean_cosine,
/// contraction and (simplex) jacobian_norm as in experiments/phase_depth.hpp; for two-level also
/// log10_inner_gap, of two tokens of a cluster. Throws Error{bad_value} naming the field.
[[nodiscard]] Frame exact_depth(const ExactDepth& parameters);

/// The recursion that describes a measurement (theory/random_heads.hpp for random heads), or
/// nothing for tokens and forms of the layer that have none, and where β changes from layer to
/// layer.
[[nodiscard]] std::optional<Frame> depth_theory(const experiments::PhaseDepth& parameters);

}  // namespace dewpoint::studies
