// What the writers of the formats are given, and what they return.
//
// They work in memory and know nothing of disks: a failure to write is seen in one place,
// export.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/output_file.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::exports {

struct Selection {
  const store::StudyRecord& study;   // where the frames come from
  std::vector<const Frame*> frames;  // at least one
  std::filesystem::path target;
};

struct FileContent {
  std::filesystem::path file;
  std::string bytes;
  FileKind kind;  // what it may replace
};

/// The tables, the main one first, and last the JSON that tells where they come from.
[[nodiscard]] std::vector<FileContent> csv_files(const Selection& selection);
[[nodiscard]] FileContent jsonl_file(const Selection& selection);
[[nodiscard]] FileContent npz_file(const Selection& selection);
[[nodiscard]] FileContent netcdf_file(const Selection& selection);

/// map.csv.json, which describes the tables of map.csv.
[[nodiscard]] std::filesystem::path description_of(const std::filesystem::path& target);

/// How each format knows its own files; `target` is the main table of a CSV, whose tables are known
/// by their description.
[[nodiscard]] FileKind csv_kind(const std::filesystem::path& target);
[[nodiscard]] FileKind description_kind();
[[nodiscard]] FileKind jsonl_kind();
[[nodiscard]] FileKind npz_kind();
[[nodiscard]] FileKind netcdf_kind();

}  // namespace dewpoint::exports
