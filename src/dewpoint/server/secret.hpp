// Letters that nobody can guess.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dewpoint::server {

/// 32 hexadecimal digits from the kernel's generator. Throws Error{missing_tool} where it has none.
[[nodiscard]] std::string fresh_secret();

}  // namespace dewpoint::server
