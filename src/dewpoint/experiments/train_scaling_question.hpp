// What can be asked of training small transformers under a law of the logits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/experiments/scaled_training.hpp"
#include "dewpoint/experiments/training_parts.hpp"

namespace dewpoint::experiments {

struct TrainScalingQuestion {
  TextSource source;
  std::size_t s = 128;
  std::size_t tokens = 4096;
  std::string evaluations = "constant log-n llama-4 yarn";
  ModelQuestion model{.m = 128,
                      .layers = 2,
                      .heads = 4,
                      .residual = true,
                      .value = LayerValues::matrix,
                      .norm = LayerNorm::pre,
                      .causal = true,
                      .start = 4.0,
                      .scaling = "constant"};
  double target = 5.0;
  LearningQuestion learning{.adam = {.rate = 1e-3, .beta1 = {}, .beta2 = {}, .eps = {}},
                            .steps = 2000,
                            .record_every = 100};
};

template <class Visitor>
void describe(Visitor& visit, TrainScalingQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.source);
  visit("s", q.s, in(8.0, 1e4), "context length of training");
  visit("tokens", q.tokens, in(1.0, 1e7), "tokens per step, in contexts of s tokens");
  visit("evaluations", q.evaluations,
        "laws for longer contexts beside that of training, blanks between them", fixed);
  describe(visit, q.model, fixed);  // what is seen in a head is kept over layers and heads
  visit("target", q.target, "validation loss whose step is asked for", fixed);
  describe(visit, q.learning, fixed);
}

/// Complete. Throws Error{bad_value} naming what does not fit the rest.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] TrainScalingQuestion resolved(TrainScalingQuestion question);

/// The laws in `evaluations`, as they are named there.
[[nodiscard]] std::vector<std::string> evaluations_of(const TrainScalingQuestion& question);

/// The run of a complete question.
[[nodiscard]] ScaledQuestion run_of(const TrainScalingQuestion& resolved, std::uint64_t seed);

}  // namespace dewpoint::experiments
