// What every study begins with: who made it and when, and whether its file can be written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// Version and commit: "0.1.0+a1b2c3d4e5".
[[nodiscard]] std::string full_version();

/// A record with everything but its parameters and frames: of this version, made now.
[[nodiscard]] store::StudyRecord begin_study(const std::string& experiment, std::uint64_t seed,
                                             const std::string& command);

/// A number of theory as a cell: without error, from no samples.
[[nodiscard]] Estimate exact_value(double value);

/// Throws Error{unwritable_file} unless a file could be written there: asked before long work.
void require_writable(const std::filesystem::path& file);

}  // namespace dewpoint::cli
