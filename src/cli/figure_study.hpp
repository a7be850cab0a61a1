// A study behind figures: what is measured, how it is drawn, and what there is to see. `dewpoint
// reproduce` is a list of them, one list per paper.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

struct StudyFigure {
  std::string name;   // of its files: name.svg, name.png and name.csv
  std::string title;  // one line
  std::string see;    // what to look at, for whoever sees the figure for the first time
  std::string paper;  // what the paper says about it; empty where it says nothing
  std::vector<std::string> claims;  // rows of the certificate that belong to it
  std::function<report::Figure(const store::StudyRecord& study)> figure_of;
};

/// How much to measure, and what the record says about it.
struct StudyEffort {
  bool quick = false;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string command;
};

/// What a study costs on two cores of 2021, in seconds: only ratios matter, for the time that is
/// left of many.
struct StudyCost {
  double quick;
  double full;
};

struct FigureStudy {
  std::string name;   // of its file: name.study
  std::string group;  // of its figures: the paper
  StudyCost cost;
  std::function<store::StudyRecord(const StudyEffort& effort)> measure;
  std::vector<StudyFigure> figures;  // drawn from it, at least one
};

/// The figures of [CAS], and those that its theorems would have, in the order they are shown.
[[nodiscard]] std::vector<FigureStudy> cas_figures();

/// Condensation over Gaussian scores, [CC].
[[nodiscard]] std::vector<FigureStudy> cc_figures();

/// A fixed query on the sphere, [SL], and dew points of all laws.
[[nodiscard]] std::vector<FigureStudy> sl_figures();

/// Training through focus and dilution, [FD].
[[nodiscard]] std::vector<FigureStudy> fd_figures();

}  // namespace dewpoint::cli
