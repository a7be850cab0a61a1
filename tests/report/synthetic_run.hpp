// A training run as a study keeps it, with numbers that tell where they come from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "dewpoint/store/study.hpp"

namespace dewpoint::test {

inline std::vector<double> numbers_up_to(std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t k = 0; k < count; ++k) numbers[k] = static_cast<double>(k);
  return numbers;
}

/// Cells count on from `first`: the number tells the place.
inline void add_counting(Frame& frame, const std::string& name,
                         const std::vector<std::string>& over, double first) {
  for (Estimate& cell : frame.add_variable(name, over).cells) cell = {first++, 0.0, 1};
}

/// Frame "trajectory": every variable counts on from a number of its own, `attention` and
/// `weighted_attention` in units of 1/(their cells).
inline Frame synthetic_trajectory(std::size_t tokens, const std::vector<double>& times) {
  Frame frame("trajectory");
  frame.add_dimension("time", times);
  for (const char* name : {"token", "query", "key", "rank"}) {
    frame.add_dimension(name, numbers_up_to(tokens));
  }
  frame.add_dimension("component", numbers_up_to(2));
  frame.add_dimension("cycle", numbers_up_to(tokens - 1));
  double first = 0;
  for (const char* name : {"loss", "embedding_rank_one", "unembedding_rank_one", "embedding_size",
                           "unembedding_size", "query_size", "key_size"}) {
    add_counting(frame, name, {"time"}, first += 1000);
  }
  for (const char* name : {"group_loss", "embedding_norm", "parallel", "perpendicular"}) {
    add_counting(frame, name, {"time", "token"}, first += 1000);
  }
  add_counting(frame, "entropy", {"time", "query"}, first += 1000);
  add_counting(frame, "embedding_singular_values", {"time", "rank"}, first += 1000);
  add_counting(frame, "focus", {"time", "cycle"}, first += 1000);
  for (const char* name : {"attention", "weighted_attention"}) {
    add_counting(frame, name, {"time", "query", "key"}, 0);
    auto& cells = frame.variable(name).cells;
    for (Estimate& cell : cells) cell.mean /= static_cast<double>(cells.size());
  }
  add_counting(frame, "path", {"time", "token", "component"}, 0);
  add_counting(frame, "path_explained", {"component"}, 0);
  frame.variable("path_explained").cells = {{0.625, 0, 1}, {0.25, 0, 1}};
  return frame;
}

/// Frame "condensation" with three units: cosine counts on from 0.
inline Frame synthetic_condensation(const std::vector<double>& moments) {
  Frame frame("condensation");
  frame.add_dimension("moment", moments);
  frame.add_labelled_dimension("matrix", {"W0", "W1", "WQ", "WK"});
  frame.add_dimension("row", numbers_up_to(3));
  frame.add_dimension("column", numbers_up_to(3));
  add_counting(frame, "cosine", {"moment", "matrix", "row", "column"}, 0);
  for (Estimate& cell : frame.variable("cosine").cells) cell.mean /= 1000;
  add_counting(frame, "mean_cosine", {"moment", "matrix"}, 0);
  for (Estimate& cell : frame.variable("mean_cosine").cells) cell.mean /= 100;
  return frame;
}

inline constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

/// Frame "stages"; a time that is NaN was not seen.
inline Frame synthetic_stages(double focus, double peak, double new_direction) {
  Frame frame("stages");
  frame.add_labelled_dimension("stage",
                               {"condensation", "focus", "peak", "half-dilution", "new direction"});
  frame.add_variable("time", {"stage"});
  frame.variable("time").cells = {
      {5, 0, 1}, {focus, 0, 1}, {peak, 0, 1}, {peak, 0, 1}, {new_direction, 0, 1}};
  frame.add_variable("threshold", {"stage"});
  frame.variable("threshold").cells[2] = {0.1, 0, 1};
  return frame;
}

/// Three tokens at steps 0, 10, ..., 100; stages II, III and IV begin at 20, 40 and 70.
inline store::StudyRecord synthetic_run(std::size_t tokens = 3) {
  std::vector<double> times;
  for (int k = 0; k <= 10; ++k) times.push_back(10.0 * k);
  store::StudyRecord study;
  study.experiment = "train";
  study.parameters = {{"lambda", "0.8"}, {"optimiser", "adam"}};
  study.seed = 17;
  study.version = "0.1.0";
  study.frames = {synthetic_trajectory(tokens, times), synthetic_condensation({0, 42, 100}),
                  synthetic_stages(20, 40, 70)};
  Frame data("data");
  data.add_dimension("token", numbers_up_to(tokens));
  add_counting(data, "stationary", {"token"}, 1);
  for (Estimate& cell : data.variable("stationary").cells) cell.mean = 0.75 / cell.mean;
  study.frames.push_back(data);
  return study;
}

}  // namespace dewpoint::test
