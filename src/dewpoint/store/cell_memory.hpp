// Cells that are kept in memory, for whoever wants the frame of a plan and no file.
//
// Plans may follow each other on the same cells, a coarse one and then a finer one: what is known
// is found, as in a file. Not for two threads at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/store/cell_store.hpp"

namespace dewpoint::store {

class CellMemory final : public CellStore {
 public:
  /// What will be put: cells of other observables are forgotten, other predictions are computed
  /// anew, as where a file is opened to replace them (SweepOpening).
  void open(const CellForm& form, const Predictor& predict);

  [[nodiscard]] std::unordered_map<std::string, SweepCell> cells_to_continue(
      std::optional<std::uint64_t> enough) const override;
  [[nodiscard]] bool has_plan(const SweepPlan& plan) const override;
  void set_plan(const SweepPlan& plan, const std::stop_token& stop = {}) override;
  void put(const std::string& key, SweepCell cell, const SweepEffort& effort) override;
  void flush() override {}

  /// Of the last plan, as read_study() gives it of a file.
  [[nodiscard]] Frame frame(const std::string& name) const;

 private:
  struct Known {
    std::string parameters;
    SweepCell cell;
  };

  SweepPlan plan_;
  CellForm form_;
  std::unordered_map<std::string, Known> cells_;
};

}  // namespace dewpoint::store
