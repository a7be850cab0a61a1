// What experiments share when they read a point, and when they hand numbers back by name.
//
// Every error names the parameter as the study file does, its value and what is allowed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

// ---- points -----------------------------------------------------------------------------------

/// Throws Error{bad_value} "name: value is not <range>" unless `allowed`.
void require(bool allowed, const std::string& name, double value, const std::string& range);

/// A whole number of a point. Throws Error{bad_value} when it is not whole or not in [least, most].
[[nodiscard]] std::size_t whole_between(const Point& point, const std::string& name, double least,
                                        double most);

/// Throws Error{bad_value} where a point has two of these parameters, which say the same thing.
void require_one_of(const Point& given, const std::vector<std::string>& names);

// ---- numbers by name --------------------------------------------------------------------------

/// 0, 1, ..., count − 1.
[[nodiscard]] Dimension numbered_dimension(const std::string& name, std::size_t count);
/// 1, 2, ..., count.
[[nodiscard]] Dimension counted_dimension(const std::string& name, std::size_t count);

/// One number each.
[[nodiscard]] std::vector<Observable> scalars(const std::vector<std::string>& names);

/// The numbers of these names, NaN for those that are not known.
[[nodiscard]] std::vector<double> in_order(const std::vector<std::string>& names,
                                           const std::map<std::string, double>& known);

}  // namespace dewpoint::studies
