// What a configuration says about attention: which layers see what, which rotate, and every key
// that changes the size of logits.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint/config_texts.hpp"
#include "dewpoint/checkpoint/model_config.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::RopeKind;
using test::parse_config;
using test::small_config;

// --- which layers see what -----------------------------------------------------------------------

std::string pattern(const ModelConfig& config) {
  std::string letters;
  for (const std::string& type : config.attention.layer_types) letters += type.front();
  return letters;
}

TEST(HuggingFaceConfig, LaysOutWindowsAsTheFamilyDoes) {
  EXPECT_EQ(pattern(parse_config(small_config("gemma2"))), "sfsf");
  EXPECT_EQ(pattern(parse_config(small_config("gpt_oss"))), "sfsf");
  EXPECT_EQ(pattern(parse_config(small_config("gemma3_text"))), "ssss");
  EXPECT_EQ(pattern(parse_config(small_config("gemma3_text", R"("_sliding_window_pattern": 3)"))),
            "ssfs");
  EXPECT_EQ(pattern(parse_config(small_config("mistral", R"("sliding_window": 4096)"))), "ssss");
  EXPECT_EQ(pattern(parse_config(small_config("mistral"))), "");
  EXPECT_EQ(pattern(parse_config(small_config("llama", R"("sliding_window": 4096)"))), "");
  EXPECT_EQ(pattern(parse_config(small_config("git", R"("sliding_window_size": -1)"))), "");
  EXPECT_EQ(parse_config(small_config("gpt_oss")).attention.sliding_window, 128u);
}

TEST(HuggingFaceConfig, UsesQwensWindowOnlyWhereItIsSwitchedOn) {
  const std::string keys = R"("sliding_window": 256, "max_window_layers": 3)";
  EXPECT_EQ(pattern(parse_config(small_config("qwen2", keys))), "");
  EXPECT_EQ(parse_config(small_config("qwen2", keys)).attention.sliding_window, 0u);
  EXPECT_EQ(pattern(parse_config(small_config("qwen2", R"("use_sliding_window": false, )" + keys))),
            "");
  const auto config = parse_config(small_config("qwen3", R"("use_sliding_window": true, )" + keys));
  EXPECT_EQ(pattern(config), "fffs");
  EXPECT_EQ(config.attention.sliding_window, 256u);
}

TEST(HuggingFaceConfig, TakesLayerTypesAsGiven) {
  const auto config =
      parse_config(small_config("qwen3", R"("use_sliding_window": true, "sliding_window": 8,
    "max_window_layers": 0, "layer_types": ["full_attention", "sliding_attention",
      "full_attention", "linear_attention"])"));
  EXPECT_EQ(pattern(config), "fsfl");
  EXPECT_TRUE(
      parse_config(small_config("llama", R"("layer_types": ["full_attention", "full_attention",
      "full_attention", "full_attention"])"))
          .attention.layer_types.empty());
}

// In no_rope_layers a 1 means that the layer rotates.
TEST(HuggingFaceConfig, KnowsTheLayersWithoutRotation) {
  const std::vector<bool> every_fourth{true, true, true, false};
  EXPECT_EQ(parse_config(small_config("smollm3")).attention.rotates, every_fourth);
  EXPECT_EQ(
      parse_config(small_config("smollm3", R"("no_rope_layers": [1, 0, 1, 1])")).attention.rotates,
      (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(parse_config(small_config("smollm3", R"("no_rope_layers": [])")).attention.rotates,
            every_fourth);
  EXPECT_EQ(
      parse_config(small_config("smollm3", R"("no_rope_layer_interval": 2)")).attention.rotates,
      (std::vector<bool>{true, false, true, false}));
  EXPECT_TRUE(parse_config(small_config("smollm3", R"("no_rope_layers": [1, 1, 1, 1])"))
                  .attention.rotates.empty());
  EXPECT_TRUE(parse_config(small_config("llama")).attention.rotates.empty());
  EXPECT_EQ(pattern(parse_config(
                small_config("smollm3", R"("use_sliding_window": true, "sliding_window": 9)"))),
            "fffs");
}

// --- the scale of logits -------------------------------------------------------------------------

TEST(HuggingFaceConfig, ReadsBaseScales) {
  EXPECT_EQ(parse_config(small_config("granite", R"("attention_multiplier": 0.0078125)"))
                .attention.attention_multiplier,
            0.0078125);
  const auto gemma2 = parse_config(small_config("gemma2", R"("query_pre_attn_scalar": 144)"));
  EXPECT_EQ(gemma2.attention.query_pre_attn_scalar, 144.0);
  EXPECT_EQ(gemma2.attention.softcap, 50.0);
  EXPECT_FALSE(parse_config(small_config("gemma3_text", R"("attn_logit_softcapping": null)"))
                   .attention.softcap.has_value());
  EXPECT_TRUE(parse_config(small_config("gpt_oss")).attention.learned_sinks);
  EXPECT_FALSE(parse_config(small_config("llama")).attention.learned_sinks);
  EXPECT_FALSE(parse_config(small_config("llama")).attention.query_pre_attn_scalar.has_value());
}

TEST(HuggingFaceConfig, ReadsLatentAttention) {
  const auto config = parse_config(R"({"model_type": "deepseek_v3", "hidden_size": 7168,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
    "vocab_size": 129280, "max_position_embeddings": 163840, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "rope_theta": 10000,
    "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
      "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1}})");
  EXPECT_TRUE(config.attention.latent_attention);
  EXPECT_EQ(config.attention.head_dimension, 192u);
  EXPECT_EQ(config.attention.rotary_dimension, 64u);
  EXPECT_EQ(config.attention.value_dimension, 128u);
  EXPECT_EQ(config.attention.rope.mscale_all_dim, 1.0);
  EXPECT_EQ(config.attention.rope.factor, 40.0);
}

TEST(HuggingFaceConfig, ReadsTheTemperatureTuningOfLlama4) {
  const auto config = parse_config(small_config("llama4_text", R"("attn_temperature_tuning": 4,
    "floor_scale": 4096, "attn_scale": 0.2, "attention_chunk_size": 1024)"));
  ASSERT_TRUE(config.attention.temperature_tuning.has_value());
  EXPECT_TRUE(config.attention.temperature_tuning->enabled);
  EXPECT_EQ(config.attention.temperature_tuning->floor_scale, 4096.0);
  EXPECT_EQ(config.attention.temperature_tuning->attn_scale, 0.2);
  EXPECT_EQ(pattern(config), "cccf");
  EXPECT_EQ(config.attention.attention_chunk, 1024u);
  EXPECT_EQ(parse_config(small_config("llama4_text")).attention.temperature_tuning,
            scaling::TemperatureTuning{});
  EXPECT_FALSE(parse_config(small_config("llama4_text", R"("attn_temperature_tuning": false)"))
                   .attention.temperature_tuning->enabled);
  EXPECT_FALSE(parse_config(small_config("llama")).attention.temperature_tuning.has_value());
}

TEST(HuggingFaceConfig, ReadsTheScalingOfMinistralInBothPlaces) {
  const auto nested =
      parse_config(small_config("ministral3", R"("rope_parameters": {"rope_type": "yarn",
    "factor": 16.0, "original_max_position_embeddings": 16384, "llama_4_scaling_beta": 0.1})"));
  EXPECT_EQ(nested.attention.llama4_scaling,
            (scaling::Llama4Scaling{.beta = 0.1, .original_length = 16384.0, .nested = true}));
  EXPECT_EQ(nested.attention.rope.llama4_beta, 0.1);
  const auto top = parse_config(small_config("ministral3", R"("llama_4_scaling": {"beta": 0.2,
    "original_max_position_embeddings": 8192})"));
  EXPECT_EQ(top.attention.llama4_scaling,
            (scaling::Llama4Scaling{.beta = 0.2, .original_length = 8192.0, .nested = false}));
  EXPECT_FALSE(parse_config(small_config("ministral3")).attention.llama4_scaling.has_value());
}

TEST(HuggingFaceConfig, ReadsTheOtherSchedules) {
  const auto inkling = parse_config(small_config("inkling_text", R"("log_scaling_n_floor": 4096,
    "log_scaling_alpha": 0.05, "sliding_window_size": 512, "layer_types": ["hybrid_sliding",
      "hybrid_sliding", "hybrid_sliding", "hybrid"])"));
  EXPECT_EQ(inkling.attention.log_scaling_n_floor, 4096.0);
  EXPECT_EQ(inkling.attention.log_scaling_alpha, 0.05);
  EXPECT_EQ(pattern(inkling), "sssf");
  EXPECT_EQ(inkling.attention.rope.kind, RopeKind::none);

  const auto qwen = parse_config(small_config("qwen", R"("use_logn_attn": true, "seq_length": 2048,
    "kv_channels": 16, "rotary_emb_base": 20000, "rotary_pct": 0.5)"));
  EXPECT_TRUE(qwen.attention.use_logn_attn);
  EXPECT_EQ(qwen.attention.sequence_length, 2048u);
  EXPECT_EQ(qwen.attention.head_dimension, 16u);
  EXPECT_EQ(qwen.attention.rotary_dimension, 8u);
  EXPECT_EQ(qwen.attention.rope.base, 20000.0);
  EXPECT_TRUE(parse_config(small_config("llama", R"("use_logn_attn": 1)")).attention.use_logn_attn);

  const auto softmax = parse_config(small_config("llama", R"("scaling_softmax": true)"));
  EXPECT_EQ(softmax.attention.scaling_softmax_factor, 0.43);
  EXPECT_FALSE(
      parse_config(
          small_config("llama", R"("scaling_softmax": false, "scaling_softmax_factor": 1)"))
          .attention.scaling_softmax_factor.has_value());
}

// Grok 2 writes its rotation into the file itself; "original" leaves the frequencies alone.
TEST(HuggingFaceConfig, ReadsTheFlatRotationOfGrok) {
  const auto config = parse_config(small_config("git", R"("attn_temperature_len": 1024,
    "attn_logit_softcapping": 30.0, "rope_theta": 208533496, "rope_type": "original",
    "original_max_position_embeddings": 1024, "scaling_factor": 16.0, "beta_fast": 8)"));
  EXPECT_EQ(config.attention.attn_temperature_len, 1024.0);
  EXPECT_EQ(config.attention.softcap, 30.0);
  EXPECT_EQ(config.attention.rope.kind, RopeKind::standard);
  EXPECT_EQ(config.attention.rope.base, 208533496.0);
  EXPECT_EQ(config.attention.rope.factor, 16.0);
  EXPECT_EQ(config.attention.rope.original_length, 1024u);
  EXPECT_FALSE(parse_config(small_config("git", R"("attn_temperature_len": -1)"))
                   .attention.attn_temperature_len.has_value());
}

// Phi 3 keeps the original length beside the parameters and gives no factor.
TEST(HuggingFaceConfig, ReadsLongRope) {
  const auto config = parse_config(small_config("phi3", R"("original_max_position_embeddings": 1024,
    "rope_scaling": {"type": "su", "short_factor": [1, 1.5, 2, 3], "long_factor": [1, 2, 4, 8],
      "short_mscale": 1.1, "long_mscale": 1.25})"));
  EXPECT_EQ(config.attention.rope.kind, RopeKind::longrope);
  EXPECT_EQ(config.attention.rope.short_mscale, 1.1);
  EXPECT_EQ(config.attention.rope.long_mscale, 1.25);
  EXPECT_EQ(config.attention.rope.factor, 4.0);
  EXPECT_EQ(config.attention.rope.original_length, 1024u);
  EXPECT_EQ(config.attention.rope.long_factor, (std::vector<double>{1, 2, 4, 8}));
}

TEST(HuggingFaceConfig, TakesRotationOverSeveralAxesForTheUsualOneInText) {
  const auto config = parse_config(small_config("qwen2", R"("rope_scaling": {"type": "mrope",
    "mrope_section": [16, 24, 24]})"));
  EXPECT_EQ(config.attention.rope.kind, RopeKind::standard);
}

}  // namespace
}  // namespace dewpoint::checkpoint
