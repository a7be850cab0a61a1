// A small sweep for the tests of the store: two axes, one of them along names, and a variable with
// a dimension of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/store/sweep_file.hpp"
#include "store/study_support.hpp"

namespace dewpoint::test {

using store::SweepCell;
using store::SweepHead;
using store::SweepPlan;

inline SweepHead sweep_head() {
  SweepHead head;
  head.experiment = "phase";
  head.parameters = {{"alpha", "0"}, {"d", "64"}};
  head.seed = 7;
  head.version = "0.4.0";
  head.command = "dewpoint run phase.toml";
  head.text = "experiment = \"phase\"\n";
  head.title = "A small map";
  return head;
}

inline std::string key_of(double rho, const std::string& law) {
  std::string key;
  for (const char c : fmt::format("{}{}", law, rho)) key += fmt::format("{:02x}", +c);
  return fmt::format("{:0>32}", key);
}

/// Every combination of rho and law.
inline SweepPlan sweep_plan(const std::vector<double>& rhos = {0.0, 0.5, 0.75},
                            const std::vector<std::string>& laws = {"sphere", "cube"}) {
  SweepPlan plan;
  Dimension names{"law", {}, laws};
  for (std::size_t i = 0; i < laws.size(); ++i) names.coordinates.push_back(static_cast<double>(i));
  plan.axes = {{"rho", rhos}, names};
  plan.measured = {{"contraction"}, {"loss", {{"layer", {1, 2, 4}}}}};
  plan.predicted = {{"contraction_theory"}};
  for (std::size_t i = 0; i < rhos.size(); ++i) {
    for (std::size_t k = 0; k < laws.size(); ++k) {
      const std::string parameters = fmt::format(R"({{"law":"{}","rho":{}}})", laws[k], rhos[i]);
      plan.places.push_back({{i, k}, key_of(rhos[i], laws[k]), parameters, 0});
    }
  }
  return plan;
}

/// Values that tell cells and positions apart.
inline SweepCell sweep_cell(double mark, std::uint64_t replicas = 4) {
  SweepCell cell;
  cell.replicas = replicas;
  for (int i = 0; i < 4; ++i) cell.moments.emplace_back(replicas, mark + 0.1 * i, 0.25 * mark + i);
  cell.predictions = {-mark};
  return cell;
}

inline void expect_same(const SweepCell& a, const SweepCell& b) {
  EXPECT_EQ(a.replicas, b.replicas);
  EXPECT_EQ(a.exact, b.exact);
  ASSERT_EQ(a.moments.size(), b.moments.size());
  for (std::size_t i = 0; i < a.moments.size(); ++i) {
    EXPECT_EQ(a.moments[i].samples(), b.moments[i].samples());
    expect_same(a.moments[i].mean(), b.moments[i].mean());
    expect_same(a.moments[i].squared_deviations(), b.moments[i].squared_deviations());
  }
  ASSERT_EQ(a.predictions.size(), b.predictions.size());
  for (std::size_t i = 0; i < a.predictions.size(); ++i) {
    expect_same(a.predictions[i], b.predictions[i]);
  }
}

using Cells = std::map<std::string, SweepCell>;

inline void expect_same(const Cells& a, const Cells& b) {
  ASSERT_EQ(a.size(), b.size());
  for (auto i = a.begin(), k = b.begin(); i != a.end(); ++i, ++k) {
    EXPECT_EQ(i->first, k->first);
    expect_same(i->second, k->second);
  }
}

/// Writes a closed study with these cells.
inline void write_sweep(const std::filesystem::path& path, const SweepPlan& plan,
                        const Cells& cells, const SweepHead& head = sweep_head()) {
  store::SweepFile file(path, head);
  file.begin_session({"2026-01-31T12:00:00Z", "0.4.0", "a processor", "AVX2", 1, 2, "run"});
  file.set_plan(plan);
  for (const auto& [key, cell] : cells) file.put(key, cell, {0, cell.replicas, 0.5, 0});
  file.end_session("2026-01-31T12:01:00Z", "finished");
  file.close();
}

/// Makes it what schema 3 would have written: its cells and parts have no hashes.
inline void remove_hashes(const std::filesystem::path& path) {
  run_sql(path,
          "ALTER TABLE cell DROP COLUMN hash; DROP TABLE seal; PRAGMA user_version = 3; VACUUM");
}

}  // namespace dewpoint::test
