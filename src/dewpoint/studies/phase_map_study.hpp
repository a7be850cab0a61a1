// `dewpoint phase map` as a study: what the verb and the room run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/question/asked.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::studies {

/// The experiment "phase" over n, d, rho and gamma, in this order, whatever was asked of
/// experiments::map_fields(). d = 0 becomes the least dimension that serves every n and rho. Where
/// tokens come in clusters, ρ above rho-inner have no cells and are left out. `rows` in the place
/// of a file of tokens. Throws Error{bad_value} naming the field.
[[nodiscard]] StudyText phase_map_study(const question::Asked& asked, std::uint64_t seed,
                                        std::shared_ptr<const Matrix<double>> rows = nullptr);

/// Whether it asks for the Jacobian norm.
[[nodiscard]] bool measures_norm(const StudyText& map);
/// Floating-point operations of all its cells, with the fewest replicas.
[[nodiscard]] double work_of_map(const StudyText& map);

}  // namespace dewpoint::studies
