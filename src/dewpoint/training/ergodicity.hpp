// What the arrows of a chain decide, whatever their probabilities: whether every token is reached
// from every other one, and whether returns take multiples of some number of steps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::training {

/// Two tokens without a path.
struct Gap {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// The first gap that is found between token 0 and another one, in either direction; none when the
/// chain is irreducible.
[[nodiscard]] std::optional<Gap> find_gap(const Matrix<double>& transition);

/// The greatest common divisor of the lengths of all closed paths of an irreducible chain: 1 when
/// it is aperiodic.
///
/// With h(i) the length of some path from token 0 to token i, it is the greatest common divisor of
/// h(i) + 1 − h(j) over all arrows i → j.
[[nodiscard]] std::size_t period(const Matrix<double>& transition);

}  // namespace dewpoint::training
