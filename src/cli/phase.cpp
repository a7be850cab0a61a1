// dewpoint phase: the verbs below it are in files of their own.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

namespace dewpoint::cli {

Verb phase_verb() {
  return group_of("phase",
                  "Self-attention layers on a token cloud: do they collapse it, or freeze?");
}

}  // namespace dewpoint::cli
