// What can be kept of a damaged sweep. Private to the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::store {

/// Writes the file anew with this head, no plan, and every cell that is as it was written; the
/// others are gone. `form`: that of the cells, where the plan of the file is damaged as well. The
/// caller holds the lock. Throws Error{malformed_file} where nothing can be read.
void keep_sound_cells(const std::filesystem::path& file, const SweepHead& head,
                      const std::optional<CellForm>& form);

/// Error{malformed_file}: not even its first page is that of a study.
[[noreturn]] void throw_beyond_repair(const std::filesystem::path& file);

}  // namespace dewpoint::store
