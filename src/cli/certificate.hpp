// Examined claims, for people (text, Markdown) and for programs (JSON).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/claims/claim.hpp"

namespace dewpoint::cli {

/// One row of a certificate.
struct Examined {
  const claims::Claim* claim;
  claims::Evidence evidence;
  double seconds;
  std::string command;  // that runs this row alone
};

/// How far a comparison is from failing: negative when it fails. For an equality the unused part of
/// what is allowed; for an inequality the distance to the bound, relative to the bound, at most 1.
[[nodiscard]] double margin(const claims::Comparison& comparison);

/// A claim that was not examined: what it says and where, in lines of at most 100 columns.
[[nodiscard]] std::string as_text(const claims::Claim& claim);

/// The row as indented lines of at most 100 columns; of several comparisons the one with the least
/// margin.
[[nodiscard]] std::string as_text(const Examined& row);

/// The rows as one table.
[[nodiscard]] std::string as_markdown(const std::vector<Examined>& rows);

/// Everything, every comparison included.
[[nodiscard]] nlohmann::ordered_json as_json(const Examined& row);

/// The row that as_json() wrote of this claim; none where the object is no such row, or where its
/// numbers (an infinity is no number of JSON) do not give the verdict that it states.
[[nodiscard]] std::optional<Examined> examined_from(const nlohmann::ordered_json& row,
                                                    const claims::Claim& claim);

/// "26 rows: 20 hold, 6 hold as corrected, 0 do not reproduce, 0 fail"
[[nodiscard]] std::string summary(const std::vector<Examined>& rows);

}  // namespace dewpoint::cli
