// "Did you mean ...?": the known word that a mistyped one resembles.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint {

/// The candidate that differs from `word` by the fewest letters inserted, deleted, replaced or
/// swapped with their neighbour [Damerau 1964; no letter is touched twice], the first of equals.
/// None where more than two differ, or half of the longer word: it may mean anything. Upper and
/// lower case are the same.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word,
                                                      const std::vector<std::string>& candidates);

/// The end of a refusal: "; did you mean 'gamma'? Allowed: rho, gamma", or "; allowed: rho, gamma".
[[nodiscard]] std::string instead_of(std::string_view word,
                                     const std::vector<std::string>& candidates);

}  // namespace dewpoint
