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
};

/// The tables, the main one first, and last the JSON that tells where they come from.
[[nodiscard]] std::vector<FileContent> csv_files(const Selection& selection);
[[nodiscard]] FileContent jsonl_file(const Selection& selection);
[[nodiscard]] FileContent npz_file(const Selection& selection);
[[nodiscard]] FileContent netcdf_file(const Selection& selection);

}  // namespace dewpoint::exports
