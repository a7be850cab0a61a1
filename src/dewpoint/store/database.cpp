#include "dewpoint/store/database.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>

#include "dewpoint/store/digest.hpp"

namespace dewpoint::store {
namespace {

constexpr int kPrimaryCode = 0xff;  // extended result codes keep the primary one in the low byte

bool says_full(int error_number) {
  return error_number == ENOSPC || error_number == EFBIG || error_number == EDQUOT;
}

// SQLite reports the system's error for most calls but not for a COMMIT; the files remember it, and
// for the shared memory of the log nobody does but errno.
int system_error(sqlite3* database, int error_number) {
  if (const int reported = sqlite3_system_errno(database)) return reported;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int remembered = 0;
    const bool found = sqlite3_file_control(database, "main", which, &file) == SQLITE_OK &&
                       file != nullptr && file->pMethods != nullptr;
    if (found) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &remembered);
    if (remembered != 0) return remembered;
  }
  return error_number;
}

// SQLite's own words are for people who write SQL.
std::string plain_reason(int code) {
  switch (code) {
    case SQLITE_CORRUPT:
      return "its pages contradict each other";
    case SQLITE_ERROR:
      return "a table or a column is missing";
    case SQLITE_CONSTRAINT:
      return "two rows of one name";
    case SQLITE_NOTADB:
      return "not a database";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "another program has locked it";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "it may not be written";
    case SQLITE_CANTOPEN:
      return "it cannot be opened";
    case SQLITE_IOERR:
      return "the disk does not answer";
    case SQLITE_NOMEM:
      return "out of memory";
    case SQLITE_TOOBIG:
      return "a value is too large";
    default:
      return fmt::format("SQLite failed with code {}", code);
  }
}

void check(sqlite3* database, int result) {
  const int error_number = errno;
  const int code = result & kPrimaryCode;
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN && code != SQLITE_FULL) {
    throw DatabaseError(code, plain_reason(code));
  }
  const int reason = system_error(database, error_number);
  if (code == SQLITE_FULL || (code == SQLITE_IOERR && says_full(reason))) {
    throw DatabaseError(SQLITE_FULL, "no room left on the disk");
  }
  throw DatabaseError(code,
                      reason != 0 ? std::generic_category().message(reason) : plain_reason(code));
}

// Everything but letters, digits and a few signs is escaped, so that no name ends the path.
std::string uri_of(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
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
  if (std::isnan(value)) return bind_null(index);
  check(sqlite3_db_handle(statement_.get()), sqlite3_bind_double(statement_.get(), index, value));
}

void Statement::bind_at(int index, std::span<const std::byte> value) {
  const void* first = value.empty() ? static_cast<const void*>("") : value.data();
  check(sqlite3_db_handle(statement_.get()),
        sqlite3_bind_blob64(statement_.get(), index, first, value.size(), SQLITE_TRANSIENT));
}

void Statement::bind_null(int index) {
  check(sqlite3_db_handle(statement_.get()), sqlite3_bind_null(statement_.get(), index));
}

void Statement::bind_integer(int index, std::int64_t value) {
  check(sqlite3_db_handle(statement_.get()), sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::expect_type(int column, int type) const {
  if (sqlite3_column_type(statement_.get(), column) == type) return;
  throw DatabaseError(SQLITE_CORRUPT, std::string("a value of the wrong type in column '") +
                                          sqlite3_column_name(statement_.get(), column) + "'");
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string Statement::text(int column, const TextLimit& limit) const {
  expect_type(column, SQLITE_TEXT);
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  if (size > limit.most) {
    const char* name = sqlite3_column_name(statement_.get(), column);
    throw DatabaseError(SQLITE_CORRUPT,
                        fmt::format("{}: {} bytes; allowed: at most {}",
                                    limit.field.empty() ? name : limit.field, size, limit.most));
  }
  return size == 0 ? std::string() : std::string(bytes, size);
}

std::int64_t Statement::integer(int column) const {
  expect_type(column, SQLITE_INTEGER);
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  if (type == SQLITE_FLOAT) return sqlite3_column_double(statement_.get(), column);
  if (type != SQLITE_NULL) expect_type(column, SQLITE_FLOAT);
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::byte> Statement::bytes(int column) const {
  expect_type(column, SQLITE_BLOB);
  const auto* first = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  return {first, first + sqlite3_column_bytes(statement_.get(), column)};
}

void Statement::add_row(Digest& digest) const {
  for (int column = 0; column < sqlite3_column_count(statement_.get()); ++column) {
    switch (sqlite3_column_type(statement_.get(), column)) {
      case SQLITE_INTEGER:
        digest.add(integer(column));
        break;
      case SQLITE_FLOAT:
      case SQLITE_NULL:
        digest.add(number(column));
        break;
      default:  // a text or a blob: the bytes are the same to SQLite
        digest.add(std::string_view(
            static_cast<const char*>(sqlite3_column_blob(statement_.get(), column)),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))));
    }
  }
}

// An absolute name, so that SQLite sees neither ":memory:" nor "file:...".
Database::Database(const std::filesystem::path& file, int flags)
    : Database(Name{std::filesystem::absolute(file).string()}, flags) {}

Database Database::immutable(const std::filesystem::path& file) {
  return {Name{uri_of(file) + "?immutable=1"}, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
}

Database::Database(const Name& name, int flags) {
  sqlite3* raw = nullptr;
  const int result = sqlite3_open_v2(name.text.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(raw);  // SQLite hands out a connection even when it fails
  check(raw, result);
  sqlite3_busy_timeout(raw, static_cast<int>(kLockPatience.count()));
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
}

void Database::execute(const char* sql) {
  check(database_.get(), sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr));
}

bool Database::has_moved() const {
  int moved = 0;
  const int result = sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return result == SQLITE_OK && moved != 0;
}

void Database::roll_back() noexcept {
  sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace dewpoint::store
