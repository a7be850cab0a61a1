#include "dewpoint/store/sweep_frame.hpp"

#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/frame_tables.hpp"
#include "dewpoint/store/plan_tables.hpp"

namespace dewpoint::store {
namespace {

Variable& add_variable(Frame& frame, const SweepVariable& variable,
                       const std::vector<Dimension>& axes) {
  std::vector<std::string> names;
  for (const Dimension& axis : axes) names.push_back(axis.name);
  for (const Dimension& inner : variable.inner) names.push_back(inner.name);
  return frame.add_variable(variable.name, std::move(names));
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

Estimate estimate_of(const RunningMoments& moments, bool exact) {
  Estimate estimate = moments.estimate();
  if (exact && estimate.samples > 0) estimate.standard_error = 0.0;
  return estimate;
}

std::size_t place_number(const SweepPlace& place, const std::vector<Dimension>& axes) {
  DEWPOINT_EXPECTS(place.index.size() == axes.size());
  std::size_t number = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    DEWPOINT_EXPECTS(place.index[i] < axes[i].coordinates.size());
    number = number * axes[i].coordinates.size() + place.index[i];
  }
  return number;
}

Frame sweep_frame(const std::string& name, const SweepPlan& plan,
                  const std::vector<PlacedCell>& cells) {
  Frame frame(name);
  for (Dimension& dimension : dimensions_of(plan)) add_dimension(frame, std::move(dimension));
  add_variables(frame, plan.measured, plan.axes, cells,
                [](const SweepCell& cell, std::size_t value) {
                  return estimate_of(cell.moments[value], cell.exact);
                });
  add_variables(frame, plan.predicted, plan.axes, cells,
                [](const SweepCell& cell, std::size_t value) {
                  return Estimate{cell.predictions[value], 0.0, 0};
                });
  return frame;
}

}  // namespace dewpoint::store
