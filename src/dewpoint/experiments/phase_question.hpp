// What can be asked of one layer: a point of the phase diagram, or a map of many.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/experiments/phase.hpp"

namespace dewpoint::experiments {

struct PhaseQuestion {
  LayerQuestion layer;
  std::size_t rows = 0;
};

template <class Visitor>
void describe(Visitor& visit, PhaseQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.layer);
  visit("rows", q.rows, in(0.0, tokens::kMostTokens),
        "queries sampled per cloud, for large n; 0: all", fixed);
}

/// As of the layer. Throws Error{bad_value} for rows that phase_point does not take.
///   Properties  (1) completed(completed(q)) = completed(q).
[[nodiscard]] PhaseQuestion completed(PhaseQuestion question);
/// The same with every temperature as gamma.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] PhaseQuestion resolved(PhaseQuestion question);

/// A complete question for phase_point.
[[nodiscard]] PhasePoint phase_point_of(const PhaseQuestion& question, std::uint64_t seed);

// ---- maps ---------------------------------------------------------------------------------------

/// Lists of n, d, rho and gamma, and of the other fields what a map has no place for left out.
[[nodiscard]] const std::vector<question::Field>& map_fields();

}  // namespace dewpoint::experiments
