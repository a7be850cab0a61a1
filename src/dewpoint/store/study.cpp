#include "dewpoint/store/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/access.hpp"
#include "dewpoint/store/cell_tables.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/frame_tables.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// SQLite's check of its pages reads them all: 0.13 s for these 20 MB. Larger files are read without
// it; their reader still sees cut files, torn pages that it meets and missing rows.
constexpr std::uintmax_t kLargestChecked = 20'000'000;

void write_attachments(Database& database, const std::vector<Attachment>& attachments) {
  auto insert = database.prepare("INSERT INTO attachment VALUES (?, ?)");
  for (const Attachment& one : attachments) insert.run(one.name, std::span(one.bytes));
}

std::vector<Attachment> read_attachments(Database& database) {
  std::vector<Attachment> attachments;
  auto query = database.prepare("SELECT name, bytes FROM attachment ORDER BY rowid");
  while (query.step()) attachments.push_back({query.text(0), query.bytes(1)});
  return attachments;
}

void write_record(Database& database, const StudyRecord& record) {
  // The file is ours alone until it is renamed, and PendingFile syncs it.
  database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  create_tables(database, StudyKind::result);
  write_meta(database, "experiment", record.experiment);
  write_meta(database, "seed",
             fmt::format("{}", record.seed));  // SQLite's integers end at 2^63 - 1
  write_meta(database, "version", record.version);
  write_meta(database, "command", record.command);
  write_meta(database, "created", record.created);
  write_parameters(database, record.parameters);
  write_frames(database, record.frames);
  write_attachments(database, record.attachments);
  database.execute("COMMIT");
}

StudyRecord read_record(Database& database, const StudyForm& form) {
  StudyRecord record;
  record.experiment = read_meta(database, "experiment");
  record.parameters = read_parameters(database);
  record.seed = read_seed(database);
  record.version = read_meta(database, "version");
  record.command = read_meta(database, "command");
  record.created = read_meta(database, "created");
  if (form.kind == StudyKind::result) {
    record.frames = read_frames(database, form.schema);
    if (form.schema > 2) record.attachments = read_attachments(database);
  } else {
    record.frames.push_back(read_sweep_frame(database, record.experiment));
  }
  return record;
}

bool is_checked(const fs::path& file) {
  std::error_code unknown;
  return fs::file_size(file, unknown) <= kLargestChecked;
}

}  // namespace

const Frame& StudyRecord::frame(std::string_view name) const {
  const auto found = std::find_if(frames.begin(), frames.end(),
                                  [&](const Frame& frame) { return frame.name() == name; });
  if (found == frames.end()) {
    throw Error(Code::bad_value, fmt::format("the study has no frame named '{}'", name));
  }
  return *found;
}

std::span<const std::byte> StudyRecord::attachment(std::string_view name) const {
  const auto found = std::find_if(attachments.begin(), attachments.end(),
                                  [&](const Attachment& one) { return one.name == name; });
  if (found == attachments.end()) {
    throw Error(Code::bad_value, fmt::format("the study has no attachment named '{}'", name));
  }
  return found->bytes;
}

void write_study(const fs::path& file, const StudyRecord& record) {
  PendingFile pending(file);
  try {
    Database database(pending.path(), SQLITE_OPEN_READWRITE);
    write_record(database, record);
  } catch (const DatabaseError& error) {
    if (error.code() != SQLITE_CONSTRAINT) throw_unwritable(file, error.what());
    throw Error(Code::bad_value, fmt::format("cannot write '{}': {}", file.string(), error.what()));
  }
  const LockFile lock(file);
  fold_log(file);
  pending.commit();
}

StudyRecord read_study(const fs::path& file) {
  return reading(file, [&](Database& database) {
    const StudyForm form = expect_study(database, file);
    if (is_checked(file)) expect_sound_structure(database);
    return read_record(database, form);
  });
}

}  // namespace dewpoint::store
