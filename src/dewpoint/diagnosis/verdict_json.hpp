// Verdicts as JSON: what --json prints and the explorer sends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "dewpoint/diagnosis/growth_law.hpp"
#include "dewpoint/diagnosis/head_diagnosis.hpp"

namespace dewpoint::diagnosis {

/// {"law", "reason", "fits": [..]}; the law may be "cannot tell".
[[nodiscard]] nlohmann::ordered_json to_json(const GrowthVerdict& verdict);

/// {"phase", "probability", "reason"}; the phase may be "cannot tell".
[[nodiscard]] nlohmann::ordered_json to_json(const PhaseVerdict& verdict);

/// {"layer", "head", "verdicts": {multiplier: ..}, "verdicts_without_sink", "growth_along_rows",
/// "growth_thinned", "warnings"}.
[[nodiscard]] nlohmann::ordered_json to_json(const HeadDiagnosis& head,
                                             const std::vector<std::string>& multipliers);

}  // namespace dewpoint::diagnosis
