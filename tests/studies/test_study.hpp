// Studies of the test experiment, run and looked into: what tests of the runners share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/store/sweep_file.hpp"
#include "dewpoint/studies/runner.hpp"
#include "studies/test_experiment.hpp"

namespace dewpoint::test {

using Cells = std::map<std::string, store::SweepCell>;

/// 2 sharpnesses × 12 places around the step.
inline studies::StudyText test_study(std::uint64_t replicas) {
  studies::StudyText study;
  study.experiment = "test";
  study.seed = 11;
  study.precision.replicas = replicas;
  study.grid = {{"n", {2.0, 8.0}}, {"x", {}}};
  for (int i = 0; i < 12; ++i) study.grid[1].values.push_back(0.25 * i);
  return study;
}

inline store::SweepHead test_head(const studies::StudyText& study) {
  store::SweepHead head;
  head.experiment = study.experiment;
  head.seed = study.seed;
  return head;
}

/// Opens the file, runs, closes it.
inline studies::RunOutcome run_in(const std::filesystem::path& path,
                                  const studies::StudyText& study, studies::Workers& workers,
                                  const studies::RunOptions& options = {}, int schema = 1) {
  const TestExperiment experiment(schema);
  store::SweepFile file(path, test_head(study));
  const studies::RunOutcome outcome = studies::run_study(
      study, experiment, studies::grid_plan(study, experiment), file, workers, options);
  file.close();
  return outcome;
}

inline Cells cells_in(const std::filesystem::path& path, const studies::StudyText& study) {
  return store::SweepFile(path, test_head(study)).cells();
}

/// All numbers of all cells, bit for bit.
inline std::vector<std::uint64_t> bits_of(const Cells& cells) {
  std::vector<std::uint64_t> bits;
  for (const auto& [key, cell] : cells) {
    bits.insert(bits.end(), {cell.replicas, cell.exact ? 1U : 0U});
    for (const RunningMoments& moments : cell.moments) {
      bits.push_back(moments.samples());
      bits.push_back(std::bit_cast<std::uint64_t>(moments.mean()));
      bits.push_back(std::bit_cast<std::uint64_t>(moments.squared_deviations()));
    }
    for (const double value : cell.predictions) bits.push_back(std::bit_cast<std::uint64_t>(value));
  }
  return bits;
}

/// Which replicas were committed, commit by commit and cell by cell, in order.
inline std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> efforts_in(
    const std::filesystem::path& path) {
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> efforts;
  sqlite3* database = nullptr;
  const auto add = [](void* found, int, char** row, char**) {
    (*static_cast<decltype(efforts)*>(found))[row[0]].emplace_back(std::stoull(row[1]),
                                                                   std::stoull(row[2]));
    return 0;
  };
  const char* query =
      "SELECT key, from_replica, to_replica FROM effort JOIN cell ON cell.id = effort.cell "
      "ORDER BY key, from_replica, to_replica";
  const bool read =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_exec(database, query, add, &efforts, nullptr) == SQLITE_OK;
  sqlite3_close(database);
  if (!read) throw std::runtime_error("the efforts of " + path.string() + " cannot be read");
  return efforts;
}

}  // namespace dewpoint::test
