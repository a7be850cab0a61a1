// The SQLite C interface with owners: a Database and its prepared Statements.
//
// Private to the store. Every failure throws DatabaseError in our words, which access.hpp turns
// into the Error that names the study; values enter SQL only through bind(). Columns are strict: a
// value of another type than asked for means a damaged file, and throws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::store {

class Digest;

class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(int code, const std::string& reason) : std::runtime_error(reason), code_(code) {}
  /// SQLITE_FULL (also where a limit or a quota says so), SQLITE_CORRUPT...: a primary result code.
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  /// Binds one value to each `?`, in order, and starts again from the first row.
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_at(++index, values), ...);
    return *this;
  }
  /// Moves to the next row; false after the last.
  bool step();
  /// Lets go of the rows that are left.
  void finish() { reset(); }
  /// bind() and step() for statements without rows.
  template <class... Values>
  void run(const Values&... values) {
    bind(values...).step();
  }

  [[nodiscard]] bool is_null(int column) const;
  /// Longer ones are refused: what a file of somebody else calls a name or a title is copied often.
  struct TextLimit {
    std::size_t most = std::size_t{1} << 20;  // bytes
    std::string_view field = {};              // what a refusal calls it; empty: its column
  };
  [[nodiscard]] std::string text(int column, const TextLimit& limit) const;
  [[nodiscard]] std::string text(int column) const { return text(column, TextLimit()); }
  [[nodiscard]] std::int64_t integer(int column) const;
  /// NULL is NaN.
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::vector<std::byte> bytes(int column) const;
  /// Every column of the current row, as it is stored.
  void add_row(Digest& digest) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void reset();
  void bind_at(int index, std::string_view value);
  void bind_at(int index, double value);  // NaN is NULL
  void bind_at(int index, std::span<const std::byte> value);
  void bind_null(int index);
  template <class Value>
  void bind_at(int index, const std::optional<Value>& value) {
    value ? bind_at(index, *value) : bind_null(index);
  }
  void bind_integer(int index, std::int64_t value);
  template <std::integral Integer>
  void bind_at(int index, Integer value) {
    bind_integer(index, static_cast<std::int64_t>(value));
  }
  void expect_type(int column, int type) const;

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  /// `flags` as in sqlite3_open_v2. Views, triggers and functions found in the file are not run.
  /// Whoever holds a lock on the file is waited for, kLockPatience at most.
  Database(const std::filesystem::path& file, int flags);
  /// Reads a file of which nobody can be a writer: without locks, without files beside it.
  [[nodiscard]] static Database immutable(const std::filesystem::path& file);
  static constexpr std::chrono::milliseconds kLockPatience{3000};

  /// Runs one or more constant statements that return nothing of interest.
  void execute(const char* sql);
  /// Ends a transaction that failed; nothing where SQLite has ended it already.
  void roll_back() noexcept;
  /// Whether the name of the file is gone, or another file's, since it was opened.
  [[nodiscard]] bool has_moved() const;
  [[nodiscard]] Statement prepare(std::string_view sql) { return {database_.get(), sql}; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct Name {
    std::string text;  // as SQLite takes it
  };
  Database(const Name& name, int flags);
  std::unique_ptr<sqlite3, Close> database_;
};

/// One transaction around the action: all of it, or nothing where something throws.
template <class Action>
void in_transaction(Database& database, Action&& action) {
  database.execute("BEGIN IMMEDIATE");
  try {
    action();
    database.execute("COMMIT");
  } catch (...) {
    database.roll_back();
    throw;
  }
}

}  // namespace dewpoint::store
