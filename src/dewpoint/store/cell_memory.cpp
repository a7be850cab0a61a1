#include "dewpoint/store/cell_memory.hpp"

#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/plan_tables.hpp"
#include "dewpoint/store/sweep_frame.hpp"

namespace dewpoint::store {

void CellMemory::open(const CellForm& form, const Predictor& predict) {
  if (!same_variables(form.measured, form_.measured)) cells_.clear();
  if (!same_variables(form.predicted, form_.predicted)) {
    for (auto& [key, known] : cells_) {
      if (known.cell.replicas == 0) continue;
      known.cell.predictions =
          form.predicted.empty() ? std::vector<double>() : predict(key, known.parameters);
    }
  }
  form_ = form;
}

std::unordered_map<std::string, SweepCell> CellMemory::cells_to_continue(
    std::optional<std::uint64_t> /*enough*/) const {
  std::unordered_map<std::string, SweepCell> cells;
  for (const auto& [key, known] : cells_) {
    if (known.cell.replicas > 0) cells.emplace(key, known.cell);
  }
  return cells;
}

// A plan is as cheap to set as to compare.
bool CellMemory::has_plan(const SweepPlan& /*plan*/) const { return false; }

void CellMemory::set_plan(const SweepPlan& plan, const std::stop_token& /*stop*/) {
  DEWPOINT_EXPECTS(same_form({plan.measured, plan.predicted}, form_));
  plan_ = plan;
  for (const SweepPlace& place : plan.places) {
    cells_.try_emplace(place.key, Known{place.parameters, {}});
  }
}

void CellMemory::put(const std::string& key, SweepCell cell, const SweepEffort& /*effort*/) {
  cells_.at(key).cell = std::move(cell);
}

Frame CellMemory::frame(const std::string& name) const {
  std::vector<PlacedCell> placed;
  for (const SweepPlace& place : plan_.places) {
    const SweepCell& cell = cells_.at(place.key).cell;
    if (cell.replicas > 0) placed.push_back({place_number(place, plan_.axes), &cell});
  }
  return sweep_frame(name, plan_, placed);
}

}  // namespace dewpoint::store
