// How a reader of foreign files says no: one line with the name of the file, the field, what was
// found there and what is allowed,
//
//     scores.txt: line 3, number 2: found 'nan', allowed: finite decimal numbers such as -1.5
//
// A reader throws a Refusal where it stumbles; whoever knows the name of the file turns it into an
// Error. Foreign text goes into a message only as an excerpt.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {

struct Refusal {
  std::string field;  // none: `found` is said of the file, "no such file"
  std::string found;
  std::string allowed;
};

/// Foreign text as it may stand in a message: at most 48 characters of it, the unprintable ones
/// escaped as \x0a, on one line.
[[nodiscard]] std::string excerpt(std::string_view text);

/// "name: field: found ..., allowed: ...". The name keeps its letters (UTF-8), but cannot break the
/// line.
[[nodiscard]] Error to_error(Code code, std::string_view name, const Refusal& refusal);

/// A regular file, open for reading bytes from its beginning; `allowed` is what should have been at
/// the path. Throws Error{Code::unreadable_file} when there is nothing, something that is not a
/// regular file, or a file that may not be read.
[[nodiscard]] std::ifstream open_regular_file(const std::filesystem::path& path,
                                              std::string_view allowed);

}  // namespace dewpoint::checkpoint
