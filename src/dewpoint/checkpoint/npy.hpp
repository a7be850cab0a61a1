// Queries, keys and tokens from NumPy: one matrix out of a .npy file.
//
// A .npy file is a magic string, a format version, the length of a header, the header (a Python
// dictionary in text, padded with spaces), then the numbers and nothing after them:
//
//     \x93NUMPY  1 0  118  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  ...
//
// The file comes from elsewhere and may be damaged or hostile, so nothing in it is believed before
// it is checked against the number of bytes at hand, and nothing in it is ever executed: an array
// of Python objects is a pickle, and is refused. What is read is what attention can use:
//
//   version         1.0, 2.0, 3.0
//   descr           f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8, little- or big-endian
//   fortran_order   False (rows first) or True (columns first)
//   shape           (rows, columns), both at least 1; for some callers also (columns,)
//
// The dictionary is stricter than Python: the three keys above, each once, in any order; plain
// strings in either quote without escapes; decimal extents. The long integers of Python 2 ("3L")
// are refused. So are the types that hold no real numbers (booleans, complex numbers, strings,
// times, records) and values that are NaN or infinite: in a dump of queries and keys these are a
// mistake upstream, and one of them would silently spoil a whole row of weights.
//
// Arrays of any shape are read by npy_array.hpp, archives of them (.npz) by npz.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::checkpoint {

/// The matrix stored in the bytes of a .npy file; `name` is what an error message calls them.
///
/// Throws Error{Code::malformed_file} with one line: name, field, what was found, what is allowed.
///
///   Domain      any bytes, at any alignment.
///   Accuracy    exact; i8 and u8 beyond 2^53 in magnitude go to the nearest double, as in NumPy's
///               astype(float64).
///   Properties  (1) element (i, j) is NumPy's array[i, j], in whatever order the file stores it.
///               (2) there is at least one row and one column, and every element is finite.
///               (3) the matrix takes at most eight times the memory of the bytes: a shape is
///                   checked against them before anything is allocated for it.
///               (4) whatever the bytes, the outcome is a matrix or an Error of one line.
///   Reference   numpy.lib.format; NEP 1, "A simple file format for NumPy arrays".
[[nodiscard]] Matrix<double> parse_npy_matrix(std::span<const std::byte> bytes,
                                              std::string_view name);

/// parse_npy_matrix of a whole file, which is read into memory first.
///
/// Throws in addition Error{Code::unreadable_file} when the path leads to nothing, to anything but
/// a regular file, or to a file that may not be read.
[[nodiscard]] Matrix<double> read_npy_matrix(const std::filesystem::path& path);

/// The same two where one row needs no second dimension: shape (columns,) is a matrix of one row.
[[nodiscard]] Matrix<double> parse_npy_rows(std::span<const std::byte> bytes,
                                            std::string_view name);
[[nodiscard]] Matrix<double> read_npy_rows(const std::filesystem::path& path);

}  // namespace dewpoint::checkpoint
