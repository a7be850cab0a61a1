// What all optimisers that take whole steps share: counting them, noticing when the state has
// stopped being finite, and stopping on request between two steps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dewpoint/training/trainer.hpp"

namespace dewpoint::training {

class StepTrainer : public Trainer {
 public:
  [[nodiscard]] double time() const final { return static_cast<double>(done_); }
  /// Domain: `time` is a whole number, not below time(). A stop leaves a state of whole steps.
  [[nodiscard]] bool advance(double time, const RunContext& run) final;

 protected:
  /// Step number `done` (0 is the first). Returns whether the state is finite afterwards; when the
  /// loss already is not, nothing is changed.
  [[nodiscard]] virtual bool step(std::uint64_t done) = 0;

  [[nodiscard]] std::uint64_t done() const { return done_; }
  void set_done(std::uint64_t done) { done_ = done; }

 private:
  std::uint64_t done_ = 0;
};

/// Whether every entry of Φ and M is finite: they are products with every weight, so none is
/// infinite or NaN without one of them showing it.
[[nodiscard]] bool is_finite(const TokenMaps& maps);

}  // namespace dewpoint::training
