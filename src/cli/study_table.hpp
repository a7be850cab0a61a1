// A frame as a table: one line per place, its coordinates first, then the observables asked for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "dewpoint/core/frame.hpp"

namespace dewpoint::cli {

struct TableRequest {
  std::vector<std::string> observables;  // none: the first few
  std::vector<std::string> at;           // "n=512": only there
  std::size_t rows = 20;                 // 0: all
};

struct Table {
  Json records;  // one object per line: coordinates, and observables as text
  std::vector<Column> columns;
  std::size_t matching = 0;  // places that were measured and are where `at` says
};

/// Observables shown must be over the same dimensions. Places without samples are left out. Throws
/// Error{bad_value} naming what is unknown and what is allowed.
[[nodiscard]] Table table_of(const Frame& frame, const TableRequest& request);

}  // namespace dewpoint::cli
