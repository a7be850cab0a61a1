// Configurations out of the metadata of GGUF files.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "checkpoint/gguf_bytes.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::RopeKind;
using test::gguf;
using test::gguf_array;
using test::gguf_count;
using test::gguf_float;
using test::gguf_string;
using test::gguf_value;
using test::outcome;
using test::Outcome;

ModelConfig parse(const std::string& file) {
  return parse_gguf_config(std::as_bytes(std::span(file)), "m.gguf");
}

// A small model of an architecture: four layers, eight heads of dimension 8.
std::string small(const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> pairs{
      gguf_string("general.architecture", name),  gguf_count(name + ".block_count", 4),
      gguf_count(name + ".embedding_length", 64), gguf_count(name + ".feed_forward_length", 128),
      gguf_count(name + ".context_length", 4096), gguf_count(name + ".attention.head_count", 8)};
  pairs.insert(pairs.end(), more.begin(), more.end());
  return gguf(pairs);
}

std::string refusal_of(const std::string& file) {
  const Outcome result = outcome([&] { (void)parse(file); });
  EXPECT_EQ(result.code, Code::malformed_file) << result.message;
  EXPECT_TRUE(result.message.starts_with("m.gguf: ")) << result.message;
  return result.message;
}

TEST(GgufConfig, ReadsSizesAndTokens) {
  const ModelConfig config = parse(small(
      "llama", {gguf_count("llama.attention.head_count_kv", 2),
                gguf_float("llama.attention.layer_norm_rms_epsilon", 0x1p-17f),
                gguf_float("llama.rope.freq_base", 500000.0f), gguf_count("llama.vocab_size", 1000),
                gguf_count("tokenizer.ggml.bos_token_id", 1),
                gguf_count("tokenizer.ggml.eos_token_id", 2)}));
  EXPECT_EQ(config.source, Source::gguf);
  EXPECT_EQ(config.model_type, "llama");
  EXPECT_EQ(config.layers, 4u);
  EXPECT_EQ(config.hidden_size, 64u);
  EXPECT_EQ(config.intermediate_size, 128u);
  EXPECT_EQ(config.vocabulary, 1000u);
  EXPECT_EQ(config.norm_epsilon, 0x1p-17);
  EXPECT_EQ(config.beginning_token, 1);
  EXPECT_EQ(config.end_token, 2);
  EXPECT_EQ(config.attention.heads, 8u);
  EXPECT_EQ(config.attention.key_heads, 2u);
  EXPECT_EQ(config.attention.head_dimension, 8u);
  EXPECT_EQ(config.attention.rotary_dimension, 8u);
  EXPECT_EQ(config.attention.rope.base, 500000.0);
  EXPECT_EQ(config.attention.rope.kind, RopeKind::standard);
  EXPECT_EQ(config.attention.rope.original_length, 4096u);
  EXPECT_FALSE(config.attention.rope.original_length_given);
}

TEST(GgufConfig, ReadsEveryKeyOfScaling) {
  const std::string scaling = "llama.rope.scaling.";
  const auto attention =
      parse(
          small("llama", {gguf_string(scaling + "type", "yarn"), gguf_float(scaling + "factor", 4),
                          gguf_count(scaling + "original_context_length", 1024),
                          gguf_float(scaling + "attn_factor", 1.25f),
                          gguf_float(scaling + "yarn_attn_factor", 1.5f),
                          gguf_float(scaling + "yarn_ext_factor", 1.0f),
                          gguf_float(scaling + "yarn_log_multiplier", 0.125f),
                          gguf_float(scaling + "yarn_beta_fast", 16.0f),
                          gguf_float(scaling + "yarn_beta_slow", 2.0f),
                          gguf_float("llama.attention.scale", 0.25f),
                          gguf_count("llama.attention.temperature_length", 2048),
                          gguf_float("llama.attention.temperature_scale", 0.5f)}))
          .attention;
  EXPECT_EQ(attention.rope.kind, RopeKind::yarn);
  EXPECT_EQ(attention.rope.factor, 4.0);
  EXPECT_EQ(attention.rope.original_length, 1024u);
  EXPECT_TRUE(attention.rope.original_length_given);
  EXPECT_EQ(attention.rope.beta_fast, 16.0);
  EXPECT_EQ(attention.rope.beta_slow, 2.0);
  EXPECT_EQ(attention.gguf_attn_factor, 1.25);
  EXPECT_EQ(attention.gguf_yarn_attn_factor, 1.5);
  EXPECT_EQ(attention.gguf_yarn_ext_factor, 1.0);
  EXPECT_EQ(attention.gguf_yarn_log_multiplier, 0.125);
  EXPECT_EQ(attention.gguf_attention_scale, 0.25);
  EXPECT_EQ(attention.gguf_temperature_length, 2048.0);
  EXPECT_EQ(attention.gguf_temperature_scale, 0.5);
}

TEST(GgufConfig, TakesAFactorWithoutAKindForLinear) {
  const auto rope = [](const std::vector<std::string>& more) {
    return parse(small("llama", more)).attention.rope;
  };
  EXPECT_EQ(rope({gguf_float("llama.rope.scale_linear", 4.0f)}).kind, RopeKind::linear);
  EXPECT_EQ(rope({gguf_float("llama.rope.scale_linear", 4.0f)}).factor, 4.0);
  EXPECT_EQ(rope({gguf_float("llama.rope.scaling.factor", 0.0f)}), rope({}));
  EXPECT_EQ(rope({gguf_string("llama.rope.scaling.type", "none")}), rope({}));
  EXPECT_EQ(rope({gguf_string("llama.rope.scaling.type", "longrope")}).kind, RopeKind::longrope);
}

TEST(GgufConfig, ReadsLatentAttentionOfOlderAndNewerFiles) {
  const std::vector<std::string> older{gguf_count("deepseek2.attention.kv_lora_rank", 512),
                                       gguf_count("deepseek2.attention.key_length", 192),
                                       gguf_count("deepseek2.attention.value_length", 128),
                                       gguf_count("deepseek2.rope.dimension_count", 64)};
  const std::vector<std::string> newer{gguf_count("deepseek2.attention.kv_lora_rank", 512),
                                       gguf_count("deepseek2.attention.head_count_kv", 1),
                                       gguf_count("deepseek2.attention.key_length", 576),
                                       gguf_count("deepseek2.attention.value_length", 512),
                                       gguf_count("deepseek2.attention.key_length_mla", 192),
                                       gguf_count("deepseek2.attention.value_length_mla", 128),
                                       gguf_count("deepseek2.rope.dimension_count", 64)};
  const ModelConfig config = parse(small("deepseek2", older));
  EXPECT_EQ(config, parse(small("deepseek2", newer)));
  EXPECT_TRUE(config.attention.latent_attention);
  EXPECT_EQ(config.attention.head_dimension, 192u);
  EXPECT_EQ(config.attention.rotary_dimension, 64u);
  EXPECT_EQ(config.attention.value_dimension, 128u);
  EXPECT_EQ(config.attention.key_heads, 8u);
}

TEST(GgufConfig, KnowsWhatLlamaCppHasInItsCode) {
  const auto window = [](const std::string& name) {
    return gguf_count(name + ".attention.sliding_window", 128);
  };
  const auto gpt_oss = parse(small("gpt-oss", {window("gpt-oss")}));
  EXPECT_TRUE(gpt_oss.attention.learned_sinks);
  EXPECT_EQ(gpt_oss.attention.layer_types,
            (std::vector<std::string>{"sliding_attention", "full_attention", "sliding_attention",
                                      "full_attention"}));
  const auto mistral = parse(small("llama", {window("llama")}));
  EXPECT_EQ(std::count(mistral.attention.layer_types.begin(), mistral.attention.layer_types.end(),
                       "sliding_attention"),
            4);
  const auto listed = parse(
      small("laguna",
            {window("laguna"),
             gguf_array<std::uint8_t>("laguna.attention.sliding_window_pattern", 7, {0, 1, 1, 1}),
             gguf_float("laguna.rope.freq_base_swa", 5000.0f)}));
  EXPECT_EQ(listed.attention.layer_types.front(), "full_attention");
  EXPECT_EQ(listed.attention.layer_types.back(), "sliding_attention");
  EXPECT_EQ(listed.attention.local_rope->base, 5000.0);
  const auto llama4 = parse(small("llama4"));
  EXPECT_EQ(llama4.attention.rotates, (std::vector<bool>{true, true, true, false}));
  EXPECT_TRUE(llama4.attention.temperature_tuning.has_value());
  EXPECT_EQ(parse(small("gpt2")).attention.rope.kind, RopeKind::none);
  EXPECT_TRUE(parse(small("qwen3")).query_key_norm);
}

// One number per layer: the first stands for all.
TEST(GgufConfig, TakesTheFirstOfNumbersPerLayer) {
  const std::vector<std::string> pairs{
      gguf_string("general.architecture", "laguna"),
      gguf_count("laguna.block_count", 2),
      gguf_count("laguna.embedding_length", 64),
      gguf_count("laguna.context_length", 8),
      gguf_array<std::int32_t>("laguna.attention.head_count", 5, {4, 8}),
      gguf_array<std::int32_t>("laguna.feed_forward_length", 5, {100, 200})};
  const ModelConfig config = parse(gguf(pairs));
  EXPECT_EQ(config.attention.heads, 4u);
  EXPECT_EQ(config.intermediate_size, 100u);
}

TEST(GgufConfig, NamesTheWholeKey) {
  EXPECT_EQ(refusal_of(small("llama", {gguf_string("llama.rope.scaling.type", "magic")})),
            "m.gguf: llama.rope.scaling.type: found 'magic', allowed: none, linear, yarn or "
            "longrope");
  EXPECT_EQ(refusal_of(gguf({gguf_string("general.architecture", "llama")})),
            "m.gguf: llama.block_count: found no such key, allowed: a whole number from 1 to "
            "10000");
  EXPECT_EQ(refusal_of(small("llama", {gguf_float("llama.rope.freq_base",
                                                  std::numeric_limits<float>::quiet_NaN())})),
            "m.gguf: llama.rope.freq_base: found nan, allowed: a number from 1.001 to 1e+15");
}

TEST(GgufConfig, RefusesNumbersAndTypesThatNoModelHas) {
  (void)refusal_of(gguf({}));
  (void)refusal_of(gguf({gguf_count("general.architecture", 3)}));
  (void)refusal_of(gguf({gguf_string("general.architecture", "")}));
  (void)refusal_of(gguf({gguf_string("general.architecture", std::string(65, 'x'))}));
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::string& pair :
       {gguf_count("llama.attention.head_count_kv", 3), gguf_count("llama.attention.key_length", 0),
        gguf_count("llama.rope.dimension_count", 10), gguf_count("llama.rope.dimension_count", 5),
        gguf_float("llama.rope.freq_base", infinity), gguf_float("llama.rope.freq_base", -1.0f),
        gguf_float("llama.rope.scaling.factor", 0.5f), gguf_string("llama.vocab_size", "many"),
        gguf_count("llama.rope.scaling.type", 1),
        gguf_float("llama.attention.layer_norm_rms_epsilon", -infinity),
        gguf_value<std::int32_t>("tokenizer.ggml.bos_token_id", 5, -1)}) {
    (void)refusal_of(small("llama", {pair}));
  }
  (void)refusal_of(
      small("llama", {gguf_count("llama.attention.sliding_window", 4),
                      gguf_array<std::uint8_t>("llama.attention.sliding_window_pattern", 7, {1})}));
}

TEST(GgufConfig, AFileCutAnywhereIsRefused) {
  const std::string file = small("llama", {gguf_float("llama.rope.freq_base", 1e4f)});
  (void)parse(file);
  for (std::size_t length = 0; length < file.size(); ++length) {
    (void)refusal_of(file.substr(0, length));
  }
}

}  // namespace
}  // namespace dewpoint::checkpoint
