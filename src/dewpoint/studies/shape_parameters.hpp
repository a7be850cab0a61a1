// The small transformer of a training experiment, as parameters of a study: width, layers, heads,
// residual, branch, value, norm, causal and start.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::studies {

/// With the defaults of `standard`.
[[nodiscard]] std::vector<Field> shape_parameters(const transformer::Shape& standard);

/// The shape of a point; its vocabulary is 0. Throws Error{bad_value} naming the parameter.
[[nodiscard]] transformer::Shape shape_at(const Point& point);

/// Deviation of the initial weights: start/width. Throws Error{bad_value} unless start is above 0.
[[nodiscard]] double deviation_at(const Point& point);

}  // namespace dewpoint::studies
