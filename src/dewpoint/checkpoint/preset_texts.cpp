#include "dewpoint/checkpoint/preset_texts.hpp"

#include <array>

namespace dewpoint::checkpoint {
namespace {

constexpr std::array kPresets{
    PresetText{"llama-2-7b", "Llama 2 7B, from its config.json", R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000,
  "max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "bos_token_id": 1, "eos_token_id": 2, "rope_scaling": null, "tie_word_embeddings": false
})"},
    PresetText{"llama-3.1-8b", "Llama 3.1 8B, from its config.json", R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
  "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "bos_token_id": 128000, "eos_token_id": 128001, "rope_theta": 500000.0,
  "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
  "tie_word_embeddings": false
})"},
    PresetText{"llama-4-scout",
               "Llama 4 Scout 17B-16E: sizes and temperature tuning are the defaults of "
               "Llama4TextConfig in transformers, length and rotation from its config.json",
               R"({
  "architectures": ["Llama4ForConditionalGeneration"], "model_type": "llama4",
  "text_config": {
    "model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192,
    "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
    "vocab_size": 202048, "max_position_embeddings": 10485760, "rms_norm_eps": 1e-05,
    "hidden_act": "silu", "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0,
      "high_freq_factor": 1.0, "original_max_position_embeddings": 8192},
    "no_rope_layers": [], "no_rope_layer_interval": 4, "attention_chunk_size": 8192,
    "attn_temperature_tuning": true, "floor_scale": 8192, "attn_scale": 0.1},
  "tie_word_embeddings": false
})"},
    PresetText{"mistral-7b-v0.3", "Mistral 7B v0.3, from its config.json", R"({
  "architectures": ["MistralForCausalLM"], "model_type": "mistral",
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32768,
  "max_position_embeddings": 32768, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "bos_token_id": 1, "eos_token_id": 2, "rope_theta": 1000000.0, "sliding_window": null,
  "tie_word_embeddings": false
})"},
    PresetText{"ministral-3-8b",
               "Ministral 3 8B: the defaults of Ministral3Config in transformers, which are this "
               "model's",
               R"({
  "architectures": ["Ministral3ForCausalLM"], "model_type": "ministral3",
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 34,
  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072,
  "max_position_embeddings": 262144, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "bos_token_id": 1, "eos_token_id": 2,
  "rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0,
    "original_max_position_embeddings": 16384, "beta_fast": 32.0, "beta_slow": 1.0,
    "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1},
  "sliding_window": null, "tie_word_embeddings": false
})"},
    PresetText{"qwen-7b",
               "Qwen 7B of the first generation, from its config.json (the later one, trained at "
               "8192 tokens)",
               R"({
  "architectures": ["QWenLMHeadModel"], "model_type": "qwen",
  "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
  "num_attention_heads": 32, "kv_channels": 128, "vocab_size": 151936,
  "max_position_embeddings": 32768, "layer_norm_epsilon": 1e-06, "no_bias": true,
  "rotary_emb_base": 10000, "rotary_pct": 1.0, "scale_attn_weights": true, "seq_length": 8192,
  "use_dynamic_ntk": true, "use_logn_attn": true, "tie_word_embeddings": false
})"},
    PresetText{"qwen2.5-7b", "Qwen2.5 7B Instruct, from its config.json", R"({
  "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
  "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
  "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
  "max_position_embeddings": 32768, "rms_norm_eps": 1e-06, "hidden_act": "silu",
  "bos_token_id": 151643, "eos_token_id": 151645, "rope_theta": 1000000.0,
  "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28,
  "tie_word_embeddings": false
})"},
    PresetText{"qwen2.5-7b-yarn",
               "Qwen2.5 7B Instruct with the YaRN block that its documentation adds for texts "
               "beyond 32768 tokens",
               R"({
  "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
  "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
  "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
  "max_position_embeddings": 32768, "rms_norm_eps": 1e-06, "hidden_act": "silu",
  "bos_token_id": 151643, "eos_token_id": 151645, "rope_theta": 1000000.0,
  "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
  "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28,
  "tie_word_embeddings": false
})"},
    PresetText{"qwen3-8b", "Qwen3 8B, from its config.json", R"({
  "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
  "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 151936,
  "max_position_embeddings": 40960, "rms_norm_eps": 1e-06, "hidden_act": "silu",
  "bos_token_id": 151643, "eos_token_id": 151645, "rope_theta": 1000000.0, "rope_scaling": null,
  "use_sliding_window": false, "sliding_window": null, "max_window_layers": 36,
  "attention_bias": false, "tie_word_embeddings": false
})"},
    PresetText{"deepseek-v2",
               "DeepSeek V2: sizes from its paper and published configurations, rotation from its "
               "config.json",
               R"({
  "architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2",
  "hidden_size": 5120, "intermediate_size": 12288, "num_hidden_layers": 60,
  "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 102400,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "max_position_embeddings": 163840, "rms_norm_eps": 1e-06,
  "hidden_act": "silu", "bos_token_id": 100000, "eos_token_id": 100001, "rope_theta": 10000,
  "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
    "beta_fast": 32, "beta_slow": 1, "mscale": 0.707, "mscale_all_dim": 0.707},
  "attention_bias": false, "tie_word_embeddings": false
})"},
    PresetText{"deepseek-v3", "DeepSeek V3, from its config.json", R"({
  "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3",
  "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
  "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "max_position_embeddings": 163840, "rms_norm_eps": 1e-06,
  "hidden_act": "silu", "bos_token_id": 0, "eos_token_id": 1, "rope_theta": 10000,
  "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
    "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0},
  "attention_bias": false, "tie_word_embeddings": false
})"},
    PresetText{"kimi-k2", "Kimi K2 Instruct, from its config.json", R"({
  "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2",
  "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
  "num_attention_heads": 64, "num_key_value_heads": 64, "vocab_size": 163840,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "max_position_embeddings": 131072, "rms_norm_eps": 1e-06,
  "rope_theta": 50000.0,
  "rope_scaling": {"type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096,
    "beta_fast": 1.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0},
  "tie_word_embeddings": false
})"},
    PresetText{"gemma-2-9b", "Gemma 2 9B, from its config.json", R"({
  "architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2",
  "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42,
  "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 256000,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-06, "hidden_activation": "gelu_pytorch_tanh",
  "bos_token_id": 2, "eos_token_id": 1, "rope_theta": 10000.0, "sliding_window": 4096,
  "query_pre_attn_scalar": 256, "attn_logit_softcapping": 50.0, "attention_bias": false
})"},
    PresetText{"gemma-3-12b", "Gemma 3 12B, from its config.json", R"({
  "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
  "bos_token_id": 2, "eos_token_id": [1, 106],
  "text_config": {
    "model_type": "gemma3_text", "hidden_size": 3840, "intermediate_size": 15360,
    "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
    "vocab_size": 262208, "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
    "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 256,
    "rope_theta": 1000000, "rope_local_base_freq": 10000,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    "sliding_window": 1024, "sliding_window_pattern": 6,
    "attn_logit_softcapping": null, "attention_bias": false}
})"},
    PresetText{"granite-3.3-8b", "Granite 3.3 8B Instruct, from its config.json", R"({
  "architectures": ["GraniteForCausalLM"], "model_type": "granite",
  "hidden_size": 4096, "intermediate_size": 12800, "num_hidden_layers": 40,
  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 49159,
  "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "bos_token_id": 0, "eos_token_id": 0, "rope_theta": 10000000.0, "rope_scaling": null,
  "attention_multiplier": 0.0078125, "attention_bias": false, "mlp_bias": false,
  "tie_word_embeddings": true
})"},
    PresetText{"gpt-oss-20b", "gpt-oss 20B, from its config.json", R"({
  "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss",
  "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 24,
  "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
  "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "eos_token_id": 200002, "rope_theta": 150000,
  "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096,
    "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false},
  "sliding_window": 128, "attention_bias": true, "tie_word_embeddings": false
})"},
    PresetText{"grok-2",
               "Grok 2: the keys of its own file as SGLang reads them; llama.cpp takes its "
               "rope_type 'original' for YaRN",
               R"({
  "architectures": ["Grok1ForCausalLM"], "model_type": "git",
  "hidden_size": 8192, "num_hidden_layers": 64, "num_attention_heads": 64,
  "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072,
  "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "attn_logit_softcapping": 30.0,
  "attn_temperature_len": 1024, "sliding_window_size": -1, "rope_theta": 208533496,
  "rope_type": "original", "original_max_position_embeddings": 8192, "scaling_factor": 16.0,
  "attn_factor": 1.0, "beta_fast": 8, "beta_slow": 1, "tie_word_embeddings": false
})"},
    PresetText{
        "laguna-xs.2",
        "Laguna XS.2: sizes are the defaults of LagunaConfig in transformers, the YaRN block "
        "with attention_factor 1 is the first published one (vLLM pull request 46280)",
        R"({
  "architectures": ["LagunaForCausalLM"], "model_type": "laguna",
  "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 40,
  "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 100352,
  "max_position_embeddings": 131072, "rms_norm_eps": 1e-06, "hidden_act": "silu",
  "rope_parameters": {
    "full_attention": {"rope_type": "yarn", "rope_theta": 500000.0, "factor": 64.0,
      "original_max_position_embeddings": 4096, "partial_rotary_factor": 0.5,
      "attention_factor": 1.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0,
      "partial_rotary_factor": 1.0}},
  "sliding_window": 512, "layer_types": [
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
    "full_attention", "sliding_attention", "sliding_attention", "sliding_attention"],
  "attention_bias": false, "tie_word_embeddings": false
})"},
    PresetText{"smollm3-3b", "SmolLM3 3B, from its config.json", R"({
  "architectures": ["SmolLM3ForCausalLM"], "model_type": "smollm3",
  "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
  "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 128256,
  "max_position_embeddings": 65536, "rms_norm_eps": 1e-06, "hidden_act": "silu",
  "bos_token_id": 128000, "eos_token_id": 128012, "rope_theta": 5000000.0,
  "no_rope_layer_interval": 4, "use_sliding_window": false, "sliding_window": null,
  "tie_word_embeddings": true
})"},
    PresetText{"smollm2-135m", "SmolLM2 135M, from its config.json", R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30,
  "num_attention_heads": 9, "num_key_value_heads": 3, "vocab_size": 49152,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "hidden_act": "silu",
  "bos_token_id": 0, "eos_token_id": 0, "rope_theta": 100000, "rope_scaling": null,
  "tie_word_embeddings": true
})"},
    PresetText{"gpt2",
               "GPT-2 of 124 million parameters: the defaults of GPT2Config in transformers",
               R"({
  "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024,
  "vocab_size": 50257, "layer_norm_epsilon": 1e-05, "activation_function": "gelu_new",
  "bos_token_id": 50256, "eos_token_id": 50256
})"},
};

}  // namespace

std::span<const PresetText> preset_texts() { return kPresets; }

}  // namespace dewpoint::checkpoint
