#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/access.hpp"
#include "dewpoint/store/cell_tables.hpp"
#include "dewpoint/store/head_tables.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/lock_file.hpp"
#include "dewpoint/store/new_study.hpp"
#include "dewpoint/store/plan_tables.hpp"
#include "dewpoint/store/salvage.hpp"
#include "dewpoint/store/schema.hpp"
#include "dewpoint/store/study.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

struct EffortRow {
  std::optional<std::int64_t> session;
  std::string key;
  SweepEffort effort;
};

struct SessionRow {
  std::int64_t number;
  SweepSession session;
  std::optional<std::string> stopped, outcome;
};

// Everything that a file holds.
struct Part {
  fs::path file;
  SweepHead head;
  std::string created;
  SweepPlan plan;
  std::vector<StoredCell> cells;
  std::vector<SessionRow> sessions;
  std::vector<EffortRow> efforts;
};

// ------------------------------------------------------------------------------------ reading

std::optional<std::string> text_or_null(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.text(column));
}

std::vector<SessionRow> read_sessions(Database& database) {
  std::vector<SessionRow> rows;
  auto query = database.prepare(
      "SELECT id, started, version, processor, simd, ranks, threads, command, stopped, outcome"
      " FROM session ORDER BY id");
  while (query.step()) {
    rows.push_back(
        {query.integer(0),
         {query.text(1), query.text(2), query.text(3), query.text(4),
          static_cast<int>(query.integer(5)), static_cast<int>(query.integer(6)), query.text(7)},
         text_or_null(query, 8),
         text_or_null(query, 9)});
  }
  return rows;
}

std::vector<EffortRow> read_efforts(Database& database) {
  std::vector<EffortRow> rows;
  auto query = database.prepare(
      "SELECT e.session, c.key, e.from_replica, e.to_replica, e.seconds, e.rank"
      " FROM effort e JOIN cell c ON c.id = e.cell ORDER BY e.rowid");
  while (query.step()) {
    const auto session =
        query.is_null(0) ? std::nullopt : std::optional<std::int64_t>(query.integer(0));
    rows.push_back(
        {session,
         query.text(1),
         {count_from(query.integer(2), "replica"), count_from(query.integer(3), "replica"),
          query.number(4), static_cast<int>(query.integer(5))}});
  }
  return rows;
}

Part read_everything(Database& database, const fs::path& file) {
  Part part;
  part.file = file;
  part.head = read_head(database);
  part.created = read_meta(database, "created");
  part.plan = read_plan_head(database);
  part.plan.places = read_places(database, part.plan.axes);
  part.cells = read_stored_cells(database, {part.plan.measured, part.plan.predicted});
  part.sessions = read_sessions(database);
  part.efforts = read_efforts(database);
  return part;
}

Part read_part(const fs::path& file) {
  return reading(file, [&](Database& database) {
    const StudyForm form = expect_sweep(database, file);
    return read_soundly(database, form, [&] { return read_everything(database, file); });
  });
}

// What the action returns, or nothing where the file is too damaged for it.
template <class Action>
auto if_readable(Action&& action) -> decltype(action()) {
  try {
    return action();
  } catch (const DatabaseError& error) {
    if (!is_damage(error)) throw;
    return {};
  }
}

Part read_what_is_sound(Database& database, const fs::path& file, const SweepHead& head,
                        const std::optional<CellForm>& form) {
  Part part;
  part.file = file;
  part.head = head;
  part.created = if_readable([&] { return read_meta(database, "created"); });
  if (part.created.empty()) part.created = utc_now();
  // Cells may have other predictions than those that are wanted, which the plan knows.
  const SweepPlan plan =
      form ? if_readable([&] { return read_plan_head(database); }) : read_plan_head(database);
  const bool known = !form || same_variables(plan.measured, form->measured);
  part.plan.measured = known ? plan.measured : form->measured;
  part.plan.predicted = known ? plan.predicted : form->predicted;
  part.cells = read_sound_cells(database, {part.plan.measured, part.plan.predicted});
  part.sessions = if_readable([&] { return read_sessions(database); });
  part.efforts = if_readable([&] { return read_efforts(database); });
  return part;
}

Part sound_part(const fs::path& file, const SweepHead& head, const std::optional<CellForm>& form) {
  try {
    return reading(
        file, [&](Database& database) { return read_what_is_sound(database, file, head, form); });
  } catch (const Error& error) {
    if (error.code() != Code::malformed_file) throw;
    throw_beyond_repair(file);
  }
}

// ------------------------------------------------------------------------------------ fitting

[[noreturn]] void throw_misfit(const Part& a, const Part& b, const std::string& what) {
  throw Error(Code::bad_value, fmt::format("cannot merge '{}' and '{}': {}", a.file.string(),
                                           b.file.string(), what));
}

std::string value_or_none(const TextPairs& parameters, const std::string& name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const auto& p) { return p.first == name; });
  return found == parameters.end() ? "unset" : found->second;
}

void expect_same_parameters(const Part& a, const Part& b) {
  for (const Part* part : {&a, &b}) {
    for (const auto& [name, ignored] : part->head.parameters) {
      const std::string here = value_or_none(a.head.parameters, name);
      const std::string there = value_or_none(b.head.parameters, name);
      if (here == there) continue;
      throw_misfit(a, b, fmt::format("parameter {} is {} and {}", name, here, there));
    }
  }
}

template <class Named>
std::string names_of(const std::vector<Named>& items) {
  std::string names;
  for (const auto& item : items) names += (names.empty() ? "" : ", ") + item.name;
  return names;
}

void expect_same_axes(const Part& a, const Part& b) {
  const std::string here = names_of(a.plan.axes), there = names_of(b.plan.axes);
  if (here != there) throw_misfit(a, b, fmt::format("the axes are {} and {}", here, there));
  for (std::size_t i = 0; i < a.plan.axes.size(); ++i) {
    if (a.plan.axes[i].labels.empty() == b.plan.axes[i].labels.empty()) continue;
    throw_misfit(a, b, fmt::format("axis {} has numbers and names", a.plan.axes[i].name));
  }
}

void expect_fit(const Part& a, const Part& b) {
  if (a.head.experiment != b.head.experiment) {
    throw_misfit(
        a, b,
        fmt::format("the experiments are '{}' and '{}'", a.head.experiment, b.head.experiment));
  }
  if (a.head.seed != b.head.seed) {
    throw_misfit(a, b, fmt::format("the seeds are {} and {}", a.head.seed, b.head.seed));
  }
  expect_same_axes(a, b);
  expect_same_parameters(a, b);
  if (same_form({a.plan.measured, a.plan.predicted}, {b.plan.measured, b.plan.predicted})) return;
  throw_misfit(a, b,
               fmt::format("the variables differ ({} and {}), or what they run over",
                           names_of(a.plan.measured) + "; " + names_of(a.plan.predicted),
                           names_of(b.plan.measured) + "; " + names_of(b.plan.predicted)));
}

// ------------------------------------------------------------------------------------ joining

// Numbers in order; names as they come up.
void join_axis(Dimension& axis, const Dimension& other) {
  if (axis.labels.empty()) {
    std::vector<double> both;
    std::set_union(axis.coordinates.begin(), axis.coordinates.end(), other.coordinates.begin(),
                   other.coordinates.end(), std::back_inserter(both));
    axis.coordinates = std::move(both);
    return;
  }
  for (const std::string& label : other.labels) {
    if (std::find(axis.labels.begin(), axis.labels.end(), label) != axis.labels.end()) continue;
    axis.coordinates.push_back(static_cast<double>(axis.labels.size()));
    axis.labels.push_back(label);
  }
}

std::size_t index_along(const Dimension& joined, const Dimension& axis, std::size_t index) {
  if (joined.labels.empty()) {
    const auto found = std::lower_bound(joined.coordinates.begin(), joined.coordinates.end(),
                                        axis.coordinates[index]);
    return static_cast<std::size_t>(found - joined.coordinates.begin());
  }
  const auto found = std::find(joined.labels.begin(), joined.labels.end(), axis.labels[index]);
  return static_cast<std::size_t>(found - joined.labels.begin());
}

// One place of the union, and the file that named its cell.
struct JoinedPlace {
  SweepPlace place;
  const Part* part;
};

void join_places(const std::vector<Dimension>& axes, const Part& part,
                 std::map<std::vector<std::size_t>, JoinedPlace>& joined) {
  for (SweepPlace place : part.plan.places) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      place.index[i] = index_along(axes[i], part.plan.axes[i], place.index[i]);
    }
    const auto [entry, is_new] = joined.try_emplace(place.index, JoinedPlace{place, &part});
    auto& known = entry->second;
    if (known.place.key != place.key) {
      throw_misfit(*known.part, part,
                   fmt::format("cells at the same place were made differently: {} and {}",
                               known.place.parameters, place.parameters));
    }
    known.place.level = std::min(known.place.level, place.level);
  }
}

SweepPlan joined_plan(const std::vector<Part>& parts) {
  SweepPlan plan = parts.front().plan;
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < plan.axes.size(); ++i) join_axis(plan.axes[i], part.plan.axes[i]);
  }
  std::map<std::vector<std::size_t>, JoinedPlace> joined;
  for (const Part& part : parts) join_places(plan.axes, part, joined);
  plan.places.clear();
  for (auto& [index, entry] : joined) plan.places.push_back(std::move(entry.place));
  return plan;
}

// For each key the cell with most replicas; the first one of these.
std::map<std::string, const StoredCell*> best_cells(const std::vector<Part>& parts) {
  std::map<std::string, const StoredCell*> best;
  for (const Part& part : parts) {
    for (const StoredCell& cell : part.cells) {
      const StoredCell*& known = best.try_emplace(cell.key, &cell).first->second;
      if (cell.content.replicas > known->content.replicas) known = &cell;
    }
  }
  return best;
}

// ------------------------------------------------------------------------------------ writing

std::unordered_map<std::int64_t, std::int64_t> write_sessions(Database& database,
                                                              const Part& part) {
  std::unordered_map<std::int64_t, std::int64_t> numbers;
  for (const SessionRow& row : part.sessions) {
    const std::int64_t number = numbers[row.number] = write_session(database, row.session);
    if (row.stopped) end_session(database, number, *row.stopped, row.outcome.value_or(""));
  }
  return numbers;
}

void write_efforts(Database& database, CellWriter& writer, const Part& part,
                   const std::unordered_map<std::string, std::int64_t>& cells) {
  const auto sessions = write_sessions(database, part);
  for (const EffortRow& row : part.efforts) {
    const auto session = row.session ? sessions.find(*row.session) : sessions.end();
    const auto cell = cells.find(row.key);
    if (cell == cells.end()) continue;  // of a cell that was forgotten and is in no plan
    writer.write_effort(session == sessions.end() ? std::nullopt : std::optional(session->second),
                        cell->second, row.effort);
  }
}

void write_merged(Database& database, const std::vector<Part>& parts) {
  // The file is ours alone until it is renamed, and PendingFile syncs it.
  database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  create_tables(database, StudyKind::sweep);
  write_meta(database, "created", parts.front().created);
  write_head(database, parts.front().head);
  const SweepPlan plan = joined_plan(parts);
  write_plan(database, plan);
  const auto best = best_cells(parts);
  std::vector<CellName> names;
  for (const auto& [key, cell] : best) names.push_back({key, cell->parameters});
  const auto numbers = add_cells(database, names);
  CellWriter writer(database, {plan.measured, plan.predicted});
  for (const auto& [key, cell] : best) writer.write(key, cell->content);
  for (const Part& part : parts) write_efforts(database, writer, part, numbers);
  database.execute("COMMIT");
}

void write_new_file(const fs::path& pending, const fs::path& target,
                    const std::vector<Part>& parts) {
  try {
    Database database(pending, SQLITE_OPEN_READWRITE);
    write_merged(database, parts);
  } catch (const DatabaseError& error) {
    throw_write_error(target, error);
  }
}

}  // namespace

void merge(const std::vector<fs::path>& files, const OutputFile& output) {
  const fs::path& target = output.path;
  if (files.empty()) throw Error(Code::bad_value, "no studies to merge: name at least one");
  std::vector<Part> parts;
  for (const fs::path& file : files) {
    parts.push_back(read_part(file));
    expect_fit(parts.front(), parts.back());
  }
  PendingFile pending(output, study_kind(parts.front().head.experiment));
  write_new_file(pending.path(), target, parts);
  const LockFile lock(target);
  fold_log(target);
  pending.commit();
}

void throw_beyond_repair(const fs::path& file) {
  throw Error(
      Code::malformed_file,
      fmt::format("'{}' is no Dewpoint study, or damaged beyond repair: move it away and run "
                  "the same command again",
                  file.string()));
}

void keep_sound_cells(const fs::path& file, const SweepHead& head,
                      const std::optional<CellForm>& form) {
  const fs::path target = fs::canonical(file);                       // a link stays one
  PendingFile pending({target, true}, study_kind(head.experiment));  // it is open, and ours
  write_new_file(pending.path(), file, {sound_part(file, head, form)});
  fold_log(target);
  pending.commit();
}

}  // namespace dewpoint::store
