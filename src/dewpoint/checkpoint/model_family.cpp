#include "dewpoint/checkpoint/model_family.hpp"

#include <algorithm>
#include <array>

namespace dewpoint::checkpoint {
namespace {

constexpr ModelFamily kGemma3{.model_type = "gemma3_text",
                              .tied = true,
                              .query_key_norm = true,
                              .heads = 8,
                              .key_heads = 4,
                              .head_dimension = 256,
                              .max_positions = 131072,
                              .window = 4096,
                              .window_pattern = 6,
                              .base = 1e6,
                              .local_base = 1e4,
                              .activation = "gelu_pytorch_tanh",
                              .query_scalar = 256.0};

constexpr ModelFamily kLlama4{.model_type = "llama4_text",
                              .temperature_tuning = true,
                              .chunked = true,
                              .heads = 40,
                              .key_heads = 8,
                              .head_dimension = 128,
                              .max_positions = 131072,
                              .chunk = 8192,
                              .no_rope_interval = 4,
                              .base = 500000.0,
                              .norm_epsilon = 1e-5};

constexpr std::array kFamilies{
    ModelFamily{.model_type = "llama", .ignores_window = true},
    ModelFamily{.model_type = "mistral"},
    ModelFamily{.model_type = "mixtral", .base = 1e6, .norm_epsilon = 1e-5},
    ModelFamily{.model_type = "ministral"},
    ModelFamily{.model_type = "ministral3", .head_dimension = 128, .norm_epsilon = 1e-5},
    ModelFamily{.model_type = "mistral4"},
    ModelFamily{.model_type = "qwen", .always_biased = true},
    ModelFamily{.model_type = "qwen2", .always_biased = true, .windows_by_switch = true},
    ModelFamily{.model_type = "qwen2_moe", .always_biased = true, .windows_by_switch = true},
    ModelFamily{.model_type = "qwen3",
                .query_key_norm = true,
                .windows_by_switch = true,
                .head_dimension = 128},
    ModelFamily{.model_type = "qwen3_moe", .query_key_norm = true, .windows_by_switch = true},
    ModelFamily{.model_type = "smollm3",
                .tied = true,
                .windows_by_switch = true,
                .windows_without_rope = true,
                .no_rope_interval = 4,
                .base = 2e6},
    ModelFamily{.model_type = "granite"},
    ModelFamily{.model_type = "phi3", .norm_epsilon = 1e-5},
    ModelFamily{.model_type = "phimoe", .base = 1e6, .norm_epsilon = 1e-5},
    ModelFamily{.model_type = "olmo3",
                .local_unscaled = true,
                .window = 4096,
                .window_pattern = 4,
                .base = 500000.0,
                .norm_epsilon = 1e-5},
    ModelFamily{.model_type = "qwen3_next",
                .query_key_norm = true,
                .head_dimension = 256,
                .linear_pattern = 4,
                .rotary_share = 0.25},
    ModelFamily{.model_type = "deepseek_v2"},
    ModelFamily{.model_type = "deepseek_v3"},
    ModelFamily{.model_type = "kimi_k2"},
    ModelFamily{.model_type = "laguna", .query_key_norm = true, .head_dimension = 128},
    ModelFamily{.model_type = "inkling_text",
                .query_key_norm = true,
                .rotates = false,
                .inverse_dimension = true,
                .head_dimension = 128},
    ModelFamily{.model_type = "git", .activation = "gelu"},  // Grok 2, by the name in its own file
    ModelFamily{.model_type = "gpt_oss",
                .attention_bias = true,
                .learned_sinks = true,
                .head_dimension = 64,
                .window = 128,
                .window_pattern = 2,
                .base = 150000.0,
                .norm_epsilon = 1e-5},
    ModelFamily{.model_type = "gemma",
                .tied = true,
                .head_dimension = 256,
                .activation = "gelu_pytorch_tanh"},
    ModelFamily{.model_type = "gemma2",
                .tied = true,
                .head_dimension = 256,
                .window = 4096,
                .window_pattern = 2,
                .activation = "gelu_pytorch_tanh",
                .query_scalar = 256.0,
                .softcap = 50.0},
    kGemma3,
    ModelFamily{.model_type = "gemma3n_text",
                .tied = true,
                .query_key_norm = true,
                .heads = 8,
                .key_heads = 2,
                .head_dimension = 256,
                .max_positions = 32768,
                .window = 512,
                .window_pattern = 5,
                .base = 1e6,
                .local_base = 1e4,
                .activation = "gelu_pytorch_tanh",
                .built_in_scale = 1.0},
    kLlama4,
    ModelFamily{.model_type = "gpt2",
                .tied = true,
                .always_biased = true,
                .mlp_bias = true,
                .rotates = false,
                .norm_epsilon = 1e-5,
                .activation = "gelu_new"},
    ModelFamily{
        .model_type = "dewpoint", .rotates = false, .attention_only = true, .score_scale = 1.0},
};

constexpr ModelFamily kOther{.model_type = "", .tied = true};

// transformers d56c55bf, models/<name>/modeling_<name>.py: self.scaling = self.head_dim**-0.5 (for
// latent attention yarn_apply_mscale, for Granite attention_multiplier), rotations of
// modeling_rope_utils.py, nothing else on the scores.
constexpr std::array<std::string_view, 18> kLikeLlama = {
    "apertus",   "arcee",         "cohere",          "deepseek_v32",  "ernie4_5", "ernie4_5_moe",
    "flex_olmo", "glm4_moe_lite", "glm_moe_dsa",     "granitemoe",    "helium",   "olmo",
    "olmo2",     "olmoe",         "qwen2_5_vl_text", "qwen3_vl_text", "seed_oss", "starcoder2"};

}  // namespace

const ModelFamily& model_family(std::string_view model_type) {
  const auto it = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const ModelFamily& family) {
    return family.model_type == model_type;
  });
  return it == kFamilies.end() ? kOther : *it;
}

bool is_known_family(std::string_view model_type) {
  return model_family(model_type).model_type == model_type ||
         std::find(kLikeLlama.begin(), kLikeLlama.end(), model_type) != kLikeLlama.end();
}

}  // namespace dewpoint::checkpoint
