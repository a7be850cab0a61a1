#include "dewpoint/store/head_tables.hpp"

#include <fmt/format.h>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {

StudyForm expect_sweep(Database& database, const std::filesystem::path& file) {
  const StudyForm form = expect_study(database, file);
  if (form.kind == StudyKind::sweep) return form;
  throw Error(Code::malformed_file,
              fmt::format("'{}' is a finished result, not a study with cells: choose another file",
                          file.string()));
}

void write_head(Database& database, const SweepHead& head) {
  write_meta(database, "experiment", head.experiment);
  write_meta(database, "seed", fmt::format("{}", head.seed));  // SQLite's integers end at 2^63 - 1
  write_meta(database, "version", head.version);
  write_meta(database, "command", head.command);
  write_meta(database, "text", head.text);
  write_meta(database, "title", head.title);
  database.execute(
      "INSERT OR IGNORE INTO meta VALUES ('created', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))");
  write_parameters(database, head.parameters);
  seal(database, StudyKind::sweep, Sealed::head);
}

SweepHead read_head(Database& database) {
  SweepHead head;
  head.experiment = read_meta(database, "experiment");
  head.parameters = read_parameters(database);
  head.seed = read_seed(database);
  head.version = read_meta(database, "version");
  head.command = read_meta(database, "command");
  head.text = read_meta(database, "text");
  head.title = read_meta(database, "title");
  return head;
}

std::int64_t write_session(Database& database, const SweepSession& session) {
  database
      .prepare(
          "INSERT INTO session (started, version, processor, simd, ranks, threads, command) "
          "VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(session.started, session.version, session.processor, session.simd, session.ranks,
           session.threads, session.command);
  return single_number(database, "SELECT max(id) FROM session");
}

void end_session(Database& database, std::int64_t number, const std::string& stopped,
                 const std::string& outcome) {
  database.prepare("UPDATE session SET stopped = ?, outcome = ? WHERE id = ?")
      .run(stopped, outcome, number);
}

}  // namespace dewpoint::store
