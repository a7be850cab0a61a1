// The Markov chain of a training experiment, as parameters of a study: pi, lambda and chain.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/training/chain.hpp"

namespace dewpoint::studies {

/// pi, a text "0.75,0.19,0.05,0.01"; lambda; chain, a word; then the others of an experiment.
[[nodiscard]] std::vector<Field> chain_parameters(const std::vector<Field>& others);

/// The chain of a point. Throws Error{bad_value} naming the parameter.
[[nodiscard]] training::Chain chain_at(const Point& point);

/// Writes pi in the order that the chain has, from the most frequent token to the rarest, so that
/// two orders of one law are one point.
void sort_law(Point& point);

/// 0, 1, ... for the tokens of the chain.
[[nodiscard]] Dimension token_dimension(const training::Chain& chain);

}  // namespace dewpoint::studies
