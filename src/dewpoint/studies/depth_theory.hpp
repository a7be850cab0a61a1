// The exact recursions of theory beside a measurement of many layers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/depth_question.hpp"
#include "dewpoint/question/asked.hpp"

namespace dewpoint::studies {

enum class RecursionLaw { simplex, two_level };
[[nodiscard]] const std::vector<std::pair<std::string, RecursionLaw>>& words_of(RecursionLaw);

/// Layers on tokens that are a simplex, or two levels of one, of any length up to 1e300.
struct ExactDepth {
  RecursionLaw law = RecursionLaw::simplex;
  double n = 256.0;
  std::optional<double> d;     // n
  double rho = 0.5;            // between clusters, or all
  double rho_inner = 0.8;      // two-level
  double cluster_size = 16.0;  // two-level
  double gamma = 1.0;
  double alpha = 0.0;
  std::size_t layers = 12;
  double squared_norm = 1.0;  // q
};

template <class Visitor>
void describe(Visitor& visit, ExactDepth& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("tokens", q.law, "tokens whose recursion is exact");
  visit("n", q.n, in(2.0, 1e300), "tokens");
  visit("d", q.d, in(1.0, 1e300), "dimension", otherwise("n"));
  visit("rho", q.rho, experiments::kCorrelations, "correlation of two tokens");
  visit("rho-inner", q.rho_inner, experiments::kCorrelations, "correlation within a cluster");
  visit("cluster-size", q.cluster_size, in(1.0, 1e300), "tokens per cluster");
  visit("gamma", q.gamma, above(0.0, experiments::kMostGamma), "beta = gamma log n");
  experiments::describe_residual(visit, q.alpha);
  visit("layers", q.layers, in(1.0, experiments::kMostLayers), "layers");
}

/// With its dimension. Throws Error{bad_value} for clusters that do not fit.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] ExactDepth resolved(ExactDepth question);

/// A Frame "depth_theory" over (gamma, layer) by the recursions of theory, at these γ in the place
/// of the question's: log10_gap, mean_cosine, contraction and (simplex) jacobian_norm as in
/// experiments/phase_depth.hpp; for two-level also log10_inner_gap, of two tokens of a cluster.
/// `question` is resolved.
[[nodiscard]] Frame exact_depth(const ExactDepth& question, const std::vector<double>& gammas);

/// What depth_fields() ask, for phase_depth: every γ. `rows` in the place of a file of tokens.
/// Throws Error{bad_value} naming the field.
[[nodiscard]] experiments::PhaseDepth phase_depth_of(
    const question::Asked& asked, std::uint64_t seed,
    std::shared_ptr<const Matrix<double>> rows = nullptr);

/// Random heads, and the plain layer otherwise, on tokens that theory/random_heads.hpp knows.
[[nodiscard]] bool has_random_heads(const experiments::PhaseDepth& parameters);

/// The recursion that describes a measurement (theory/random_heads.hpp for random heads), or
/// nothing for tokens and forms of the layer that have none, and where β changes from layer to
/// layer. With random heads and what goes end to end also end_to_end_norm.
[[nodiscard]] std::optional<Frame> depth_theory(const experiments::PhaseDepth& parameters);

}  // namespace dewpoint::studies
