// Examining claims: which rows, how thoroughly, and the certificate that they make together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/certificate.hpp"
#include "dewpoint/claims/claim.hpp"

namespace dewpoint::cli {

struct Examination {
  const std::vector<claims::Claim>& (*claims)() = claims::all_claims;
  std::string verb = "dewpoint verify";  // that examines these claims
  bool full = false;                     // longer contexts and more samples
  std::uint64_t seed = 1;
  int threads = 0;
};

using ClaimList = std::vector<const claims::Claim*>;

/// The claims with these ids, or all where there are none, in the order of the papers. Throws
/// Error{bad_value} on an id that no claim has, with the nearest.
[[nodiscard]] ClaimList chosen_claims(const Examination& examination,
                                      const std::vector<std::string>& only = {});

/// One row per claim, in their order; `finished` hears of each as it comes, one at a time. Throws
/// Error{stopped} when the user asks to stop.
[[nodiscard]] std::vector<Examined> examine(
    const Examination& examination, const ClaimList& wanted,
    const std::function<void(const Examined&)>& finished = {});

/// "quick" or "full".
[[nodiscard]] std::string effort_name(const Examination& examination);

/// {"experiment", "version", "commit", "seed", "effort", "rows"}.
[[nodiscard]] nlohmann::ordered_json certificate_json(const Examination& examination,
                                                      const std::vector<Examined>& rows);

/// One table, what was examined and how it came out.
[[nodiscard]] std::string certificate_markdown(const Examination& examination,
                                               const std::vector<Examined>& rows);

[[nodiscard]] bool any_fails(const std::vector<Examined>& rows);

}  // namespace dewpoint::cli
