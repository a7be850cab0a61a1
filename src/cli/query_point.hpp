// The text of `dewpoint query point`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/query.hpp"

namespace dewpoint::cli {

/// One block per n and temperature: measured values with errors beside what theory says.
[[nodiscard]] std::string query_point_text(const experiments::Query& question,
                                           const Frame& measured, const Frame& theory);

}  // namespace dewpoint::cli
