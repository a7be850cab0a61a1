#include "dewpoint/store/cell_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/store/digest.hpp"
#include "dewpoint/store/frame_tables.hpp"
#include "dewpoint/store/integrity.hpp"
#include "dewpoint/store/schema.hpp"
#include "dewpoint/store/sweep_frame.hpp"

namespace dewpoint::store {
namespace {

// All values of a cell in the order in which SweepCell holds them, which is that of the tables.
std::vector<Slot> slots_of(const std::vector<SweepVariable>& variables, std::size_t first) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    for (std::size_t k = 0; k < variables[i].positions(); ++k) slots.push_back({first + i, k});
  }
  return slots;
}

// ------------------------------------------------------------------------------------ hashing

std::int64_t identity_of(std::int64_t number, std::string_view key, std::string_view parameters) {
  Digest digest;
  digest.add(number);
  digest.add(key);
  digest.add(parameters);
  return digest.value();
}

std::int64_t hash_of(std::int64_t identity, const SweepCell& cell) {
  Digest digest(identity);
  digest.add(static_cast<std::int64_t>(cell.replicas));
  digest.add(std::int64_t{cell.exact});
  for (const RunningMoments& moments : cell.moments) {
    digest.add(static_cast<std::int64_t>(moments.samples()));
    if (moments.samples() == 0) continue;
    digest.add(moments.mean());
    digest.add(moments.squared_deviations());
  }
  for (const double prediction : cell.predictions) digest.add(prediction);
  return digest.value();
}

// ------------------------------------------------------------------------------------ reading

struct CellRow {
  StoredCell cell;
  std::optional<std::int64_t> hash;  // none: written by a version that had no hashes
};

Statement cell_rows(Database& database) {
  const bool hashed = single_number(database, "PRAGMA user_version") >= kFirstHashedSchema;
  return database.prepare(
      fmt::format("SELECT id, key, replicas, exact, parameters, {} FROM cell ORDER BY id",
                  hashed ? "hash" : "NULL"));
}

CellRow cell_row(const Statement& row) {
  CellRow read;
  read.cell.number = row.integer(0);
  read.cell.key = row.text(1);
  read.cell.content.replicas = count_from(row.integer(2), "number of replicas");
  read.cell.content.exact = row.integer(3) != 0;
  read.cell.parameters = row.text(4);
  if (!row.is_null(5)) read.hash = row.integer(5);
  return read;
}

// Which cells are meant: all, or those that a condition on `cell` with one value takes.
struct Chosen {
  const char* condition = "";
  std::optional<std::int64_t> value = {};
};

// The rows of a table of values, handed out cell by cell in the order of their numbers.
class ValueRows {
 public:
  ValueRows(Statement query, std::vector<Slot> slots)
      : query_(std::move(query)), slots_(std::move(slots)) {
    advance();
  }

  std::size_t slots() const { return slots_.size(); }
  /// Rows of cells that are not there.
  bool has_strays() const { return strays_ || cell_; }

  /// False: they are not one row for every slot, in their order, nor no row at all.
  template <class Take>
  bool deal(std::int64_t number, Take take) {
    for (; cell_ && *cell_ < number; advance()) strays_ = true;
    std::size_t dealt = 0;
    bool in_order = true;
    for (; cell_ == number; advance(), ++dealt) {
      in_order = in_order && dealt < slots_.size() &&
                 query_.integer(1) == static_cast<std::int64_t>(slots_[dealt].variable) &&
                 query_.integer(2) == static_cast<std::int64_t>(slots_[dealt].position) &&
                 taken(take);
    }
    return in_order && (dealt == 0 || dealt == slots_.size());
  }

 private:
  void advance() { cell_ = query_.step() ? std::optional(query_.integer(0)) : std::nullopt; }

  // A value that is none of its column is the cell's damage, not the file's.
  template <class Take>
  bool taken(Take take) const {
    try {
      take(query_);
      return true;
    } catch (const DatabaseError& error) {
      if (!is_damage(error)) throw;
      return false;
    }
  }

  Statement query_;
  std::vector<Slot> slots_;
  std::optional<std::int64_t> cell_;  // of the current row; none: there are no more
  bool strays_ = false;
};

// The rows of a table, of all cells or of those that the condition takes.
Statement value_rows(Database& database, const char* columns, const char* table,
                     const Chosen& chosen) {
  auto query = database.prepare(fmt::format(
      "SELECT cell, variable, position, {} FROM {} {} ORDER BY cell, variable, position", columns,
      table, chosen.condition));
  if (chosen.value) query.bind(*chosen.value);
  return query;
}

ValueRows moment_rows(Database& database, const CellForm& form, const Chosen& chosen = {}) {
  constexpr const char* kColumns = "samples, mean, squared_deviations, standard_error";
  return {value_rows(database, kColumns, "moment", chosen), slots_of(form.measured, 0)};
}

ValueRows prediction_rows(Database& database, const CellForm& form, const Chosen& chosen = {}) {
  return {value_rows(database, "value", "prediction", chosen),
          slots_of(form.predicted, form.measured.size())};
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Moments that no sequence of replicas has: more samples than replicas, squares below zero, or an
// error that is not theirs.
bool is_possible(const RunningMoments& moments, const SweepCell& cell, double standard_error) {
  return moments.samples() <= cell.replicas && !(moments.squared_deviations() < 0.0) &&
         same_number(estimate_of(moments, cell.exact).standard_error, standard_error);
}

bool deal_values(CellRow& row, ValueRows& moments, ValueRows& predictions) {
  SweepCell& cell = row.cell.content;
  bool possible = true;
  const bool measured = moments.deal(row.cell.number, [&](const Statement& value) {
    if (cell.moments.empty()) cell.moments.reserve(moments.slots());
    const std::size_t samples = count_from(value.integer(3), "number of samples");
    const RunningMoments& read = cell.moments.emplace_back(
        samples == 0 ? RunningMoments()
                     : RunningMoments(samples, value.number(4), value.number(5)));
    possible = possible && (!row.hash || is_possible(read, cell, value.number(6)));
  });
  const bool predicted = predictions.deal(row.cell.number, [&](const Statement& value) {
    if (cell.predictions.empty()) cell.predictions.reserve(predictions.slots());
    cell.predictions.push_back(value.number(3));
  });
  return measured && predicted && possible;
}

// A cell is committed in one piece: it has all its numbers, or none and no replicas.
bool is_whole(const SweepCell& cell, const CellForm& form) {
  const bool nothing = cell.replicas == 0 && cell.moments.empty() && cell.predictions.empty();
  const bool everything = cell.moments.size() == value_count(form.measured) &&
                          cell.predictions.size() == value_count(form.predicted);
  return nothing || everything;
}

// Fills the row with its numbers; whether all of it is as it was written.
bool is_sound(CellRow& row, ValueRows& moments, ValueRows& predictions, const CellForm& form) {
  const bool dealt = deal_values(row, moments, predictions);
  if (!dealt || !is_whole(row.cell.content, form)) return false;
  const auto& cell = row.cell;
  return !row.hash ||
         *row.hash == hash_of(identity_of(cell.number, cell.key, cell.parameters), cell.content);
}

bool is_known(const SweepCell& cell) { return cell.replicas > 0 || !cell.moments.empty(); }

// Without `enough` every cell is continued.
bool is_continued(const SweepCell& cell, std::optional<std::uint64_t> enough) {
  return !enough || (!cell.exact && cell.replicas < *enough);
}

Chosen continued(std::optional<std::uint64_t> enough) {
  if (!enough) return {};
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  return {"WHERE cell IN (SELECT id FROM cell WHERE exact = 0 AND replicas < ?)",
          static_cast<std::int64_t>(std::min(*enough, kLargest))};
}

// The first of the damaged cells, and how many others there are.
class DamagedCells {
 public:
  void add(const StoredCell& cell) {
    if (count_++ == 0) first_ = fmt::format("cell {} {}", cell.number, cell.parameters);
  }
  void expect_none() const {
    if (count_ == 0) return;
    damaged(count_ == 1 ? first_ : fmt::format("{} and {} more", first_, count_ - 1));
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

// Hands over every cell of which something is known, those that are not continued as they come.
template <class Take>
void for_each_cell(Database& database, const CellForm& form, std::optional<std::uint64_t> enough,
                   Take take) {
  DamagedCells damaged_cells;
  ValueRows moments = moment_rows(database, form, continued(enough));
  ValueRows predictions = prediction_rows(database, form, continued(enough));
  auto query = cell_rows(database);
  while (query.step()) {
    CellRow row = cell_row(query);
    const bool checked = is_continued(row.cell.content, enough);
    if (checked && !is_sound(row, moments, predictions, form)) damaged_cells.add(row.cell);
    if (is_known(row.cell.content)) take(std::move(row.cell));
  }
  damaged_cells.expect_none();
  if (moments.has_strays() || predictions.has_strays()) {
    damaged("numbers of a cell that is not there");
  }
}

// -------------------------------------------------------------------------------------- frame

std::vector<PlacedCell> placed(Database& database, const std::vector<StoredCell>& cells,
                               std::size_t places) {
  std::vector<PlacedCell> found;
  auto next = cells.begin();
  auto query = database.prepare("SELECT cell, place FROM sweep_place ORDER BY cell");
  while (query.step()) {
    const std::int64_t number = query.integer(0);
    const std::size_t place = count_from(query.integer(1), "place");
    if (place >= places) damaged("a cell outside the plan");
    next = std::find_if(next, cells.end(), [&](const StoredCell& c) { return c.number >= number; });
    if (next != cells.end() && next->number == number) found.push_back({place, &next->content});
  }
  return found;
}

}  // namespace

CellWriter::CellWriter(Database& database, const CellForm& form)
    : measured_(slots_of(form.measured, 0)),
      predicted_(slots_of(form.predicted, form.measured.size())),
      cell_(database.prepare(
          "UPDATE cell SET replicas = ?, exact = ?, hash = ? WHERE id = ? RETURNING id")),
      moment_(database.prepare("INSERT OR REPLACE INTO moment VALUES (?, ?, ?, ?, ?, ?, ?)")),
      prediction_(database.prepare("INSERT OR REPLACE INTO prediction VALUES (?, ?, ?, ?)")),
      effort_(database.prepare("INSERT INTO effort VALUES (?, ?, ?, ?, ?, ?)")) {
  auto query = database.prepare("SELECT id, key, parameters FROM cell NOT INDEXED");
  while (query.step()) {
    const std::int64_t number = query.integer(0);
    std::string key = query.text(1);
    const std::int64_t identity = identity_of(number, key, query.text(2));
    identities_.emplace(std::move(key), CellMark{number, identity});
  }
}

CellMark CellWriter::write(const std::string& key, const SweepCell& cell) {
  DEWPOINT_EXPECTS(cell.moments.size() == measured_.size());
  DEWPOINT_EXPECTS(cell.predictions.size() == predicted_.size());
  const auto known = identities_.find(key);
  if (known == identities_.end()) {
    throw Error(Code::bad_value, fmt::format("the plan has no cell '{}'", key));
  }
  const CellMark mark{known->second.number, hash_of(known->second.hash, cell)};
  if (!cell_.bind(cell.replicas, cell.exact, mark.hash, mark.number).step()) {
    damaged(fmt::format("cell {} is gone", mark.number));
  }
  cell_.finish();
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    const RunningMoments& moments = cell.moments[i];
    moment_.run(mark.number, measured_[i].variable, measured_[i].position, moments.samples(),
                moments.samples() == 0 ? kUnknown : moments.mean(),
                estimate_of(moments, cell.exact).standard_error, moments.squared_deviations());
  }
  for (std::size_t i = 0; i < predicted_.size(); ++i) {
    prediction_.run(mark.number, predicted_[i].variable, predicted_[i].position,
                    cell.predictions[i]);
  }
  return mark;
}

void CellWriter::write_effort(std::optional<std::int64_t> session, std::int64_t number,
                              const SweepEffort& effort) {
  effort_.run(session, number, effort.from, effort.to, effort.seconds, effort.rank);
}

std::unordered_map<std::string, std::int64_t> add_cells(Database& database,
                                                        const std::vector<CellName>& names,
                                                        const std::stop_token& stop) {
  auto numbers = read_cell_numbers(database);
  auto next = single_number(database, "SELECT coalesce(max(id), 0) FROM cell");
  auto insert = database.prepare("INSERT INTO cell VALUES (?, 0, 0, ?, ?, ?)");
  for (const CellName& name : names) {
    if (!numbers.try_emplace(name.key, next + 1).second) continue;
    const std::int64_t number = ++next;
    if (number % kBetweenStops == 0) RunContext{0, stop, {}}.throw_if_stopped();
    insert.run(number, name.key, name.parameters,
               hash_of(identity_of(number, name.key, name.parameters), {}));
  }
  return numbers;
}

std::vector<StoredCell> read_stored_cells(Database& database, const CellForm& form,
                                          std::optional<std::uint64_t> enough) {
  std::vector<StoredCell> cells;
  for_each_cell(database, form, enough,
                [&](StoredCell&& cell) { cells.push_back(std::move(cell)); });
  return cells;
}

void expect_sound_cells(Database& database, const CellForm& form) {
  for_each_cell(database, form, {}, [](StoredCell&&) {});
}

std::vector<StoredCell> read_sound_cells(Database& database, const CellForm& form) {
  std::vector<StoredCell> cells;
  auto query = cell_rows(database);
  while (true) {
    try {
      if (!query.step()) break;
    } catch (const DatabaseError& error) {
      if (!is_damage(error)) throw;
      break;  // what lies behind a torn page is lost
    }
    try {
      CellRow row = cell_row(query);
      const Chosen this_one{"WHERE cell = ?", row.cell.number};
      ValueRows moments = moment_rows(database, form, this_one);
      ValueRows predictions = prediction_rows(database, form, this_one);
      const bool sound = is_sound(row, moments, predictions, form);
      if (sound && is_known(row.cell.content)) cells.push_back(std::move(row.cell));
    } catch (const DatabaseError& error) {
      if (!is_damage(error)) throw;  // else this one is lost, and the others are asked one by one
    }
  }
  return cells;
}

std::unordered_map<std::int64_t, std::int64_t> read_hashes(Database& database) {
  std::unordered_map<std::int64_t, std::int64_t> hashes;
  auto query = database.prepare("SELECT id, hash FROM cell WHERE hash IS NOT NULL");
  while (query.step()) hashes.emplace(query.integer(0), query.integer(1));
  return hashes;
}

void renew_predictions(Database& database, const std::vector<SweepVariable>& predicted,
                       const Predictor& predict) {
  SweepPlan plan = read_plan_head(database);
  plan.places = read_places(database, plan.axes);
  std::vector<StoredCell> cells = read_stored_cells(database, {plan.measured, plan.predicted});
  plan.predicted = predicted;
  write_plan(database, plan);
  database.execute("DELETE FROM prediction");
  CellWriter writer(database, {plan.measured, plan.predicted});
  const std::vector<double> unknown(value_count(predicted), kUnknown);
  for (auto& [number, key, parameters, content] : cells) {
    content.predictions = predict ? predict(key, parameters) : unknown;
    writer.write(key, content);
  }
}

void forget_cells(Database& database) {
  database.execute(
      "DELETE FROM moment; DELETE FROM prediction; DELETE FROM effort; DELETE FROM sweep_place;"
      "DELETE FROM cell");
}

Frame read_sweep_frame(Database& database, const std::string& name) {
  const SweepPlan plan = read_plan_head(database);
  const auto cells = read_stored_cells(database, {plan.measured, plan.predicted});
  std::size_t places = 1;
  for (const Dimension& axis : plan.axes) places *= axis.coordinates.size();
  return sweep_frame(name, plan, placed(database, cells, places));
}

}  // namespace dewpoint::store
