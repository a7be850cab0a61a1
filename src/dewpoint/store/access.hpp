// Opening a study to read it, and the sentence for whatever goes wrong with one.
//
// Private to the store. A reader never blocks a writer: it sees the file as it was at its first
// look, in one transaction, and creates nothing that outlives it in the study itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include "dewpoint/store/database.hpp"

namespace dewpoint::store {

/// Throws Error{unreadable_file} unless it is a regular file that may be read.
void expect_readable(const std::filesystem::path& file);

/// A connection within a read transaction. Works in folders that may not be written, too.
[[nodiscard]] Database open_to_read(const std::filesystem::path& file);

/// Whether it is the file of a writer that has not committed anything yet.
[[nodiscard]] bool has_just_begun(Database& database, const std::filesystem::path& file);

/// SQLite takes what is missing of its last page for zeros, and a file of one byte for an empty
/// one; here both are refused.
void expect_whole(Database& database, const std::filesystem::path& file);

/// Error{unreadable_file} or Error{malformed_file}; std::bad_alloc where memory ran out.
[[noreturn]] void throw_read_error(const std::filesystem::path& file, const DatabaseError& error);

/// Error{unwritable_file} or Error{malformed_file}, with what to do; `kept`: finished cells that
/// are safe in the file, where that is known.
[[noreturn]] void throw_write_error(const std::filesystem::path& file, const DatabaseError& error,
                                    std::optional<std::size_t> kept = {});

/// What the action returns for a connection to the file.
template <class Action>
auto reading(const std::filesystem::path& file, Action&& action) {
  expect_readable(file);
  try {
    Database database = open_to_read(file);
    return action(database);
  } catch (const DatabaseError& error) {
    throw_read_error(file, error);
  }
}

/// The name of a file beside a study: "a.study" and "-wal" give "a.study-wal".
[[nodiscard]] std::filesystem::path beside(const std::filesystem::path& file,
                                           std::string_view suffix);

/// Before a study is replaced by another file: a log that a killed process left beside it would be
/// taken for the log of the new one, so it is folded into the old one.
void fold_log(const std::filesystem::path& file);

}  // namespace dewpoint::store
