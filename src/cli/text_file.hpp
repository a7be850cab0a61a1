// A text as a file that appears whole or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dewpoint/core/output_file.hpp"

namespace dewpoint::cli {

/// Writes the file, or replaces one of its kind. Throws Error{unwritable_file}, and
/// Error{bad_value} for another file in the way; the old file then stays as it was.
void write_text_file(const OutputFile& file, const FileKind& kind, std::string_view text);

}  // namespace dewpoint::cli
