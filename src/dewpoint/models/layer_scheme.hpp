// How a layer places its tokens and scales its scores, as Hugging Face's code does it.
//
// The numbers come from scaling/engine.hpp, which tells for each layer the multipliers of the
// rotary and of the other coordinates. They are applied where that code applies them:
//
//   a factor set once (YaRN, LongRoPE)     its root on cos and sin: queries and keys feel it alike
//   a factor by position (Llama 4, ...)    on the query
//   the base scale τ                       on the product ⟨q, k⟩
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dewpoint/attention/mask.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/models/rotation.hpp"
#include "dewpoint/scaling/engine.hpp"

namespace dewpoint::models {

struct LayerScheme {
  attention::Mask mask;
  Rotation rotation;          // no frequencies: none
  scaling::Schedules rotary;  // by position, of the query's rotary coordinates
  scaling::Schedules other;   // of the others
  double scale = 1.0;         // τ
  double softcap = 0.0;       // 0: none
};

/// The schemes of all layers for a text of n tokens; `rope`, where given, stands for the model's
/// own. Throws Error{bad_value} for a rotation that cannot be computed, or that the model, having
/// learned positions or none, does not use.
[[nodiscard]] std::vector<LayerScheme> layer_schemes(
    const checkpoint::ModelConfig& config, const std::optional<scaling::RopeScaling>& rope,
    std::size_t n);

/// What a query at a position is multiplied by, in its rotary and in its other coordinates.
struct QueryFactors {
  double rotary = 1.0;
  double other = 1.0;
};
[[nodiscard]] QueryFactors query_factors(const LayerScheme& scheme, std::size_t position);

}  // namespace dewpoint::models
