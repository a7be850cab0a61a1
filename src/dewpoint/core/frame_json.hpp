// Frames as JSON: what --json prints and the explorer sends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dewpoint/core/frame.hpp"

namespace dewpoint {

/// {"mean": 0.41, "standard_error": 0.01, "samples": 16}; null for what is unknown.
[[nodiscard]] nlohmann::ordered_json to_json(const Estimate& estimate);

/// {"name", "dimensions": {name: [coordinates or labels]}, "variables": {name: {"dimensions": [..],
/// "mean": nested arrays, "standard_error": nested arrays, "samples": nested arrays}}}.
[[nodiscard]] nlohmann::ordered_json to_json(const Frame& frame);

/// The frame that to_json wrote; null is NaN.
///
///   Domain      an object of to_json, whole or read from its text.
///   Properties  (1) frame_from_json(to_json(frame)) has the same bytes; from the text, infinities
///                   become NaN.
[[nodiscard]] Frame frame_from_json(const nlohmann::ordered_json& json);

}  // namespace dewpoint
