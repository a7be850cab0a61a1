// Trajectories with stages that can be read off, for the tests of the stage detector.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "dewpoint/training/stages.hpp"

namespace dewpoint::training {

// Thresholds whose products with halves are exact: with two tokens the base is 0.5, a cycle rises
// above 0.625 and starts above 0.5625.
inline StageThresholds exact_thresholds() {
  StageThresholds thresholds;
  thresholds.rise = 0.25;
  thresholds.start = 0.125;
  thresholds.retraction = 0.125;
  return thresholds;
}

inline Record quiet_record(double time, std::size_t tokens) {
  Record record(tokens, 1);
  record.time = time;
  for (std::size_t q = 0; q < tokens; ++q) {
    for (double& weight : record.attention.row(q)) weight = 1.0 / static_cast<double>(tokens);
    record.embedding_norm[q] = 1.0;
  }
  return record;
}

// Two tokens; s_0 is what token 1 gives to token 0. Times are 0, 10, 20, ...
inline std::vector<Record> focus_of_two(const std::vector<double>& shares) {
  std::vector<Record> records;
  for (const double share : shares) {
    records.push_back(quiet_record(10.0 * static_cast<double>(records.size()), 2));
    records.back().attention(1, 0) = share;
    records.back().attention(1, 1) = 1.0 - share;
  }
  return records;
}

inline std::vector<Record> norms_of_first(const std::vector<double>& norms) {
  std::vector<Record> records;
  for (const double norm : norms) {
    records.push_back(quiet_record(10.0 * static_cast<double>(records.size()), 2));
    records.back().embedding_norm[0] = norm;
  }
  return records;
}

inline Cycle only_cycle(const std::vector<double>& shares) {
  return find_stages(focus_of_two(shares), exact_thresholds()).cycles.at(0);
}

inline std::vector<Retraction> retractions_of(const std::vector<double>& norms) {
  return find_stages(norms_of_first(norms), exact_thresholds()).retractions.at(0);
}

}  // namespace dewpoint::training
