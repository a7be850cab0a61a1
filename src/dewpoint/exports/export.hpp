// A study for other people's tools: CSV, JSON lines, NumPy's .npz and netCDF-4.
//
// A variable of a frame is *measured* (mean, standard error, samples) or *predicted*: bare numbers,
// without samples, that theory gave ("contraction_theory", "critical_gamma"). Written is
//
//     x           the mean, or the predicted value
//     x_se        the standard error of that mean              \  of measured
//     x_samples   how many samples stand behind it             /  variables only
//
// NaN means unknown. A place of the grid where nothing is known (not computed yet, or outside a
// refined grid) has no row in a table and NaN in an array.
//
//   CSV      one table for each set of dimensions that variables run over, one row per place, row
//            by row as in the frame: the axes, then the variables side by side, then one `samples`
//            if all measured variables agree in every row, else x_samples beside each x. The table
//            with most variables is `target.csv`, the others are `target-n-rank.csv` (their
//            dimensions) or `target-scalars.csv` (none). With several frames each begins with
//            `target-<frame>`. Fields are quoted where RFC 4180 asks for it, lines end with \n;
//            unknown is an empty field, an infinity `inf` or `-inf`. Nothing in the tables depends
//            on the time or the machine; where they come from is told in `target.csv.json`, which
//            also tells our tables from those of others: it lists their columns.
//   JSONL    a first line {"study": {...}}, then one object per row of these tables:
//                {"frame": "phase", "n": 512, "x": {"mean": 0.5, "se": 0.1, "samples": 16},
//                 "x_theory": 0.4}
//            null is unknown. JSON has no infinities: such a number is null too, and the object
//            ends with its sign, "infinite": {"x": 1, "x.se": 1, "y": -1}.
//   npz      x, x_se, x_samples as arrays, the coordinates under the names of their dimensions
//            (words as '<U'), and `dewpoint_metadata`, a JSON text that says which array runs over
//            which dimensions, and where they come from. With several frames: "phase/x".
//   netCDF   the same as variables over named dimensions with coordinate variables, as xarray opens
//            it: x names x_se and x_samples in `ancillary_variables`; where they come from is in
//            the global attributes. With several frames each is a group.
//
// Numbers come back bit for bit: in text they have the fewest digits for which this holds. The same
// study gives the same bytes. Text that is not UTF-8 is mended with U+FFFD, characters that a file
// name or a netCDF name cannot hold become '_', and of two equal names the second becomes name_2.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/core/output_file.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::exports {

enum class Format { csv, jsonl, npz, netcdf };

/// The format that the extension of a file asks for: .csv, .jsonl, .npz or .nc. Throws
/// Error{bad_value} for any other, with these four.
[[nodiscard]] Format format_of(const std::filesystem::path& target);
/// The format called csv, jsonl, npz or netcdf. Throws Error{bad_value} for any other name.
[[nodiscard]] Format format_named(std::string_view name);

struct Options {
  std::string frame;   // write this frame alone; empty: all of the study
  bool force = false;  // files of others may be replaced
};

/// Asked before long work: require_writable() for the main file and, of tables, the JSON beside it.
void require_export_places(const OutputFile& target, Format format);

/// Writes the study and returns the files, the main one first. Throws Error{bad_value} where the
/// study has no such frame or no frame at all, where a variable has a dimension twice, or where a
/// file that is not ours is in the way; Error{unwritable_file} with the file and the reason where
/// something cannot be written.
///
///   Properties  (1) each file is the old or the new one, whole; none is replaced before all are on
///                   the disk beside their places.
///               (2) equal studies give equal bytes.
std::vector<std::filesystem::path> write(const store::StudyRecord& study,
                                         const std::filesystem::path& target, Format format,
                                         const Options& options = {});

}  // namespace dewpoint::exports
