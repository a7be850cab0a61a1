// dewpoint predict: the theory, asked from the command line. Every answer is a formula evaluated in
// a moment, at any length up to n = 1e300; nothing is simulated. The questions are in files of
// their own:
//
//   layer      one layer on a regular simplex of tokens, exact, beside its limits
//   variant    the same under a causal mask, a sliding window or a sink
//   bounds     what a layer must do when correlations are only known to lie in an interval
//   phases     clustered tokens: where a row of attention puts its mass
//   critical   where the transition is, by every model of the tokens we have
//   depth      layer after layer until the tokens, or their clusters, have merged
//   scaling    what becomes of longer contexts under the multipliers that models use
//   condense   softmax over Gaussian scores, and a planted key
//   query      one query over uniform keys on a sphere, in its three regimes
//   softmax    exact means of softmax over any number of scores of any continuous law
//   dew        where a law of scores condenses, by every definition
//   heat       attention as the heat equation run backwards
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

namespace dewpoint::cli {

Verb predict_verb() {
  return group_of("predict",
                  "The theory: what one layer, many layers or a scaling must do, at any length");
}

}  // namespace dewpoint::cli
