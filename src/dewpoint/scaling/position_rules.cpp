// Disagreements about schedules over positions: Llama 4, Ministral, log-n, Grok, SSMax.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "dewpoint/scaling/divergences.hpp"

namespace dewpoint::scaling::disagreement {
namespace {

bool is_llama4(const AttentionConfig& config) { return config.temperature_tuning.has_value(); }

bool has_nested_scaling(const AttentionConfig& config) {
  return config.rope.llama4_beta || (config.llama4_scaling && config.llama4_scaling->nested);
}

bool has_log_n(const AttentionConfig& config) { return config.use_logn_attn; }
bool has_grok(const AttentionConfig& config) {
  return config.attn_temperature_len ||
         (config.model_type.starts_with("grok") && config.gguf_temperature_length.has_value());
}
bool has_ssmax(const AttentionConfig& config) { return config.scaling_softmax_factor.has_value(); }

Comparison by_position(Engine suspect, Engine reference = Engine::hf) {
  return {suspect, reference, Part::by_position};
}

std::string grok_title(const AttentionConfig& config) {
  const double length =
      config.attn_temperature_len.value_or(config.gguf_temperature_length.value_or(0.0));
  return fmt::format("temperature_length = {:.10g} is loaded by llama.cpp and no graph uses it",
                     length);
}

std::string arange_title(const AttentionConfig& config) {
  return fmt::format("1 + {:g} log(1 + floor(p/{:g})) counts p in the batch, not by position_ids",
                     config.temperature_tuning->attn_scale, config.temperature_tuning->floor_scale);
}

std::string strength_title(const AttentionConfig& config) {
  return fmt::format(
      "s = {:g}: larger is sharper; gdevos010/Scalable-Softmax documents the reverse",
      *config.scaling_softmax_factor);
}

std::string additive_title(const AttentionConfig& config) {
  return fmt::format("s log n with s = {:g} multiplies; subtracted, as in Edifice, it cancels",
                     *config.scaling_softmax_factor);
}

std::string length_title(const AttentionConfig& config) {
  const double n = static_cast<double>(config.max_positions > 0 ? config.max_positions : 8192);
  const double s = *config.scaling_softmax_factor, b = config.scaling_softmax_bias;
  return fmt::format(
      "query 100 of {:.10g}: m = {:.4g} in axolotl, {:.4g} in gdevos010/Scalable-Softmax", n,
      s * std::log(100.0) + b, s * std::log(n) + b);
}

std::vector<Rule> llama4_rules() {
  return {
      {"vllm-llama-4-tuning-by-length",
       {Engine::vllm, Engine::hf},
       is_llama4,
       by_position(Engine::vllm),
       {},
       "vLLM ignores attn_temperature_tuning of config.json and switches the tuning on only where "
       "max_model_len is above 32768 (models/llama4.py). Say it in the generation config: "
       "--override-generation-config '{\"attn_temperature_tuning\": true}'."},
      {"llama-cpp-llama-4-hard-coded",
       {Engine::llama_cpp, Engine::hf},
       is_llama4,
       by_position(Engine::llama_cpp),
       {},
       "llama.cpp has 8192 and 0.1 in its source (models/llama4.cpp) and the tuning always on; "
       "floor_scale, attn_scale and attn_temperature_tuning of the model are not read. No flag "
       "changes it."},
      {"hf-llama-4-positions-from-arange",
       {Engine::hf},
       [](const AttentionConfig& config) {
         return is_llama4(config) && config.temperature_tuning->enabled;
       },
       std::nullopt,
       arange_title,
       "Hugging Face counts the positions of Llama 4's tuning from the start of the batch row and "
       "the length of the cache, not from position_ids (modeling_llama4.py), so padding on the "
       "left "
       "and packed documents shift it. Do not pack, and pad on the right."}};
}

std::vector<Rule> ministral_rules() {
  return {
      {"vllm-ignores-nested-llama-4-scaling",
       {Engine::vllm, Engine::hf},
       has_nested_scaling,
       by_position(Engine::vllm),
       {},
       "vLLM reads an object llama_4_scaling at the top level of the configuration "
       "(models/mistral.py) and not llama_4_scaling_beta inside rope_parameters, where Hugging "
       "Face "
       "has it. Add the object with --hf-overrides."},
      {"hf-ignores-top-level-llama-4-scaling",
       {Engine::hf, Engine::vllm},
       [](const AttentionConfig& config) {
         return config.llama4_scaling && !has_nested_scaling(config);
       },
       by_position(Engine::hf, Engine::vllm),
       {},
       "Mistral's own files have an object llama_4_scaling, which vLLM reads; Hugging Face reads "
       "rope_parameters.llama_4_scaling_beta only. Use the Hugging Face form of the "
       "configuration."},
      {"sglang-ministral-fixed-length",
       {Engine::sglang, Engine::hf},
       has_nested_scaling,
       by_position(Engine::sglang),
       {},
       "SGLang looks for the original length outside rope_parameters (models/ministral3.py), and "
       "takes 16384 where it is not there. Put original_max_position_embeddings at the top level "
       "too, with --json-model-override-args."},
      {"llama-cpp-mistral-4-drops-temperature",
       {Engine::llama_cpp, Engine::hf},
       [](const AttentionConfig& config) { return config.model_type == "mistral4"; },
       by_position(Engine::llama_cpp),
       {},
       "llama.cpp's converter writes no temperature keys for Mistral 4 from Hugging Face's files "
       "(conversion/mistral3.py), so that its logits do not grow with the position. Add them: "
       "--override-kv mistral4.attention.temperature_scale=float:x and "
       "mistral4.attention.temperature_length=int:n0."}};
}

std::vector<Rule> logarithm_rules() {
  const std::string log_n =
      "The first Qwen models multiply queries by log n/log seq_length beyond it; this engine has "
      "no "
      "code for use_logn_attn and says nothing. Long answers then run too hot. Serve with LMDeploy "
      "or the model's own code, or stay within seq_length.";
  return {
      {"logn-missing-in-vllm",
       {Engine::vllm, Engine::hf},
       has_log_n,
       by_position(Engine::vllm),
       {},
       log_n},
      {"logn-missing-in-sglang",
       {Engine::sglang, Engine::hf},
       has_log_n,
       by_position(Engine::sglang),
       {},
       log_n},
      {"logn-missing-in-llama-cpp",
       {Engine::llama_cpp, Engine::hf},
       has_log_n,
       by_position(Engine::llama_cpp),
       {},
       log_n},
      {"llama-cpp-grok-temperature-unused",
       {Engine::llama_cpp, Engine::sglang},
       has_grok,
       std::nullopt,
       grok_title,
       "llama.cpp stores attn_temperature_len as attention.temperature_length and loads it, but "
       "no graph applies it; SGLang does. Beyond that length the two run at different "
       "temperatures. No flag changes it."},
      {"vllm-grok-temperature-missing",
       {Engine::vllm, Engine::sglang},
       has_grok,
       by_position(Engine::vllm, Engine::sglang),
       {},
       "vLLM's Grok (models/grok1.py) does not read attn_temperature_len; SGLang's kernels do. "
       "Serve Grok with SGLang where contexts are longer than it."}};
}

std::vector<Rule> ssmax_rules() {
  const auto rule = [](const char* id, std::string (*title)(const AttentionConfig&),
                       const char* explanation) {
    return Rule{id, {Engine::hf}, has_ssmax, std::nullopt, title, explanation};
  };
  return {
      rule("ssmax-docstring-has-the-sign-reversed", strength_title,
           "Logits are multiplied by s log n + b, so a larger s sharpens. The documentation of the "
           "package gdevos010/Scalable-Softmax says the opposite; its code is right."),
      rule("ssmax-subtracted-cancels", additive_title,
           "The Elixir block Edifice.Blocks.SSMax documents s log n as subtracted from the logits. "
           "A softmax does not feel what is added to all its logits: such a model has no SSMax."),
      rule("ssmax-tensor-length", length_title,
           "n is the number of keys that a query sees. axolotl takes the position plus one, from "
           "each packed document on; gdevos010/Scalable-Softmax takes the length of the tensor, "
           "which is wrong under a causal mask. A model trained with the one must run with it."),
      Rule{"ssmax-not-served",
           {Engine::vllm, Engine::sglang, Engine::llama_cpp},
           has_ssmax,
           by_position(Engine::vllm),
           {},
           "No serving engine reads scaling_softmax_factor: a model trained with it runs at m = 1. "
           "Fold a constant s log n into the softmax scale for one length, or serve it with the "
           "code that trained it."}};
}

}  // namespace

std::vector<Rule> position_rules() {
  std::vector<Rule> all;
  for (auto* rules : {&llama4_rules, &ministral_rules, &logarithm_rules, &ssmax_rules})
    for (Rule& rule : rules()) all.push_back(std::move(rule));
  return all;
}

}  // namespace dewpoint::scaling::disagreement
