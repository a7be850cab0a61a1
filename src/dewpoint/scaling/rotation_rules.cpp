// Disagreements about the factor that extends a rotation: YaRN, LongRoPE, DeepSeek's mscale.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "dewpoint/scaling/divergences.hpp"
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::disagreement {
namespace {

bool extends_by_yarn(const AttentionConfig& config) {
  return config.rope.kind == RopeKind::yarn && config.rope.factor > 1.0;
}

bool extends(const AttentionConfig& config) {
  return extends_by_yarn(config) || config.rope.kind == RopeKind::longrope;
}

bool asks_for_factor(const AttentionConfig& config) {
  return extends(config) && config.rope.attention_factor.has_value();
}

bool plain_mscale(const AttentionConfig& config) {
  return extends_by_yarn(config) && !config.latent_attention && !config.rope.attention_factor &&
         (config.rope.mscale || config.rope.mscale_all_dim);
}

bool is_ministral(const AttentionConfig& config) {
  return config.llama4_scaling || config.rope.llama4_beta;
}

// YaRN's factor as llama.cpp ends up with it, from the multiplier that it is the square of.
std::string overwritten_title(const AttentionConfig& config) {
  const reading::Reading reading = reading::read_as_llama_cpp({config, config.max_positions});
  return fmt::format("--yarn-attn-factor has no effect: llama.cpp turns with {:.5g}, m = {:.4g}",
                     reading.rotation, reading.rotation * reading.rotation);
}

std::string unread_title(const AttentionConfig& config) {
  const RopeScaling& rope = config.rope;
  const double asked = config.gguf_yarn_attn_factor.value_or(
      rope.attention_factor.value_or(rope.attn_factor.value_or(1.0)));
  return fmt::format("yarn_attn_factor = {:.5g} stands in the GGUF file and nothing reads it",
                     asked);
}

std::string two_meanings_title(const AttentionConfig& config) {
  const double all = config.rope.mscale_all_dim.value_or(
      config.gguf_yarn_log_multiplier.value_or(0.0) / (config.latent_attention ? 0.1 : 1.0));
  return fmt::format("mscale_all_dim = {:.4g} is yarn_log_multiplier {:.4g} here, {:.4g} in {}",
                     all, config.latent_attention ? 0.1 * all : all,
                     config.latent_attention ? all : 0.1 * all,
                     config.latent_attention ? "mistral3" : "deepseek2");
}

std::string laguna_title(const AttentionConfig& config) {
  return fmt::format("attn_factor = {:.5g} would give sglang the attention_factor {:.5g} elsewhere",
                     *config.rope.attention_factor / reading::yarn_gain(config.rope.factor, 1.0),
                     *config.rope.attention_factor);
}

std::string lens_title(const AttentionConfig& config) {
  const double factor = reading::yarn_gain(config.rope.factor, 1.0);
  return fmt::format("m = 1 in TransformerLens, {:.4g} in hf (rotary coordinates)",
                     factor * factor);
}

std::string short_text_title(const AttentionConfig& config) {
  const reading::Reading reading = reading::read_as_hf({config, config.max_positions});
  return fmt::format("m = {:.4g} also for texts within the {} tokens of training",
                     reading.rotation * reading.rotation,
                     original_length(config.rope, config.max_positions));
}

// Published with the extension that they were trained with, so that short texts had it too.
bool trained_extended(const AttentionConfig& config) {
  constexpr std::array<std::string_view, 6> kTypes = {"gpt_oss", "gpt-oss", "olmo3",
                                                      "laguna",  "phi3",    "phimoe"};
  return config.latent_attention || is_ministral(config) ||
         std::find(kTypes.begin(), kTypes.end(), config.model_type) != kTypes.end();
}

bool changes_short_text(const AttentionConfig& config) {
  return extends(config) && !trained_extended(config) &&
         reading::read_as_hf({config, config.max_positions}).rotation != 1.0;
}

std::vector<Rule> rules_of_vllm() {
  return {
      {"vllm-drops-attention-factor",
       {Engine::vllm, Engine::hf},
       asks_for_factor,
       Comparison{Engine::vllm, Engine::hf, Part::set_once},
       {},
       "vLLM passes a rotation only the keys it lists (rotary_embedding/__init__.py), and "
       "attention_factor is not among them; it computes the factor again from the extension. "
       "mlx-lm does the same. Pass attn_factor = attention_factor/(1 + 0.1 log s) with "
       "--hf-overrides: vLLM multiplies by it."},
      {"vllm-attn-factor-multiplies",
       {Engine::vllm, Engine::hf},
       [](const AttentionConfig& config) {
         return extends_by_yarn(config) && config.rope.attn_factor.has_value();
       },
       Comparison{Engine::vllm, Engine::hf, Part::set_once},
       {},
       "attn_factor is no other name of attention_factor: vLLM and SGLang multiply their own "
       "1 + 0.1 log s by it (yarn_scaling_rope.py), Hugging Face does not read it. Divide the "
       "factor you want by 1 + 0.1 log s before you give it to vLLM."},
      {"vllm-ignores-mscale",
       {Engine::vllm, Engine::hf},
       plain_mscale,
       Comparison{Engine::vllm, Engine::hf, Part::set_once},
       {},
       "For plain YaRN vLLM ignores mscale and mscale_all_dim; it reads them for latent attention "
       "only. Hugging Face divides one gain by the other where both are given. Pass attn_factor "
       "with --hf-overrides to undo vLLM's 1 + 0.1 log s."},
      {"mscale-without-its-partner",
       {Engine::vllm, Engine::hf},
       [](const AttentionConfig& config) {
         return extends_by_yarn(config) && config.latent_attention &&
                config.rope.mscale.has_value() != config.rope.mscale_all_dim.has_value();
       },
       Comparison{Engine::vllm, Engine::hf, Part::set_once},
       {},
       "Hugging Face uses mscale and mscale_all_dim for cos and sin only if both are given and not "
       "zero; DeepSeek's own code, vLLM and SGLang take 1 and 0 for what is absent. Give both."}};
}

std::vector<Rule> rules_of_sglang() {
  return {
      {"sglang-drops-attention-factor",
       {Engine::sglang, Engine::hf},
       asks_for_factor,
       Comparison{Engine::sglang, Engine::hf, Part::set_once},
       {},
       "SGLang's rotations take attn_factor, a multiplier on top of 1 + 0.1 log s, and not "
       "attention_factor (rotary_embedding/factory.py). Pass attn_factor = attention_factor/(1 + "
       "0.1 log s) with --json-model-override-args."},
      {"sglang-laguna-divides-out",
       {Engine::sglang},
       [](const AttentionConfig& config) {
         return extends_by_yarn(config) && config.model_type == "laguna" &&
                config.rope.attention_factor.has_value();
       },
       std::nullopt,
       laguna_title,
       "SGLang honours attention_factor for this one model: its configuration class divides "
       "1 + 0.1 log s out first (configs/laguna.py). A derived model under another model_type "
       "loses that and must pass attn_factor itself."},
      {"megatron-has-no-attention-factor",
       {Engine::megatron, Engine::hf},
       asks_for_factor,
       Comparison{Engine::megatron, Engine::hf, Part::set_once},
       {},
       "Megatron-LM computes YaRN's factor from yarn_mscale and yarn_mscale_all_dim alone. Choose "
       "yarn_mscale = (attention_factor - 1)/(0.1 log s) with yarn_mscale_all_dim = 0, or train "
       "and serve at different temperatures."}};
}

std::vector<Rule> rules_of_llama_cpp() {
  return {
      {"llama-cpp-overwrites-yarn-attn-factor",
       {Engine::llama_cpp},
       extends_by_yarn,
       std::nullopt,
       overwritten_title,
       "llama.cpp reads --yarn-attn-factor and replaces it whenever YaRN is on "
       "(llama-context.cpp). What still multiplies is the metadata key rope.scaling.attn_factor: "
       "--override-kv <arch>.rope.scaling.attn_factor=float:x."},
      {"llama-cpp-drops-attention-factor",
       {Engine::llama_cpp, Engine::hf},
       asks_for_factor,
       Comparison{Engine::llama_cpp, Engine::hf, Part::set_once},
       {},
       "The factor that the configuration asks for does not survive the conversion to GGUF: it is "
       "stored under a key that is not read, and computed again from the extension. Use "
       "--override-kv <arch>.rope.scaling.attn_factor=float:x to correct it."},
      {"llama-cpp-converter-writes-unread-key",
       {Engine::llama_cpp},
       [](const AttentionConfig& config) {
         const bool written = config.gguf_yarn_attn_factor || config.rope.attention_factor ||
                              config.rope.attn_factor;
         return extends_by_yarn(config) && written && !config.model_type.starts_with("grok");
       },
       std::nullopt,
       unread_title,
       "The converter writes rope.scaling.yarn_attn_factor from attention_factor or attn_factor "
       "(conversion/base.py); only the Grok loader reads it back. The similar key "
       "rope.scaling.attn_factor is the one that counts."},
      {"llama-cpp-ignores-mscale",
       {Engine::llama_cpp, Engine::hf},
       [](const AttentionConfig& config) {
         return extends_by_yarn(config) && config.rope.mscale && !config.rope.attention_factor;
       },
       Comparison{Engine::llama_cpp, Engine::hf, Part::set_once},
       {},
       "llama.cpp does not store mscale: it takes 1, or mscale_all_dim for deepseek2, and outside "
       "deepseek2 and mistral3 the converter drops mscale_all_dim too. Correct it with "
       "--override-kv <arch>.rope.scaling.attn_factor=float:x."},
      {"llama-cpp-yarn-log-multiplier-two-meanings",
       {Engine::llama_cpp},
       [](const AttentionConfig& config) {
         return extends_by_yarn(config) &&
                (config.gguf_yarn_log_multiplier ||
                 (config.rope.mscale_all_dim && (config.latent_attention || is_ministral(config))));
       },
       std::nullopt,
       two_meanings_title,
       "rope.scaling.yarn_log_multiplier is mscale_all_dim for mistral3 and a tenth of it for "
       "deepseek2 ([TAG_DEEPSEEK2_YARN_LOG_MUL_FIX] in llama.cpp). Whoever writes or edits GGUF "
       "metadata by hand must know which."}};
}

std::vector<Rule> other_rules() {
  return {
      {"lmdeploy-refuses-longrope",
       {Engine::lmdeploy},
       [](const AttentionConfig& config) { return config.rope.kind == RopeKind::longrope; },
       std::nullopt,
       [](const AttentionConfig&) {
         return std::string("rope_type longrope is an error in TurboMind");
       },
       "TurboMind knows default, linear, dynamic, yarn and llama3 (and mrope). Serve the model "
       "with another backend."},
      {"transformerlens-yarn-defaults-to-one",
       {Engine::hf},
       [](const AttentionConfig& config) {
         return extends_by_yarn(config) && config.model_type.starts_with("olmo3") &&
                !config.rope.attention_factor;
       },
       std::nullopt,
       lens_title,
       "TransformerLens takes attention_factor as 1 where the key is absent "
       "(loading_from_pretrained.py), Hugging Face as 1 + 0.1 log s. Statistics of heads measured "
       "with the one do not describe the other: set the key."},
      {"static-factor-on-short-text",
       {Engine::hf, Engine::vllm, Engine::sglang, Engine::llama_cpp},
       changes_short_text,
       std::nullopt,
       short_text_title,
       "The factor is set once for the longest context and multiplies the logits of short texts "
       "too; users measured losses on them. If you added the extension yourself, serve short texts "
       "without it, or choose the factor for the length you really use. If the model was trained "
       "with it, leave it."}};
}

}  // namespace

std::vector<Rule> rotation_rules() {
  std::vector<Rule> all;
  for (auto* rules : {&rules_of_vllm, &rules_of_sglang, &rules_of_llama_cpp, &other_rules})
    for (Rule& rule : rules()) all.push_back(std::move(rule));
  return all;
}

}  // namespace dewpoint::scaling::disagreement
