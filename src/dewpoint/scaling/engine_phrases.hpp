// Inside engine_syntax.cpp: how each engine is told.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "dewpoint/scaling/engine_syntax.hpp"

namespace dewpoint::scaling::phrases {

using Json = nlohmann::ordered_json;

/// A factor for one deployment: which multiplier, and the rotation that carries it.
struct Plan {
  double multiplier = 1.0;
  double extension = 1.0;     // s of the rotation as deployed
  RopeScaling rope;           // as deployed, without any key for a factor
  bool new_rotation = false;  // the model's own rotation has no room for a factor
  double mscale = 0.0;        // g(s, mscale)² = m; for latent attention
  bool has_mscale = false;    // there is such a number: s > 1
};
[[nodiscard]] Plan plan_of(const AttentionConfig& config, const ExportRequest& request);

/// Hugging Face, LMDeploy: attention_factor is used as it is.
void say_verbatim(EngineExport& result, const AttentionConfig& config, const Plan& plan);
/// vLLM, SGLang: attn_factor is used on top of 1 + 0.1 log s.
void say_on_top(EngineExport& result, const AttentionConfig& config, const Plan& plan);
void say_llama_cpp(EngineExport& result, const AttentionConfig& config, const Plan& plan);
void say_megatron(EngineExport& result, const AttentionConfig& config, const Plan& plan);

/// Granite and Gemma: the base scale itself is a key; none for other models.
[[nodiscard]] std::optional<EngineExport> base_scale_export(const AttentionConfig& config,
                                                            Engine engine,
                                                            const ExportRequest& request);

/// What keeps a factor from being the whole story.
void warn_of_partial_rotation(EngineExport& result, const AttentionConfig& config);
void warn_of_positions(EngineExport& result, const AttentionConfig& config);

/// A schedule over positions in keys that this model and engine read; none where there are none.
[[nodiscard]] std::optional<EngineExport> positional_export(const AttentionConfig& config,
                                                            Engine engine,
                                                            const ExportRequest& request);
[[nodiscard]] Json llama4_keys(const Schedule& schedule);
/// Whether steps at whole multiples of n0, counted from `offset`, are this schedule.
void judge_steps(EngineExport& result, const Schedule& schedule, double offset);

/// Keys on the command line of vLLM or SGLang, or as they stand in config.json.
[[nodiscard]] std::string in_words_of(Engine engine, const Json& keys);
/// Keys of a rotation as in rope_parameters, without those that make a factor.
[[nodiscard]] Json rope_json(const RopeScaling& rope);
/// {"rope_parameters": …}, per type of layer where the model has two rotations.
[[nodiscard]] Json rope_parameters(const AttentionConfig& config, const Json& rope,
                                   const char* key);
/// Rounded to kExportDigits decimals.
[[nodiscard]] double rounded(double value);
/// The architecture's name in GGUF files, as far as it is known here.
[[nodiscard]] std::string gguf_architecture(const AttentionConfig& config);

}  // namespace dewpoint::scaling::phrases
