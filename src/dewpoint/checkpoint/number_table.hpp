// A table of numbers from a file: one row per line of a text, or per row of an array.
//
// Two kinds of files are read. A .npy array (npy.hpp) has shape (rows, columns), or (columns,) for
// one row. Everything else is text:
//
//     # scores of head 3, layer 7        '#' begins a comment; empty lines do not count
//     -0.25  1.5   3e-2                  one row per line
//     +0.75, 2,    -1                    numbers apart by blanks, tabs or a comma
//
//   A number is decimal, with '.' whatever the locale, as std::from_chars takes it, and may begin
//   with '+'. NaN, infinities and numbers that no double can hold are refused: one of them would
//   silently spoil whatever is computed from its row. A comma always separates, so "1,5" is two
//   numbers; two commas without a number between them, or one at an end of a line, are a number
//   that is missing.
//
//   Lines end with \n or \r\n, the last one perhaps with neither. A UTF-8 byte order mark is passed
//   over. There is no limit on the length of a line or of a file, but one on the length of a
//   number.
//
// What the numbers mean is the business of whoever asked for them: score_file.hpp, and the chains
// of training.
//
// Messages count lines and numbers of a text from 1, as editors do, and rows and columns of an
// array from 0, as NumPy does.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::checkpoint {

/// Most characters of one number in a text; an exact double has at most 1077.
inline constexpr std::size_t kLongestNumber = 2048;

/// A text is read in pieces of this many bytes.
inline constexpr std::size_t kTablePiece = std::size_t{1} << 16;

/// What the user takes the table for; messages speak of it so.
struct TableWords {
  std::string_view numbers = "numbers";
  std::string_view row = "row";
};

struct NumberTable {
  Matrix<double> numbers;
  bool is_text = false;  // else it was an array
};

/// The table in the bytes of a file; `name` is what an error message calls it. Bytes that begin as
/// an array does, and whatever is called .npy, are read as an array; the rest as text.
///
/// Throws Error{Code::malformed_file} with one line: name, line and number (or row and column),
/// what was found, what is allowed.
///
///   Domain      any bytes.
///   Accuracy    a text: the double nearest to each number. An array: that of parse_npy_matrix.
///   Properties  (1) element (i, j) is number j of the i-th line that has numbers.
///               (2) at least one row and one column, and every element finite.
///               (3) whatever the bytes, the outcome is a table or an Error of one line.
[[nodiscard]] NumberTable parse_number_table(std::span<const std::byte> bytes,
                                             std::string_view name, const TableWords& words = {});

/// parse_number_table of a file.
///
/// Throws in addition Error{Code::unreadable_file} when the path leads to nothing, to anything but
/// a regular file, or to a file that may not be read.
///
///   Properties  (1) equals parse_number_table of the whole content, wherever a piece ends.
///               (2) a text needs twice the memory of its table and kTablePiece, however long it or
///                   a line of it is; an array that of its file and of its table.
[[nodiscard]] NumberTable read_number_table(const std::filesystem::path& path,
                                            const TableWords& words = {});

}  // namespace dewpoint::checkpoint
