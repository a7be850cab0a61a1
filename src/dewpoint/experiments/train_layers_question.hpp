// What can be asked of training a transformer of several layers and heads on a Markov chain.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/experiments/train_question.hpp"

namespace dewpoint::experiments {

struct TrainLayersQuestion {
  ChainQuestion chain;
  std::size_t s = 19;
  std::size_t sequences = 100'000;
  std::size_t batch = 256;
  ModelQuestion model{.layers = 2, .residual = true};
  LearningQuestion learning{.adam = {}, .steps = 1500, .record_every = 10};
};

template <class Visitor>
void describe(Visitor& visit, TrainLayersQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.chain);
  visit("s", q.s, in(1.0, 1e4), "context length");
  visit("sequences", q.sequences, in(1.0, 1e8), "sequences that are drawn");
  visit("batch", q.batch, in(1.0, 1e8), "sequences per step");
  describe(visit, q.model);
  describe(visit, q.learning);
}

/// Complete; pi from the most frequent token to the rarest. Throws Error{bad_value} naming what
/// does not fit the rest, or a chain that is a file: a point is the whole question.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] TrainLayersQuestion resolved(TrainLayersQuestion question);

/// The run of a complete question.
[[nodiscard]] LayerQuestion run_of(const TrainLayersQuestion& resolved, std::uint64_t seed);

}  // namespace dewpoint::experiments
