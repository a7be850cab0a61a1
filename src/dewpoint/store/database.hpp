// The SQLite C interface with owners: a Database and its prepared Statements.
//
// Private to the store. Every failure throws DatabaseError, which study.cpp turns into the Error
// that names the study; values enter SQL only through bind(). Columns are strict: a value of
// another type than asked for means a damaged file, and throws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dewpoint::store {

class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(int code, const std::string& reason) : std::runtime_error(reason), code_(code) {}
  /// SQLITE_FULL, SQLITE_CORRUPT...: the primary result code.
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
  /// bind() and step() for statements without rows.
  template <class... Values>
  void run(const Values&... values) {
    bind(values...).step();
  }

  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  /// NULL is NaN.
  [[nodiscard]] double number(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void reset();
  void bind_at(int index, std::string_view value);
  void bind_at(int index, double value);  // NaN is NULL
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
  Database(const std::filesystem::path& file, int flags);

  /// Runs one or more constant statements that return nothing of interest.
  void execute(const char* sql);
  [[nodiscard]] Statement prepare(std::string_view sql) { return {database_.get(), sql}; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace dewpoint::store
