// Score laws by name.
//
//     gaussian:sigma=1
//     sphere:d=5
//     vmf:d=5,kappa=5,angle=0.3
//     vmf:d=9,kappa=0,share=0.98+kappa=60,angle=0,share=0.02
//     subsphere:dim=2,ambient=16,angle=0.5
//     gaussian-keys:d=64,scaled=1
//     simplex:rho=0.5
//     clustered:inner=0.8,outer=0.2,size=16
//
// The syntax is that of law_text.hpp. key_law() in keys.hpp reads the same names where the keys
// are wanted as vectors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dewpoint/scores/law_text.hpp"
#include "dewpoint/scores/score_law.hpp"

namespace dewpoint::scores {

/// The law of a name with parameters. Throws bad_value: one line with the text, the key, the value
/// and what is allowed.
///
///   Properties  (1) score_law(law->name())->name() is law->name().
[[nodiscard]] std::unique_ptr<TopLaw> score_law(std::string_view name);

/// Every name with its keys, their standard values and a sentence, for help texts.
[[nodiscard]] const std::vector<LawForm>& score_law_names();

}  // namespace dewpoint::scores
