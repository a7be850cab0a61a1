// The parts of a config.json that are long enough for a file of their own; model_config.hpp says
// what becomes of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/checkpoint/config_reader.hpp"
#include "dewpoint/checkpoint/model_family.hpp"
#include "dewpoint/scaling/attention_config.hpp"

namespace dewpoint::checkpoint {

struct RopePair {
  scaling::RopeScaling full;
  std::optional<scaling::RopeScaling> local;  // of layers with a window, where it differs
};

/// Rotation in the spelling of transformers 4 (rope_scaling, rope_theta, rope_local_base_freq) or 5
/// (rope_parameters, flat or by type of layer), or flat as in Grok 2's own file.
///
///   Properties  (1) original_length is never 0: where no key gives it, it is max_positions.
[[nodiscard]] RopePair read_rope(const ConfigReader& config, const ModelFamily& family,
                                 std::size_t max_positions);

/// layer_types, rotates, sliding_window and attention_chunk of `attention`, whose number of layers
/// is set.
void read_layer_types(const ConfigReader& config, const ModelFamily& family,
                      scaling::AttentionConfig& attention);

/// The base scale, the softcap, and the schedules over positions; the rotation is set.
void read_logit_scale(const ConfigReader& config, const ModelFamily& family,
                      scaling::AttentionConfig& attention);

}  // namespace dewpoint::checkpoint
