// How far an embedding falls in a run that was looked at.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "dewpoint/training/stages.hpp"

namespace dewpoint::experiments {

/// Of the norm of token number `token` of the looks, which have `step` and `norms`; none where it
/// never falls by a tenth.
template <class Looks>
[[nodiscard]] std::optional<training::Retraction> deepest_retraction(const Looks& looks,
                                                                     std::size_t token) {
  std::vector<double> steps, norms;
  for (const auto& look : looks) {
    steps.push_back(look.step);
    norms.push_back(look.norms[token]);
  }
  const auto all = training::retractions_of(steps, norms, training::StageThresholds{}.retraction);
  const auto deepest = std::ranges::max_element(all, {}, &training::Retraction::depth);
  if (deepest == all.end()) return std::nullopt;
  return *deepest;
}

}  // namespace dewpoint::experiments
