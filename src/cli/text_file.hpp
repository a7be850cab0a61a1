// A text as a file that appears whole or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace dewpoint::cli {

/// Writes or replaces the file. Throws Error{unwritable_file}; the old file then stays as it was.
void write_text_file(const std::filesystem::path& file, std::string_view text);

}  // namespace dewpoint::cli
