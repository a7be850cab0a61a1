// What the tests of condensation share: a question with the suite's seed, and a cell of its answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "dewpoint/experiments/condense.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::experiments {

inline Condense question(std::vector<double> n, std::vector<double> loads, std::size_t draws) {
  Condense result;
  result.n = std::move(n);
  result.loads = std::move(loads);
  result.draws = draws;
  result.seed = test::seed();
  return result;
}

inline const Estimate& cell(const Frame& frame, const char* name,
                            std::vector<std::size_t> position) {
  const Variable& variable = frame.variable(name);
  return variable.cells[frame.cell_index(variable, position)];
}

}  // namespace dewpoint::experiments
