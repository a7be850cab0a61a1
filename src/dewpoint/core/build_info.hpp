// What this binary is and what it found on this machine.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dewpoint {

[[nodiscard]] std::string version();  // "0.1.0", from project() in CMakeLists.txt
[[nodiscard]] std::string commit();   // short hash, "+" when the tree was changed, or "unknown"
[[nodiscard]] std::string full_version();    // both: "0.1.0+a1b2c3d4e5"
[[nodiscard]] std::string commit_date();     // "2026-01-31"
[[nodiscard]] std::string compiler();        // "g++ 12.2.0"
[[nodiscard]] std::string processor_name();  // as the operating system calls it
[[nodiscard]] double memory_bytes();         // physical memory

}  // namespace dewpoint
