// The figures of [CAS], measured anew, and those that its theorems would have: which studies there
// are, how much to measure for each, and how they are drawn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// Draws a study as stem.svg and stem.png, under a title.
using CasDraw = std::function<void(const store::StudyRecord& study, const std::string& title,
                                   const std::filesystem::path& stem)>;

struct CasFigure {
  std::string name;   // of its files: name.svg and name.png
  std::string title;  // one line
  CasDraw draw;
};

/// How much to measure, and what the record says about it.
struct CasEffort {
  bool quick = false;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string command;
};

struct CasStudy {
  std::string name;  // of its file: name.study
  std::function<store::StudyRecord(const CasEffort& effort)> measure;
  std::vector<CasFigure> figures;  // drawn from it, at least one
};

/// All of them, in the order in which they are shown.
[[nodiscard]] std::vector<CasStudy> cas_studies();

}  // namespace dewpoint::cli
