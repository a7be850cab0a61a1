// Attention scores from a file: one row per query, one column per key.
//
// The file is a table of numbers, an array or a text (number_table.hpp). An array has shape
// (queries, keys), or (keys,) for one query. A text has one query per line:
//
//     # scores of head 3, layer 7
//     -0.25  1.5   3e-2
//     +0.75, 2,    -1
//
//   A text with one number on every line is ONE query, its keys one below the other: so a column
//   that numpy.savetxt or a spreadsheet wrote is read as it was meant.
//
// Scores may also be made here, from the queries and keys of a head. Every query needs at least
// kFewestKeys keys: with fewer there is no spectrum of scores to speak of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "dewpoint/checkpoint/number_table.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::checkpoint {

/// Fewest scores of one query.
inline constexpr std::size_t kFewestKeys = 3;

/// A text is read in pieces of this many bytes.
inline constexpr std::size_t kScoreFilePiece = kTablePiece;

/// The scores in the bytes of a file; `name` is what an error message calls it. Bytes that begin as
/// an array does, and whatever is called .npy, are read as an array; the rest as text.
///
/// Throws Error{Code::malformed_file} with one line: name, line and number (or row and column),
/// what was found, what is allowed.
///
///   Domain      any bytes.
///   Accuracy    a text: the double nearest to each number. An array: that of parse_npy_matrix.
///   Properties  (1) element (i, j) is number j of the i-th line that has numbers, or number j of
///                   the file if every such line has one.
///               (2) at least one row and kFewestKeys columns, and every element finite.
///               (3) whatever the bytes, the outcome is a matrix or an Error of one line.
[[nodiscard]] Matrix<double> parse_scores(std::span<const std::byte> bytes, std::string_view name);

/// parse_scores of a file.
///
/// Throws in addition Error{Code::unreadable_file} when the path leads to nothing, to anything but
/// a regular file, or to a file that may not be read.
///
///   Properties  (1) equals parse_scores of the whole content, wherever a piece ends.
///               (2) a text needs twice the memory of its matrix and kScoreFilePiece, however long
///                   it or a line of it is; an array that of its file and of its matrix.
[[nodiscard]] Matrix<double> read_scores(const std::filesystem::path& path);

/// Most memory that queries, keys and their scores may take together: 4 GiB, or 5e8 scores.
inline constexpr std::uint64_t kMostScoreBytes = std::uint64_t{1} << 32;

/// The scores of every query with every key, from .npy arrays of shape (queries, d) and (keys, d),
///
///     score_ij = scale ⟨q_i, k_j⟩.
///
/// Throws Error as read_npy_matrix does; bad_value when the scale is not positive and finite, or
/// when the arrays, as doubles, and the scores would take more than most_bytes; malformed_file when
/// the arrays differ in d, when there are fewer than kFewestKeys keys, or when a score is too large
/// for a double.
///
///   Domain      scale > 0, finite; 1/√d in most models.
///   Accuracy    |error| ≤ scale (d + 1) 2⁻⁵³ Σ_a |q_ia k_ja|, to first order.
///   Properties  (1) the accuracy just stated, against products in extended precision.
///               (2) every score is finite.
///   Reference   [Higham 2002, section 3.1] for the error of an inner product.
[[nodiscard]] Matrix<double> read_query_key_scores(const std::filesystem::path& queries,
                                                   const std::filesystem::path& keys, double scale,
                                                   std::uint64_t most_bytes = kMostScoreBytes);

}  // namespace dewpoint::checkpoint
