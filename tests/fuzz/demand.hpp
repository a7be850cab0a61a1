// What every fuzz target asks for: a broken promise is a crash, and a refusal is one line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

#include "dewpoint/core/error.hpp"

namespace dewpoint::fuzz {

inline void demand(bool condition) {
  if (!condition) std::abort();
}

/// The message begins with the name of the file and does not break the line.
inline void demand_one_line(const Error& error, std::string_view beginning) {
  const std::string_view message = error.what();
  demand(message.starts_with(beginning) && message.find('\n') == std::string_view::npos);
}

}  // namespace dewpoint::fuzz
