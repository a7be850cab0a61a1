// dewpoint heads: the verb below it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands.hpp"

namespace dewpoint::cli {

void add_heads_sweep(Program& program, CLI::App& heads);

}  // namespace dewpoint::cli
