// What can be asked of a query's output over n keys of any law: one β. The sampler (key_output.hpp)
// takes many β on the same keys, and values other than the keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/experiments/key_output.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::experiments {

struct OutputQuestion {
  std::string keys = "sphere:d=5";
  std::size_t n = 100'000;
  std::optional<double> beta;
  std::optional<double> edge;
  std::size_t draws = 100;
};

template <class Visitor>
void describe(Visitor& visit, OutputQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  static const std::string laws = "law of the keys: " + scores::usage_of(scores::key_law_names());
  visit("keys", q.keys, laws);
  visit("n", q.n, in(2.0, 1e9), "keys");
  visit("beta", q.beta, at_least(0.0), "inverse temperature", grid("10,100"), otherwise("10"));
  visit("edge", q.edge, at_least(0.0),
        "multiple of beta_edge, the hazard of the scores at their upper 1/n quantile",
        instead_of("beta"), listed);
  visit("draws", q.draws, in(2.0, 1e6), "sets of keys to average over", fixed);
}

/// Complete: the law with all its parameters, the temperature as β. Throws Error{bad_value} for an
/// unknown law, for what the sampler does not take, and for an edge of keys without one.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] OutputQuestion resolved(OutputQuestion question);

/// Complete questions that differ in β alone, for the sampler; values are the keys.
[[nodiscard]] KeyOutput output_of(std::span<const OutputQuestion> tile);

/// The law of one score ⟨q, k⟩.
struct KeyScores {
  std::shared_ptr<const DepthDistribution> depth;
  double origin;  // score of depth zero
};

/// Nothing for keys whose scores have no known distribution.
[[nodiscard]] std::optional<KeyScores> scores_of(const std::string& keys);

}  // namespace dewpoint::experiments
