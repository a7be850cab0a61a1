// What each serving engine makes of a model's configuration: the multiplier of the logits that it
// really applies, per type of layer, and where engines disagree.
//
//     s_ij = m(i) τ ⟨q_i, k_j⟩
//
// A factor on cos and sin turns queries and keys alike, so m is its square, and only rotary
// coordinates feel it; a factor on the softmax scale or on the queries is m itself, for all
// coordinates. So a layer has two multipliers, for its rotary and its other coordinates.
//
// Engines as of August 2026; engine_<name>.cpp names the files that its rules were read in, and the
// commit. What an engine does with a model that was not read there is not answered: `unverified`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/scaling/attention_config.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::scaling {

enum class Engine { hf, vllm, sglang, llama_cpp, megatron, lmdeploy };

[[nodiscard]] const std::vector<Engine>& engines();
/// "hf", "vllm", "sglang", "llama.cpp", "megatron", "lmdeploy".
[[nodiscard]] const char* name_of(Engine engine);
/// Throws Error{bad_value} for a name that there is not.
[[nodiscard]] Engine parse_engine(const std::string& name);

/// Layers that scale their logits alike.
struct LayerScale {
  std::string type;                 // "full attention", "sliding window", "no rotation", or the
                                    // configuration's own word ("chunked attention")
  std::vector<std::size_t> layers;  // which
  double base_scale = 1.0;          // τ
  Schedules rotary;                 // of the rotary coordinates; m = 1 when empty
  Schedules other;                  // of the coordinates that are not rotated
  bool has_rotary = true;           // whether a layer has coordinates of either sort
  bool has_other = false;
  std::size_t most_keys = 0;  // that a query sees: the window or the chunk; 0: all
  std::optional<double> softcap;
};

struct EngineScale {
  Engine engine;
  std::vector<LayerScale> layers;
  std::vector<std::string> notes;  // what the engine needs to be told, or does not know
  std::string unverified = {};     // why the numbers above are a guess, not to be shown; else empty
};

/// `deployed_length` is the longest context served (some engines switch on it); 0: the model's own
/// maximum.
///
///   Domain      head_dimension > 0; Error{bad_value} otherwise, or for a rotation that lacks its
///               original length. A configuration without layers counts as one layer.
///   Properties  (1) every layer is in exactly one group, but for layers without a softmax, which
///                   are in none.
///               (2) factors set once for a deployment are the schedules with static_factor.
///               (3) without a rotation, schedules or keys of its own, every engine has m = 1 and
///                   τ = head_dimension^{−1/2}.
[[nodiscard]] EngineScale engine_scale(const AttentionConfig& config, Engine engine,
                                       std::size_t deployed_length = 0);

/// One way in which engines disagree about a configuration.
struct Divergence {
  std::string id;  // stable: "vllm-drops-attention-factor"
  std::vector<Engine> engines;
  std::string title;        // one line, with the numbers of this model
  std::string explanation;  // why, where in the code, what to do
};

/// Those that concern this configuration, in a fixed order.
///
///   Properties  (1) one about a multiplier is there only if engine_scale of its two engines
///                   differs by more than 1e-6 and was verified for both, and its title gives
///                   both numbers.
///               (2) a configuration without a rotation, schedules or keys of its own has none.
[[nodiscard]] std::vector<Divergence> divergences(const AttentionConfig& config,
                                                  std::size_t deployed_length = 0);

/// All that are known, whatever the model: for the documentation.
struct KnownDivergence {
  std::string id;
  std::string explanation;
};
[[nodiscard]] const std::vector<KnownDivergence>& known_divergences();

}  // namespace dewpoint::scaling
