// What --version prints: this program and what it stands on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/answer.hpp"

namespace dewpoint::cli {

/// {"version", "commit", "simd", "blas", "mpi"}; mpi is null where the build has none.
[[nodiscard]] Answer version_answer();

}  // namespace dewpoint::cli
