// What a study file says about the parameters of its experiment: fixed values and axes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/studies/study_field.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::studies {

/// The parameter that an entry of [parameters] or [grid] means: its name, or what it stands for in
/// the unit that is given.
[[nodiscard]] const Field& parameter_of(const StudyField& entry, const Experiment& experiment);

/// `n = 4` or `gamma = { value = 2, unit = "critical" }`.
[[nodiscard]] Value read_value(const StudyField& entry, const Field& parameter);

/// A list, a single value, { from, to, count, scale, unit } or { values, scale, unit }.
[[nodiscard]] GridAxis read_axis(const StudyField& entry, const Field& parameter);

}  // namespace dewpoint::studies
