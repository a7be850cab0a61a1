// How often memory was asked for. What links this has the functions that vectors and matrices take
// their memory from replaced by ones that count.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace dewpoint::test {

/// Allocations of any thread while `work` runs.
[[nodiscard]] long allocations_of(const std::function<void()>& work);

}  // namespace dewpoint::test
