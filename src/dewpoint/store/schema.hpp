// The tables of a study, and what a file must say about itself before its tables are read.
//
// Private to the store. There are two kinds of files: finished results (frames, attachments) and
// sweeps that grow. Schema 3 had no hashes; schema 2 had no attachments; schema 1 knew results
// only, with their numbers in a table named `cell` and without labels. study.hpp and sweep_file.hpp
// describe the tables for people.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/store/database.hpp"

namespace dewpoint::store {

enum class StudyKind { result, sweep };

/// What a file says it is.
struct StudyForm {
  int schema = 0;
  StudyKind kind = StudyKind::result;
};

/// Makes the empty tables of the newest schema; within a transaction of the caller.
void create_tables(Database& database, StudyKind kind);

/// Makes an older sweep one of the newest schema, whose cells have no hashes yet; within a
/// transaction of the caller.
void upgrade_sweep(Database& database);

/// Throws Error{malformed_file} unless the file is a study of a schema that is known here.
[[nodiscard]] StudyForm expect_study(Database& database, const std::filesystem::path& file);

/// True for a database in which nobody has made anything yet.
[[nodiscard]] bool is_empty(Database& database);

/// The first number of the first row, 0 without rows.
[[nodiscard]] std::int64_t single_number(Database& database, std::string_view sql);

// ------------------------------------------------------------------------- meta and parameter

using TextPairs = std::vector<std::pair<std::string, std::string>>;

void write_meta(Database& database, std::string_view key, std::string_view value);
[[nodiscard]] std::string read_meta(Database& database, std::string_view key);
[[nodiscard]] std::uint64_t read_seed(Database& database);
/// Replaces them all.
void write_parameters(Database& database, const TextPairs& parameters);
[[nodiscard]] TextPairs read_parameters(Database& database);

// ------------------------------------------------------------------------------------- damage

/// Throws the DatabaseError of a file whose tables contradict each other.
[[noreturn]] void damaged(const std::string& what);
/// `value` as a size; negative ones are damage.
[[nodiscard]] std::size_t count_from(std::int64_t value, const char* what);
/// Rows of a table are numbered without gaps.
void expect_position(std::int64_t found, std::size_t expected, const char* table);

}  // namespace dewpoint::store
