// A study behind figures: what is measured, and how it is drawn. `dewpoint reproduce` is a list of
// them, one list per paper.
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
using DrawStudy = std::function<void(const store::StudyRecord& study, const std::string& title,
                                     const std::filesystem::path& stem)>;

struct StudyFigure {
  std::string name;   // of its files: name.svg and name.png
  std::string title;  // one line
  DrawStudy draw;
};

/// How much to measure, and what the record says about it.
struct StudyEffort {
  bool quick = false;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string command;
};

struct FigureStudy {
  std::string name;  // of its file: name.study
  std::function<store::StudyRecord(const StudyEffort& effort)> measure;
  std::vector<StudyFigure> figures;  // drawn from it, at least one
};

/// DrawStudy of a function that makes a figure from a study.
template <typename Figure>
[[nodiscard]] DrawStudy drawn_by(Figure (*figure_of)(const store::StudyRecord&)) {
  return [figure_of](const store::StudyRecord& study, const std::string& title,
                     const std::filesystem::path& stem) {
    Figure figure = figure_of(study);
    figure.title = title;
    draw(figure, stem);
  };
}

/// The figures of [CAS], and those that its theorems would have, in the order they are shown.
[[nodiscard]] std::vector<FigureStudy> cas_figures();

/// Condensation over Gaussian scores, [CC].
[[nodiscard]] std::vector<FigureStudy> cc_figures();

/// A fixed query on the sphere, [SL], and dew points of all laws.
[[nodiscard]] std::vector<FigureStudy> sl_figures();

/// Training through focus and dilution, [FD].
[[nodiscard]] std::vector<FigureStudy> fd_figures();

}  // namespace dewpoint::cli
