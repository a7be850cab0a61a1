// A study in a file: which experiment, where, how precisely. TOML, so that people read and diff it.
//
//     title      = "The phase diagram of one layer"
//     experiment = "phase"
//     seed       = 1
//     replicas   = 16                                  # or a target error:
//     # target   = { observable = "contraction", error = 0.01, most = 1024 }
//
//     [parameters]                                     # fixed
//     tokens = "equicorrelated"
//
//     [grid]                                           # axes, the slowest first
//     n     = [128, 512]
//     rho   = { from = 0.0, to = 0.95, count = 20 }
//     gamma = { from = 0.25, to = 4, count = 16, scale = "log", unit = "critical" }
//
//     [refine]                                         # twice, where the contraction changes most
//     observable = "contraction"
//     levels = 2
//     along = ["gamma"]
//     share = 0.25
//
//     [outputs]
//     study = "phase.study"
//     exports = ["phase.csv"]
//
//     [[outputs.figures]]
//     kind = "heatmap"
//     file = "phase.png"
//
// An axis is a list of numbers or words, a single one, { from, to, count } with scale = "linear" or
// "log", or { values = [...] } with a scale that only refinement uses. Numbers of an axis increase;
// those between `from` and `to` are rounded (axis_values.hpp), to whole ones where the parameter
// is. A fixed parameter in other units is { value = 2, unit = "critical" }. With a target,
// `replicas` is the fewest. A seed beyond 2^63 - 1, where TOML's numbers end, stands in quotes.
//
// A key that nobody knows is an error with the nearest known one. Overrides are `key=value` with
// dotted keys and TOML values: "grid.n=[64,128]", "replicas=4", "parameters.tokens=simplex" (a word
// needs no quotes).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/question/asked.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

using GridAxis = question::Axis;  // units resolved: "c"

/// Replicas per cell: a number, or as many as a target asks for.
struct Precision {
  std::uint64_t replicas = 1;     // with a target: the fewest, at least 8
  double target_error = 0.0;      // doubled until the standard error is this small; 0: no target
  std::string target_observable;  // of this observable; at every position within the cell
  std::uint64_t most = 4096;      // and never more replicas than this
  friend bool operator==(const Precision&, const Precision&) = default;
};

/// Between two neighbours along an axis whose values differ most a new cell is put, and again.
struct Refinement {
  std::string observable;
  std::size_t levels = 1;
  std::vector<std::string> along;  // axes; empty in the file: all with two numbers or more
  double share = 0.25;             // of all intervals of a level, those with the largest change
  friend bool operator==(const Refinement&, const Refinement&) = default;
};

struct FigureOutput {
  std::string file;  // .svg, .png or .pdf
  std::string kind = "auto";
  std::string observable;            // empty: the experiment's order parameter
  std::string x;                     // axis; empty: the figure's choice
  std::string y;                     // second axis of a heat map
  std::vector<std::string> at = {};  // "n=512": only there
  bool log_x = false;
  bool log_y = false;
  std::string fit = "power";  // of a scaling figure: power, log, log-power
  friend bool operator==(const FigureOutput&, const FigureOutput&) = default;
};

struct StudyText {
  std::string title;
  std::string experiment;
  Point fixed;                 // [parameters], units resolved, no defaults
  std::vector<GridAxis> grid;  // slowest first
  std::uint64_t seed = 1;
  Precision precision;
  std::optional<Refinement> refinement;
  std::string study;  // file of the results; relative to the current folder
  std::vector<std::string> exports;
  std::vector<FigureOutput> figures;
  friend bool operator==(const StudyText&, const StudyText&) = default;
};

inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostAxisValues = 100'000;
inline constexpr std::size_t kMostCells = 10'000'000;  // with refinement, too; 3 GB of plan
inline constexpr std::uint64_t kFewestForTarget = 8;

using ExperimentFinder = std::function<const Experiment&(const std::string&)>;

/// Reads a study file of at most kMostFileBytes. Throws Error{unreadable_file}, or
/// Error{malformed_file} or Error{bad_value} with file, line where known, key, value and what is
/// allowed. A study without `outputs.study` goes to the current folder under the file's name.
[[nodiscard]] StudyText read_study_text(const std::filesystem::path& file,
                                        const std::vector<std::string>& overrides = {},
                                        const ExperimentFinder& find = experiment_named);

/// The same from a text; `name` is what errors call it, and `study` stays empty where it is not
/// said.
[[nodiscard]] StudyText parse_study_text(std::string_view text, const std::string& name,
                                         const std::vector<std::string>& overrides = {},
                                         const ExperimentFinder& find = experiment_named);

/// The study with every default written out.
///   Properties  (1) parse_study_text(effective_text(s)) = s, bit for bit.
[[nodiscard]] std::string effective_text(const StudyText& study);

}  // namespace dewpoint::studies
