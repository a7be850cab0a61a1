// The model written down plainly: one sequence at a time, embeddings and all.
//
// This is what a first reading of [FD, Definition 3.2] gives and what the collapse to histograms is
// tested against: every sequence is embedded, attended, unembedded and differentiated on its own.
// Slow on purpose.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/training/parameters.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::training {

struct ReferenceGradient {
  double loss = 0.0;
  Parameters<double> gradient;
};

/// Mean cross-entropy at the last position, and its gradient by backpropagation.
[[nodiscard]] ReferenceGradient reference_gradient(const Parameters<double>& parameters,
                                                   const SequenceSet& sequences, bool residual);

}  // namespace dewpoint::training
