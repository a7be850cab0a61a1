// Megatron-LM, which trains, commit d98e8a64. Files read (below megatron/core):
//   models/common/embeddings/yarn_rotary_pos_embedding.py: g(s, mscale)/g(s, mscale_all_dim) with
//     the defaults 1 and 0; there is no key for attention_factor
//   transformer/multi_latent_attention.py: softmax scale g(s, mscale_all_dim)²/√d
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::reading {
namespace {

double rotation_of(const RopeScaling& rope, std::size_t max_positions) {
  if (rope.kind == RopeKind::yarn) return mscale_ratio(rope);
  return rope.kind == RopeKind::longrope ? longrope_factor(rope, max_positions) : 1.0;
}

}  // namespace

Reading read_as_megatron(const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  Reading reading;
  read_rotations(reading, config,
                 [&](const RopeScaling& rope) { return rotation_of(rope, config.max_positions); });
  reading.softmax = latent_softmax_gain(config);
  reading.positions = positions_of(config);
  reading.positions.ssmax.reset();
  mark_unread(reading, config);
  if (config.rope.kind == RopeKind::longrope) reading.unverified = "longrope not read there";
  return reading;
}

}  // namespace dewpoint::scaling::reading
