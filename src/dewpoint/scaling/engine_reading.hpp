// Inside engine_*.cpp: what one engine reads out of a configuration, before it is laid out by
// layers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/scaling/engine.hpp"

namespace dewpoint::scaling::reading {

/// A model with the length it is served at, which some engines switch on.
struct Deployment {
  const AttentionConfig& config;
  std::size_t length;
};

/// Schedules over positions, by who invented them. An engine that does not know one clears it.
struct PositionSchedules {
  std::optional<Schedule> llama4;     // layers without rotation
  std::optional<Schedule> ministral;  // layers that see everything
  std::optional<Schedule> inkling;    // the same
  std::optional<Schedule> log_n;      // all layers, as the next two
  std::optional<Schedule> grok;
  std::optional<Schedule> ssmax;
};

struct Reading {
  double rotation = 1.0;             // on cos and sin, layers that see everything
  double local_rotation = 1.0;       // on cos and sin, sliding windows
  double softmax = 1.0;              // on all logits
  std::optional<double> base_scale;  // τ, where the engine has its own
  PositionSchedules positions;
  std::vector<std::string> notes;
  std::string unverified;  // what of this model was not read in the engine; empty: nothing
};

[[nodiscard]] Reading read_as_hf(const Deployment& deployment);
[[nodiscard]] Reading read_as_vllm(const Deployment& deployment);
[[nodiscard]] Reading read_as_sglang(const Deployment& deployment);
[[nodiscard]] Reading read_as_llama_cpp(const Deployment& deployment);
[[nodiscard]] Reading read_as_megatron(const Deployment& deployment);
[[nodiscard]] Reading read_as_lmdeploy(const Deployment& deployment);

/// g(s, k) = 1 + 0.1 k log s, 1 for s ≤ 1: YaRN's factor for an extension by s.
[[nodiscard]] double yarn_gain(double extension, double weight);

/// g(s, mscale)/g(s, mscale_all_dim) with 1 and 0 for absent keys: DeepSeek's form of it.
[[nodiscard]] double mscale_ratio(const RopeScaling& rope);

/// The same only where both keys are given and not zero, g(s, 1) otherwise: Hugging Face's form.
[[nodiscard]] double mscale_ratio_if_both(const RopeScaling& rope);

/// √(1 + log s/log n0), s being the maximum over the original length: LongRoPE's factor.
[[nodiscard]] double longrope_factor(const RopeScaling& rope, std::size_t max_positions);

/// The same for an extension s that somebody else decides.
[[nodiscard]] double longrope_gain(const RopeScaling& rope, double extension,
                                   std::size_t max_positions);

/// longrope_factor, or short_mscale and long_mscale by the length served, as vLLM and SGLang have
/// it.
[[nodiscard]] double longrope_factor_or_mscale(const RopeScaling& rope,
                                               const Deployment& deployment);

/// g(s, mscale_all_dim)² for latent attention with a rotation that is extended, 1 otherwise.
[[nodiscard]] double latent_softmax_gain(const AttentionConfig& config);

/// A factor by the rope of either sort of layer.
template <class Factor>
void read_rotations(Reading& reading, const AttentionConfig& config, const Factor& factor) {
  reading.rotation = factor(config.rope);
  reading.local_rotation = config.local_rope ? factor(*config.local_rope) : reading.rotation;
}

/// All schedules that the configuration asks for, as their models define them.
[[nodiscard]] PositionSchedules positions_of(const AttentionConfig& config);

[[nodiscard]] Schedule ministral_schedule(double beta, double n0);

/// Mistral's models: vLLM and others prefer a params.json, which is not read here.
[[nodiscard]] bool is_mistral4(const AttentionConfig& config);

/// Marks what of the model nobody has read in this engine: its schedules over positions, and a base
/// scale that is in the model's code.
void mark_unread(Reading& reading, const AttentionConfig& config);

}  // namespace dewpoint::scaling::reading
