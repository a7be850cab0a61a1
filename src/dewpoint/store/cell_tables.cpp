#include "dewpoint/store/cell_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/store/frame_tables.hpp"
#include "dewpoint/store/schema.hpp"

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

Estimate estimate_of(const RunningMoments& moments, bool exact) {
  Estimate estimate = moments.estimate();
  if (exact && estimate.samples > 0) estimate.standard_error = 0.0;
  return estimate;
}

// ------------------------------------------------------------------------------------ reading

// Rows of one table, by cell, variable and position, dealt out to the cells in order.
class Dealer {
 public:
  Dealer(std::vector<StoredCell>& cells, std::vector<Slot> slots)
      : next_(cells.begin()), end_(cells.end()), slots_(std::move(slots)) {}

  /// The cell of a row, which must hold the next value of its cell.
  SweepCell& cell_of(const Statement& row) {
    const std::int64_t number = row.integer(0);
    if (next_ == end_ || next_->number != number) turn_to(number);
    const bool in_order = dealt_ < slots_.size() &&
                          row.integer(1) == static_cast<std::int64_t>(slots_[dealt_].variable) &&
                          row.integer(2) == static_cast<std::int64_t>(slots_[dealt_].position);
    if (!in_order) damaged("a cell whose numbers are not those of its variables");
    ++dealt_;
    return next_->content;
  }

 private:
  void turn_to(std::int64_t number) {
    next_ = std::find_if(next_, end_, [&](const StoredCell& c) { return c.number >= number; });
    if (next_ == end_ || next_->number != number) damaged("numbers of a cell that is not there");
    dealt_ = 0;
  }

  std::vector<StoredCell>::iterator next_, end_;
  std::vector<Slot> slots_;
  std::size_t dealt_ = 0;
};

std::vector<StoredCell> read_cell_rows(Database& database) {
  std::vector<StoredCell> cells;
  auto query = database.prepare("SELECT id, key, replicas, exact FROM cell ORDER BY id");
  while (query.step()) {
    StoredCell& cell = cells.emplace_back();
    cell.number = query.integer(0);
    cell.key = query.text(1);
    cell.content.replicas = count_from(query.integer(2), "number of replicas");
    cell.content.exact = query.integer(3) != 0;
  }
  return cells;
}

// Without `enough` every cell is continued.
bool is_continued(const SweepCell& cell, std::optional<std::uint64_t> enough) {
  return !enough || (!cell.exact && cell.replicas < *enough);
}

// The rows of a table that belong to cells that are continued.
std::string rows_of(const char* columns, const char* table, bool every_cell) {
  return fmt::format("SELECT {} FROM {}{} ORDER BY cell, variable, position", columns, table,
                     every_cell ? ""
                                : " WHERE cell IN (SELECT id FROM cell WHERE exact = 0 "
                                  "AND replicas > 0 AND replicas < ?)");
}

Statement prepared(Database& database, const char* columns, const char* table,
                   std::optional<std::uint64_t> enough) {
  Statement query = database.prepare(rows_of(columns, table, !enough));
  if (enough)
    query.bind(std::min<std::uint64_t>(*enough, std::numeric_limits<std::int64_t>::max()));
  return query;
}

void read_moments(Database& database, const CellForm& form, std::vector<StoredCell>& cells,
                  std::optional<std::uint64_t> enough) {
  Dealer dealer(cells, slots_of(form.measured, 0));
  const std::size_t count = value_count(form.measured);
  auto query = prepared(database, "cell, variable, position, samples, mean, squared_deviations",
                        "moment", enough);
  while (query.step()) {
    std::vector<RunningMoments>& moments = dealer.cell_of(query).moments;
    if (moments.empty()) moments.reserve(count);
    const std::size_t samples = count_from(query.integer(3), "number of samples");
    moments.push_back(samples == 0 ? RunningMoments()
                                   : RunningMoments(samples, query.number(4), query.number(5)));
  }
}

void read_predictions(Database& database, const CellForm& form, std::vector<StoredCell>& cells,
                      std::optional<std::uint64_t> enough) {
  Dealer dealer(cells, slots_of(form.predicted, form.measured.size()));
  const std::size_t count = value_count(form.predicted);
  auto query = prepared(database, "cell, variable, position, value", "prediction", enough);
  while (query.step()) {
    std::vector<double>& predictions = dealer.cell_of(query).predictions;
    if (predictions.empty()) predictions.reserve(count);
    predictions.push_back(query.number(3));
  }
}

// A cell is committed in one piece: it has all its numbers, or none and no replicas.
bool is_known(const SweepCell& cell, const CellForm& form) {
  const bool nothing = cell.replicas == 0 && cell.moments.empty() && cell.predictions.empty();
  const bool everything = cell.moments.size() == value_count(form.measured) &&
                          cell.predictions.size() == value_count(form.predicted);
  if (!nothing && !everything) damaged("a cell that lacks numbers");
  return !nothing;
}

// -------------------------------------------------------------------------------------- frame

Variable& add_variable(Frame& frame, const SweepVariable& variable,
                       const std::vector<Dimension>& axes) {
  std::vector<std::string> names;
  for (const Dimension& axis : axes) names.push_back(axis.name);
  for (const Dimension& inner : variable.inner) names.push_back(inner.name);
  if (frame.find_variable(variable.name) != nullptr) damaged("two variables of one name");
  return frame.add_variable(variable.name, std::move(names));
}

struct PlacedCell {
  std::size_t place;
  const SweepCell* content;
};

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

// `value_of` gives a value of a cell, numbered through all these variables.
template <class ValueOf>
void add_variables(Frame& frame, const std::vector<SweepVariable>& variables,
                   const std::vector<Dimension>& axes, const std::vector<PlacedCell>& cells,
                   ValueOf value_of) {
  std::size_t first = 0;
  for (const SweepVariable& variable : variables) {
    const std::size_t positions = variable.positions();
    std::vector<Estimate>& values = add_variable(frame, variable, axes).cells;
    for (const auto& [place, cell] : cells) {
      for (std::size_t k = 0; k < positions; ++k) {
        values[place * positions + k] = value_of(*cell, first + k);
      }
    }
    first += positions;
  }
}

}  // namespace

CellWriter::CellWriter(Database& database, const CellForm& form)
    : measured_(slots_of(form.measured, 0)),
      predicted_(slots_of(form.predicted, form.measured.size())),
      cell_(database.prepare("UPDATE cell SET replicas = ?, exact = ? WHERE key = ? RETURNING id")),
      moment_(database.prepare("INSERT OR REPLACE INTO moment VALUES (?, ?, ?, ?, ?, ?, ?)")),
      prediction_(database.prepare("INSERT OR REPLACE INTO prediction VALUES (?, ?, ?, ?)")),
      effort_(database.prepare("INSERT INTO effort VALUES (?, ?, ?, ?, ?, ?)")) {}

std::int64_t CellWriter::write(const std::string& key, const SweepCell& cell) {
  DEWPOINT_EXPECTS(cell.moments.size() == measured_.size());
  DEWPOINT_EXPECTS(cell.predictions.size() == predicted_.size());
  if (!cell_.bind(cell.replicas, cell.exact, key).step()) {
    throw Error(Code::bad_value, fmt::format("the plan has no cell '{}'", key));
  }
  const std::int64_t number = cell_.integer(0);
  cell_.finish();
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    const RunningMoments& moments = cell.moments[i];
    moment_.run(number, measured_[i].variable, measured_[i].position, moments.samples(),
                moments.samples() == 0 ? kUnknown : moments.mean(),
                estimate_of(moments, cell.exact).standard_error, moments.squared_deviations());
  }
  for (std::size_t i = 0; i < predicted_.size(); ++i) {
    prediction_.run(number, predicted_[i].variable, predicted_[i].position, cell.predictions[i]);
  }
  return number;
}

void CellWriter::write_effort(std::optional<std::int64_t> session, std::int64_t number,
                              const SweepEffort& effort) {
  effort_.run(session, number, effort.from, effort.to, effort.seconds, effort.rank);
}

std::vector<StoredCell> read_stored_cells(Database& database, const CellForm& form,
                                          std::optional<std::uint64_t> enough) {
  std::vector<StoredCell> cells = read_cell_rows(database);
  read_moments(database, form, cells, enough);
  read_predictions(database, form, cells, enough);
  std::erase_if(cells, [&](const StoredCell& cell) {
    return is_continued(cell.content, enough) && !is_known(cell.content, form);
  });
  return cells;
}

void forget_cells(Database& database) {
  database.execute(
      "DELETE FROM moment; DELETE FROM prediction;"
      "UPDATE cell SET replicas = 0, exact = 0 WHERE replicas > 0 OR exact > 0");
}

Frame read_sweep_frame(Database& database, const std::string& name) {
  const SweepPlan plan = read_plan_head(database);
  const auto cells = read_stored_cells(database, {plan.measured, plan.predicted});
  std::size_t places = 1;
  for (const Dimension& axis : plan.axes) places *= axis.coordinates.size();
  const std::vector<PlacedCell> of_plan = placed(database, cells, places);
  Frame frame(name);
  for (Dimension& dimension : dimensions_of(plan)) add_dimension(frame, std::move(dimension));
  add_variables(frame, plan.measured, plan.axes, of_plan,
                [](const SweepCell& cell, std::size_t value) {
                  return estimate_of(cell.moments[value], cell.exact);
                });
  add_variables(frame, plan.predicted, plan.axes, of_plan,
                [](const SweepCell& cell, std::size_t value) {
                  return Estimate{cell.predictions[value], 0.0, 0};
                });
  return frame;
}

}  // namespace dewpoint::store
