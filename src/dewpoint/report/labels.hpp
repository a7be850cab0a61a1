// How figures name what a study holds: "contraction" is the contraction λ.
//
// One table of all known axes and observables, with the symbols of docs/notation.md. A name that is
// not in it stands for itself, with spaces for underscores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::report {

/// Beside an axis or a colour bar: "contraction λ".
[[nodiscard]] std::string long_label(std::string_view name);

/// In a legend or a title: "λ"; the long label where there is no symbol.
[[nodiscard]] std::string short_label(std::string_view name);

/// "n = 10⁶", "ρ = 0.5".
[[nodiscard]] std::string value_label(std::string_view name, double value);

/// A fraction or a weight: its colours run from 0 to 1 in every figure.
[[nodiscard]] bool is_fraction(std::string_view name);

}  // namespace dewpoint::report
