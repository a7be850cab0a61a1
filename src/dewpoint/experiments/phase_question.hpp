// What can be asked of one layer: a point of the phase diagram, or a map of many.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/question/asked.hpp"

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

/// All cells at once. Where tokens come in clusters, ρ above rho-inner have no cells and are left
/// out. `rows` in the place of a file of tokens. Throws Error{bad_value} naming the field.
[[nodiscard]] PhaseMap phase_map_of(const question::Asked& asked, std::uint64_t seed,
                                    std::shared_ptr<const Matrix<double>> rows = nullptr);

}  // namespace dewpoint::experiments
