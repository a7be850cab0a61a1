// dewpoint query: attention of one fixed query. The verbs below it are in files of their own:
//
//   point       uniform keys on a sphere, any number of them: weights and output in three regimes
//   heat        keys of a density: attention as a step of the backward heat equation
//   harmonics   particles that all attend to each other: the same for their density
//   output      explicit keys of any law, and values V k
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

namespace dewpoint::cli {

Verb query_verb() {
  return group_of("query",
                  "One query over n keys: who gets the weight, and what attention returns");
}

}  // namespace dewpoint::cli
