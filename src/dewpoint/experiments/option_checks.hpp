// What several questions check in the same words.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "dewpoint/training/trainer.hpp"

namespace dewpoint::experiments {

/// Throws Error{bad_value} "option: value is not <range>" unless `allowed`.
void require_option(bool allowed, const char* option, double value, const std::string& range);

/// A count that may be written as 2e5. Throws Error{bad_value} naming the field.
[[nodiscard]] std::size_t whole_number(const char* field, double value, double least, double most);

/// A number of keys that may be huge, rounded to a whole one as far as doubles tell them apart, so
/// that logarithmic grids and refinements may ask for it.
///   Properties  (1) whole_length(whole_length(n)) = whole_length(n).
[[nodiscard]] double whole_length(double n);

/// Throws Error{bad_value} naming the option (rate, beta1, beta2, eps), its value and what is
/// allowed.
void check_adam(const training::AdamOptions& adam);

}  // namespace dewpoint::experiments
