#include "dewpoint/store/access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_unreadable(const fs::path& file, std::string_view reason) {
  throw Error(Code::unreadable_file, fmt::format("cannot read '{}': {}", file.string(), reason));
}

[[noreturn]] void throw_malformed(const std::string& message) {
  throw Error(Code::malformed_file, message);
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

Database begun(Database database, const fs::path& file) {
  database.execute("BEGIN");
  expect_whole(database, file);  // SQLite opens files at the first look only
  return database;
}

const char* remedy(int code) {
  switch (code) {
    case SQLITE_NOMEM:
      return "end other programs and run the same command again";
    case SQLITE_FULL:
      return "no space left: free some and run the same command again";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program has locked it: close that program and run the same command again";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return "make it and its folder writable, or choose another file";
    default:
      return "check the disk and run the same command again";
  }
}

}  // namespace

void expect_readable(const fs::path& file) {
  // SQLite only says "unable to open database file"; the system knows why.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_unreadable(file, std::generic_category().message(errno));
  ::close(descriptor);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) throw_unreadable(file, "not a regular file");
}

Database open_to_read(const fs::path& file) {
  try {
    return begun(Database(file, SQLITE_OPEN_READONLY), file);
  } catch (const DatabaseError& error) {
    // A log is needed and cannot be made: nobody writes here. Without a log the file is complete.
    const bool refused = error.code() == SQLITE_CANTOPEN || error.code() == SQLITE_READONLY;
    if (!refused || is_there(beside(file, "-wal"))) throw;
  }
  return begun(Database::immutable(file), file);
}

bool has_just_begun(Database& database, const fs::path& file) {
  return is_empty(database) && is_locked(file);
}

void expect_whole(Database& database, const fs::path& file) {
  const std::int64_t size =
      single_number(database, "PRAGMA page_count") * single_number(database, "PRAGMA page_size");
  // Looked for after the first query: until it ends, nobody can begin or end a log.
  if (is_there(beside(file, "-wal"))) return;  // which may hold the pages that are missing here
  std::error_code unknown;
  const auto found = static_cast<std::int64_t>(fs::file_size(file, unknown));
  if (!unknown && found == 1) throw DatabaseError(SQLITE_NOTADB, "a file of one byte");
  if (!unknown && found < size) {
    damaged(fmt::format("it has {} bytes and should have {}", found, size));
  }
}

void throw_read_error(const fs::path& file, const DatabaseError& error) {
  switch (error.code()) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();  // not the file's fault
    case SQLITE_NOTADB:
      throw_malformed(fmt::format("'{}' is not a Dewpoint study", file.string()));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_IOERR:
      throw_unreadable(file, error.what());
    default:
      throw_malformed(fmt::format("study '{}' is damaged: {}", file.string(), error.what()));
  }
}

void throw_write_error(const fs::path& file, const DatabaseError& error,
                       std::optional<std::size_t> kept) {
  switch (error.code()) {
    case SQLITE_NOTADB:
      throw_malformed(fmt::format("'{}' is not a Dewpoint study", file.string()));
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
      throw_malformed(
          fmt::format("study '{}' is damaged: {}", file.string(), with_remedy(error).what()));
    default:
      break;
  }
  const bool explained = error.code() == SQLITE_FULL || error.code() == SQLITE_BUSY;
  throw_unwritable(
      file,
      fmt::format("{}{}{}", explained ? "" : std::string(error.what()) + ": ", remedy(error.code()),
                  kept ? fmt::format("; {} finished cells are kept", *kept) : ""));
}

fs::path beside(const fs::path& file, std::string_view suffix) {
  fs::path name = file;
  name += suffix;
  return name;
}

void fold_log(const fs::path& file) {
  if (!is_there(beside(file, "-wal"))) return;
  try {
    Database(file, SQLITE_OPEN_READWRITE).execute("PRAGMA journal_mode = DELETE");
  } catch (const DatabaseError&) {
    // It cannot be folded because the file is damaged, or no database: its log is worth nothing.
  }
  ::unlink(beside(file, "-wal").c_str());
  ::unlink(beside(file, "-shm").c_str());
}

}  // namespace dewpoint::store
