// What numbers are called: the one table of axes, parameters and observables, docs/quantities.md.
//
// The page is a part of the program, so that tables, figures, exports and the documentation say the
// same of "contraction". The explorer reads the same page when it is built.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dewpoint {

struct Quantity {
  std::string name;        // in frames, studies and JSON: "contraction"
  std::string symbol;      // "λ"; empty: none
  std::string words;       // "contraction"
  std::string definition;  // "β / log n"; empty: none
  std::string unit;        // empty: a pure number
  std::string range;       // "[0, 1]"; empty: none that figures use
  std::string meaning;     // half a line

  [[nodiscard]] bool is_fraction() const { return range == "[0, 1]"; }
};

/// All of them, in the order of the page.
[[nodiscard]] const std::vector<Quantity>& quantities();
/// nullptr: the table does not have it, and it stands for itself.
[[nodiscard]] const Quantity* find_quantity(std::string_view name);

/// "contraction λ", "scale γ = β / log n", "entropy H (nats)": beside an axis. A name that is not
/// in the table stands for itself, with spaces for underscores; so do the names below.
[[nodiscard]] std::string label_of(std::string_view name);
/// "contraction λ": in a line of text.
[[nodiscard]] std::string title_of(std::string_view name);
/// "λ": in a legend; the title where there is no symbol.
[[nodiscard]] std::string symbol_of(std::string_view name);
/// Half a line; empty where the table does not have it.
[[nodiscard]] std::string meaning_of(std::string_view name);

}  // namespace dewpoint
