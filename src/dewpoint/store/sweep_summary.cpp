#include "dewpoint/store/access.hpp"
#include "dewpoint/store/head_tables.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/schema.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::store {
namespace {

void read_progress(Database& database, StudySummary& summary) {
  auto planned = database.prepare(
      "SELECT count(*), count(nullif(c.replicas, 0)),"
      " coalesce(min(nullif(c.replicas, 0)), 0), coalesce(max(c.replicas), 0)"
      " FROM sweep_place p JOIN cell c ON c.id = p.cell");
  planned.step();
  summary.planned = count_from(planned.integer(0), "number of cells");
  summary.measured = count_from(planned.integer(1), "number of cells");
  summary.fewest_replicas = count_from(planned.integer(2), "number of replicas");
  summary.most_replicas = count_from(planned.integer(3), "number of replicas");
  const auto all = count_from(
      single_number(database, "SELECT count(*) FROM cell WHERE replicas > 0"), "number of cells");
  summary.kept = all - summary.measured;
}

void read_sessions(Database& database, StudySummary& summary) {
  auto query = database.prepare(
      "SELECT started, coalesce(stopped, ''), coalesce(outcome, ''), version, processor, ranks,"
      " threads FROM session ORDER BY id");
  while (query.step()) {
    summary.sessions.push_back({query.text(0), query.text(1), query.text(2), query.text(3),
                                query.text(4), static_cast<int>(query.integer(5)),
                                static_cast<int>(query.integer(6))});
  }
  auto effort = database.prepare("SELECT total(seconds) FROM effort");
  effort.step();
  summary.seconds = effort.number(0);
}

}  // namespace

StudySummary summarise(const std::filesystem::path& file) {
  StudySummary summary;
  summary.running = is_locked(file);
  reading(file, [&](Database& database) {
    summary.sweep = has_just_begun(database, file);
    if (summary.sweep) return;
    const StudyForm form = expect_study(database, file);
    expect_head(database, form);
    summary.sweep = form.kind == StudyKind::sweep;
    summary.experiment = read_meta(database, "experiment");
    summary.seed = read_seed(database);
    summary.version = read_meta(database, "version");
    summary.created = read_meta(database, "created");
    summary.command = read_meta(database, "command");
    if (!summary.sweep) return;
    summary.title = read_meta(database, "title");
    summary.text = read_meta(database, "text");
    read_progress(database, summary);
    read_sessions(database, summary);
  });
  return summary;
}

std::string state_of(const StudySummary& summary) {
  if (summary.running) return "running";
  if (!summary.sweep) return "finished";
  if (summary.sessions.empty()) return "planned";
  const std::string& outcome = summary.sessions.back().outcome;
  return outcome.empty() ? "killed" : outcome.substr(0, outcome.find(':'));
}

std::string last_time(const StudySummary& summary) {
  if (summary.sessions.empty()) return summary.created;
  const auto& last = summary.sessions.back();
  return last.stopped.empty() ? last.started : last.stopped;
}

}  // namespace dewpoint::store
