// What the verbs need to make a study: its beginning and whether it may be written (store), a
// number of theory as a cell.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/store/new_study.hpp"

namespace dewpoint::cli {

using store::begin_study;
using store::require_study_place;

/// A number of theory as a cell: without error, from no samples.
[[nodiscard]] inline Estimate exact_value(double value) { return {value, 0.0, 0}; }

}  // namespace dewpoint::cli
