// What a sweep says about itself, and who ran it: meta, parameter and session. Private to the
// store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "dewpoint/store/database.hpp"
#include "dewpoint/store/schema.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::store {

/// Throws Error{malformed_file} unless the file is a sweep.
StudyForm expect_sweep(Database& database, const std::filesystem::path& file);

/// Replaces it; the time of creation stays.
void write_head(Database& database, const SweepHead& head);
[[nodiscard]] SweepHead read_head(Database& database);

/// Returns its number.
std::int64_t write_session(Database& database, const SweepSession& session);
void end_session(Database& database, std::int64_t number, const std::string& stopped,
                 const std::string& outcome);

}  // namespace dewpoint::store
