// One SQLite file is one study: what was asked, with which seed and version, and what came out.
//
// A study is either a finished result, written at once by write_study(), or a sweep that grows
// (sweep_file.hpp); read_study() reads both. The tables (schema kStudySchema, all STRICT) are meant
// to be read by a person too:
//
//     meta         key, value                     kind, experiment, seed, version, command, created
//     parameter    position, name, value          what the experiment was given, as text
//     seal         part, hash                     whether the file is as it was written
//
// and, in a finished result,
//
//     frame        id, name                       one row per Frame of the record
//     dimension    frame, position, name, extent
//     coordinate   frame, dimension, position, value, label
//     variable     frame, position, name
//     axis         frame, variable, position, dimension, stride
//     frame_value  frame, variable, position, mean, standard_error, samples
//     attachment   name, bytes                    what is no table of numbers: a state to go on
//     from
//
// and two views with the coordinates joined in: `point` (any variable: place = "n=512 rho=0.5") and
// `plane` (variables over two dimensions: first, second). Try
//
//     sqlite3 map.study "SELECT place, mean, standard_error FROM point LIMIT 10"
//
// NaN means unknown and is NULL in the file; every other double comes back bit for bit, zeros with
// their sign and infinities included. A result is written whole or not at all (pending_file.hpp).
// Files of schema 1, which had no sweeps and no labels, of schema 2, which had no attachments, and
// of schema 3, which had no hashes, are read as they are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/output_file.hpp"

namespace dewpoint::store {

/// PRAGMA user_version of the files written here; newer ones are refused.
inline constexpr int kStudySchema = 4;
/// PRAGMA application_id: the letters DEWP.
inline constexpr std::int32_t kStudyApplication = 0x44455750;

struct Attachment {
  std::string name;
  std::vector<std::byte> bytes;
};

struct StudyRecord {
  std::string experiment;                                       // the verb that ran: "phase map"
  std::vector<std::pair<std::string, std::string>> parameters;  // name and value; names are unique
  std::uint64_t seed = 0;                                       // of every random stream
  std::string version;                       // of Dewpoint and its commit: "0.1.0+a1b2c3d4e5"
  std::string command;                       // the command line that gives this study again
  std::string created;                       // ISO 8601, UTC: "2026-01-31T12:00:00Z"
  std::vector<Frame> frames;                 // names are unique
  std::vector<Attachment> attachments = {};  // names are unique; of finished results only

  /// The frame with this name; throws Error{bad_value} when there is none.
  [[nodiscard]] const Frame& frame(std::string_view name) const;
  /// The bytes of the attachment with this name; throws Error{bad_value} when there is none.
  [[nodiscard]] std::span<const std::byte> attachment(std::string_view name) const;
};

/// Files that hold a study of this experiment; of any, if it is empty.
[[nodiscard]] FileKind study_kind(const std::string& experiment = {});

/// Writes `file`, or replaces a study of the same experiment. Throws Error{unwritable_file} when
/// the folder, the permissions or the disk do not allow it or when it is a sweep that somebody
/// runs, Error{bad_value} when two frames, parameters or attachments share a name or when another
/// file is in the way; the old file then stays as it was and nothing else is left in its folder.
void write_study(const OutputFile& file, const StudyRecord& record);

/// Reads a whole study; a sweep, running or not, is one frame named as its experiment: over its
/// axes and what its variables have within a cell, first the measured variables (0 samples where
/// nothing is known yet), then the predicted ones (error and samples 0). A sweep whose writer has
/// not committed its head yet is an empty record. Throws
/// Error{unreadable_file} when the file is not there or may not be read, Error{malformed_file} when
/// it is not a study, is damaged, or has a newer schema. Everything that is read has a hash
/// (integrity.hpp), but for files of schema 1 to 3: of these only SQLite's structure and the shape
/// of every frame are checked.
[[nodiscard]] StudyRecord read_study(const std::filesystem::path& file);

}  // namespace dewpoint::store
