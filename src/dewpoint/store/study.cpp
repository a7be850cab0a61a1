#include "dewpoint/store/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/access.hpp"
#include "dewpoint/store/cell_tables.hpp"
#include "dewpoint/store/database.hpp"
#include "dewpoint/store/frame_tables.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

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
  for (const Sealed part : {Sealed::head, Sealed::frames, Sealed::attachments}) {
    seal(database, StudyKind::result, part);
  }
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

// Where SQLite keeps the application of a file [https://www.sqlite.org/fileformat.html, 1.3].
bool names_us(const fs::path& file) {
  constexpr std::size_t kPlace = 68;
  std::array<char, kPlace + sizeof(kStudyApplication)> header{};
  std::ifstream(file, std::ios::binary).read(header.data(), header.size());
  std::uint32_t application = 0;
  for (std::size_t k = kPlace; k < header.size(); ++k) {
    application = application << 8 | static_cast<unsigned char>(header[k]);
  }
  return std::string_view(header.data()) == "SQLite format 3" && application == kStudyApplication;
}

// The experiment of a study, nothing for any other file. One that is damaged is still a study, with
// an experiment that nobody knows any more: "". Of one that was killed young the log knows it, and
// of one that was killed before that nobody does: a database without tables.
std::optional<std::string> experiment_in(const fs::path& file) try {
  const auto ask = [](Database& database) -> std::optional<std::string> {
    if (is_empty(database)) return "";
    if (single_number(database, "PRAGMA application_id") != kStudyApplication) return {};
    return read_meta(database, "experiment");
  };
  std::error_code unknown;
  if (fs::exists(beside(file, "-wal"), unknown)) return reading(file, ask);
  expect_readable(file);
  Database database = Database::immutable(file);  // which leaves nothing beside a stranger's
  return ask(database);
} catch (const std::runtime_error&) {
  return names_us(file) ? std::optional<std::string>("") : std::nullopt;
}

std::string described_study(const fs::path& file) {
  const auto experiment = experiment_in(file);
  return experiment ? fmt::format("a study of '{}'", *experiment) : "";
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

FileKind study_kind(const std::string& experiment) {
  const std::string name =
      experiment.empty() ? "a Dewpoint study" : fmt::format("a study of '{}'", experiment);
  return {name,
          [experiment](const fs::path& file) {
            const auto found = experiment_in(file);
            return found && (experiment.empty() || found->empty() || *found == experiment);
          },
          described_study};
}

void write_study(const OutputFile& output, const StudyRecord& record) {
  const fs::path& file = output.path;
  PendingFile pending(output, study_kind(record.experiment));
  try {
    Database database(pending.path(), SQLITE_OPEN_READWRITE);
    write_record(database, record);
  } catch (const DatabaseError& error) {
    if (error.code() != SQLITE_CONSTRAINT) throw_unwritable(file, error.what());
    throw Error(Code::bad_value,
                fmt::format("cannot write '{}': two frames, parameters or attachments of one name",
                            file.string()));
  }
  const LockFile lock(file);
  fold_log(file);
  pending.commit();
}

StudyRecord read_study(const fs::path& file) {
  return reading(file, [&](Database& database) {
    if (has_just_begun(database, file)) return StudyRecord{};
    const StudyForm form = expect_study(database, file);
    return read_soundly(database, form, [&] { return read_record(database, form); });
  });
}

}  // namespace dewpoint::store
