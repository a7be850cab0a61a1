// The threads of this process as workers, on oneTBB.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

/// `threads`: 0 for as many as the machine has. `experiment` must outlive the workers.
/// Several that are alive at once share the threads of the machine.
[[nodiscard]] std::unique_ptr<Workers> local_workers(const Experiment& experiment,
                                                     std::uint64_t seed, int threads);

}  // namespace dewpoint::studies
