// Runs with several layers and heads that the tests share: small and quick.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/training/sequences.hpp"
#include "support/test_seed.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::experiments::test {

/// Two layers of 16, weights of size 0.2, batches of 32 out of 500 sequences.
inline LayerQuestion small(std::size_t layers = 2, std::size_t heads = 1) {
  LayerQuestion question;
  question.chain = training::test::standard_chain();
  question.shape.vocabulary = 4;
  question.shape.width = 16;
  question.shape.layers = layers;
  question.shape.heads = heads;
  question.shape.residual = true;
  question.deviation = 0.2;
  question.context = 7;
  question.sequences = 500;
  question.batch = 32;
  question.steps = 10;
  question.every = 5;
  question.seed = dewpoint::test::seed();
  return question;
}

inline training::SequenceSet sequences_of(const LayerQuestion& question, std::uint64_t replica) {
  return training::sample_sequences(question.chain, question.context, question.sequences,
                                    question.seed, replica, {});
}

}  // namespace dewpoint::experiments::test
