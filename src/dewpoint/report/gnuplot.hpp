// Gnuplot as a child process: no shell, no script file, no settings of the user's own.
//
// A script is our own text with three kinds of foreign material: numbers, which cannot do harm;
// texts, which pass through quoted_text(); and file names, which pass through quoted_path(). In
// single quotes gnuplot substitutes nothing, neither `commands` nor @macros nor \escapes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dewpoint::report {

/// The text as a gnuplot string on one line: 'it' . "'" . 's'. So that any text gives a script and
/// an SVG that are well formed, control characters become spaces, bytes that are not UTF-8 become
/// U+FFFD, and `]]>` becomes `]] >`.
[[nodiscard]] std::string quoted_text(std::string_view text);

/// A file name as a gnuplot string, absolute (a relative one may begin with `|`, a pipe) and
/// otherwise byte for byte; throws Error{unwritable_file} when it contains control characters.
[[nodiscard]] std::string quoted_path(const std::filesystem::path& path);

/// Runs a script, fed on standard input. Returns what gnuplot complained of: empty when it ended
/// well, at least one word when it did not. Throws Error{missing_tool} when it cannot be started.
[[nodiscard]] std::string run_gnuplot(const std::string& script);

/// "gnuplot 5.4", or nothing when it cannot be started.
[[nodiscard]] std::optional<std::string> gnuplot_version();

}  // namespace dewpoint::report
