// `dewpoint condense` for people: a block per N, in it a line per load, each measurement followed
// by what theory says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/experiments/condense.hpp"

namespace dewpoint::cli {

/// From the frames "condense" and "condense_theory".
[[nodiscard]] std::string condense_text(const experiments::Condense& question,
                                        const Frame& measured, const Frame& theory);

}  // namespace dewpoint::cli
