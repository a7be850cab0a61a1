// LMDeploy with TurboMind, commit 1263d5cd. Files read:
//   lmdeploy/turbomind models, parse_rope_param: attention_factor as given, else the ratio where
//     both mscale keys are there (zero or not), else g(s, 1); frequencies extended by the maximum
//     over the original length, whatever factor says; longrope is refused
//   the same, make_mla_config: softmax scale times g(s, mscale_all_dim)²
//   turbomind/deploy qwen.py: seq_length is the length that log-n is 1 at
//   src/turbomind/kernels/attention/rotary_embedding.h: log2(len)/log2(n0) beyond n0
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::reading {
namespace {

double rotation_of(const RopeScaling& rope) {
  if (rope.kind != RopeKind::yarn) return 1.0;
  if (rope.attention_factor) return *rope.attention_factor;
  const bool both = rope.mscale && rope.mscale_all_dim;
  return both ? mscale_ratio(rope) : yarn_gain(rope.factor, 1.0);
}

}  // namespace

Reading read_as_lmdeploy(const Deployment& deployment) {
  const AttentionConfig& config = deployment.config;
  Reading reading;
  read_rotations(reading, config, rotation_of);
  reading.softmax = latent_softmax_gain(config);
  reading.positions = positions_of(config);
  reading.positions.ssmax.reset();
  std::optional<Schedule> log_n;
  log_n.swap(reading.positions.log_n);  // the one that was checked
  mark_unread(reading, config);
  log_n.swap(reading.positions.log_n);
  if (reading.positions.log_n) reading.positions.log_n->name = "lmdeploy";
  if (config.rope.kind == RopeKind::longrope)
    reading.unverified = "TurboMind refuses rope_type longrope";
  return reading;
}

}  // namespace dewpoint::scaling::reading
