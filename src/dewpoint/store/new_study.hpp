// What every study begins with: who made it and when, and whether its file can be written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "dewpoint/store/study.hpp"

namespace dewpoint::store {

/// A record with everything but its parameters and frames: of this version, made now.
[[nodiscard]] StudyRecord begin_study(const std::string& experiment, std::uint64_t seed,
                                      const std::string& command);

/// Throws Error{unwritable_file} unless a file could be written there: asked before long work.
void require_writable(const std::filesystem::path& file);

/// Now, as ISO 8601 in UTC.
[[nodiscard]] std::string utc_now();

}  // namespace dewpoint::store
