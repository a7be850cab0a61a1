#include "dewpoint/store/database.hpp"

#include <cmath>
#include <limits>
#include <system_error>

namespace dewpoint::store {
namespace {

constexpr int kPrimaryCode = 0xff;  // extended result codes keep the primary one in the low byte

std::string reason_of(sqlite3* database, int code) {
  const bool from_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  if (code == SQLITE_FULL) return "no room left on the disk";
  const int error_number = sqlite3_system_errno(database);
  if (from_system && error_number != 0) return std::generic_category().message(error_number);
  return sqlite3_errmsg(database);
}

void check(sqlite3* database, int result) {
  const int code = result & kPrimaryCode;
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  throw DatabaseError(code, reason_of(database, code));
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  check(database,
        sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &raw, nullptr));
  statement_.reset(raw);
}

bool Statement::step() {
  const int result = sqlite3_step(statement_.get());
  check(sqlite3_db_handle(statement_.get()), result);
  return (result & kPrimaryCode) == SQLITE_ROW;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind_at(int index, std::string_view value) {
  // A null pointer would bind NULL; an empty text is a text.
  check(sqlite3_db_handle(statement_.get()),
        sqlite3_bind_text64(statement_.get(), index, value.empty() ? "" : value.data(),
                            value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_at(int index, double value) {
  const int result = std::isnan(value) ? sqlite3_bind_null(statement_.get(), index)
                                       : sqlite3_bind_double(statement_.get(), index, value);
  check(sqlite3_db_handle(statement_.get()), result);
}

void Statement::bind_integer(int index, std::int64_t value) {
  check(sqlite3_db_handle(statement_.get()), sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::expect_type(int column, int type) const {
  if (sqlite3_column_type(statement_.get(), column) == type) return;
  throw DatabaseError(SQLITE_CORRUPT, std::string("a value of the wrong type in column '") +
                                          sqlite3_column_name(statement_.get(), column) + "'");
}

std::string Statement::text(int column) const {
  expect_type(column, SQLITE_TEXT);
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return size == 0 ? std::string() : std::string(bytes, size);
}

std::int64_t Statement::integer(int column) const {
  expect_type(column, SQLITE_INTEGER);
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  expect_type(column, SQLITE_FLOAT);
  return sqlite3_column_double(statement_.get(), column);
}

Database::Database(const std::filesystem::path& file, int flags) {
  sqlite3* raw = nullptr;
  // An absolute name, so that SQLite sees neither ":memory:" nor "file:...".
  const int result = sqlite3_open_v2(std::filesystem::absolute(file).c_str(), &raw, flags, nullptr);
  database_.reset(raw);  // SQLite hands out a connection even when it fails
  check(raw, result);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
}

void Database::execute(const char* sql) {
  check(database_.get(), sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr));
}

}  // namespace dewpoint::store
