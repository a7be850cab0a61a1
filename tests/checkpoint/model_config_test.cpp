// Configurations as a whole: what a file says, two spellings of one model, the text part of a
// multimodal one, presets. The texts have the keys and numbers of published models where one is
// named.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/model_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "checkpoint/config_texts.hpp"
#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using scaling::RopeKind;
using test::outcome;
using test::Outcome;
using test::parse_config;
using test::small_config;

// --- what a plain file says ----------------------------------------------------------------------

TEST(HuggingFaceConfig, ReadsALlama) {
  const ModelConfig config = parse_config(R"({
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-05, "hidden_act": "silu", "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009], "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
    "torch_dtype": "bfloat16", "tie_word_embeddings": false})");
  EXPECT_EQ(config.source, Source::hugging_face);
  EXPECT_EQ(config.file, "config.json");
  EXPECT_EQ(config.model_type, "llama");
  EXPECT_EQ(config.layers, 32u);
  EXPECT_EQ(config.hidden_size, 4096u);
  EXPECT_EQ(config.intermediate_size, 14336u);
  EXPECT_EQ(config.vocabulary, 128256u);
  EXPECT_EQ(config.beginning_token, 128000);
  EXPECT_EQ(config.end_token, 128001);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.activation, "silu");
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_FALSE(config.attention_bias);
  EXPECT_FALSE(config.rotates_pairs);

  const scaling::AttentionConfig& attention = config.attention;
  EXPECT_EQ(attention.architecture, "LlamaForCausalLM");
  EXPECT_EQ(attention.heads, 32u);
  EXPECT_EQ(attention.key_heads, 8u);
  EXPECT_EQ(attention.head_dimension, 128u);
  EXPECT_EQ(attention.rotary_dimension, 128u);
  EXPECT_EQ(attention.max_positions, 131072u);
  EXPECT_EQ(attention.rope.kind, RopeKind::llama3);
  EXPECT_EQ(attention.rope.base, 500000.0);
  EXPECT_EQ(attention.rope.factor, 8.0);
  EXPECT_EQ(attention.rope.low_frequency_factor, 1.0);
  EXPECT_EQ(attention.rope.high_frequency_factor, 4.0);
  EXPECT_EQ(attention.rope.original_length, 8192u);
  EXPECT_TRUE(attention.rope.original_length_given);
  EXPECT_TRUE(attention.layer_types.empty());
  EXPECT_TRUE(attention.rotates.empty());
}

TEST(HuggingFaceConfig, FillsInWhatAFileLeavesOut) {
  const ModelConfig config = parse_config(small_config("llama"));
  EXPECT_EQ(config.attention.key_heads, 8u);
  EXPECT_EQ(config.attention.head_dimension, 8u);
  EXPECT_EQ(config.attention.value_dimension, 8u);
  EXPECT_EQ(config.attention.rope.kind, RopeKind::standard);
  EXPECT_EQ(config.attention.rope.base, 10000.0);
  EXPECT_EQ(config.attention.rope.original_length, 4096u);
  EXPECT_FALSE(config.attention.rope.original_length_given);
  EXPECT_EQ(config.norm_epsilon, 1e-6);
  EXPECT_FALSE(config.beginning_token.has_value());
  EXPECT_FALSE(config.tied_embeddings);
}

TEST(HuggingFaceConfig, TakesNullForAbsentAndIgnoresKeysThatItDoesNotKnow) {
  EXPECT_EQ(parse_config(small_config("llama", R"("rope_scaling": null, "head_dim": null,
    "num_key_value_heads": null, "eos_token_id": null, "sliding_window": null,
    "id2label": {"0": "a"}, "torch_dtype": "float8", "whatever": [1, {"x": null}])")),
            parse_config(small_config("llama")));
}

TEST(HuggingFaceConfig, TakesWholeNumbersWrittenAsFloats) {
  EXPECT_EQ(parse_config(small_config("llama", R"("head_dim": 16.0, "rope_theta": 500000)")),
            parse_config(small_config("llama", R"("head_dim": 16, "rope_theta": 5e5)")));
}

// Embeddings are tied where the class of the model says so and the file does not.
TEST(HuggingFaceConfig, KnowsWhichFamiliesTieTheirEmbeddings) {
  for (const char* type : {"llama", "mistral", "qwen2", "qwen3", "granite", "deepseek_v3",
                           "gpt_oss", "phi3", "ministral3"}) {
    EXPECT_FALSE(parse_config(small_config(type, R"("sliding_window": 64)")).tied_embeddings)
        << type;
  }
  for (const char* type : {"gpt2", "gemma", "gemma2", "gemma3_text", "smollm3", "unheard_of"}) {
    EXPECT_TRUE(parse_config(small_config(type)).tied_embeddings) << type;
  }
  EXPECT_TRUE(
      parse_config(small_config("llama", R"("tie_word_embeddings": true)")).tied_embeddings);
  EXPECT_FALSE(
      parse_config(small_config("gemma2", R"("tie_word_embeddings": false)")).tied_embeddings);
}

TEST(HuggingFaceConfig, KnowsBiasesAndNormsThatHaveNoKey) {
  EXPECT_TRUE(parse_config(small_config("qwen2")).attention_bias);
  EXPECT_TRUE(parse_config(small_config("qwen2", R"("attention_bias": false)")).attention_bias);
  EXPECT_TRUE(parse_config(small_config("gpt_oss")).attention_bias);
  EXPECT_FALSE(parse_config(small_config("gpt_oss", R"("attention_bias": false)")).attention_bias);
  EXPECT_TRUE(parse_config(small_config("llama", R"("attention_bias": true)")).attention_bias);
  EXPECT_FALSE(parse_config(small_config("qwen3")).attention_bias);
  EXPECT_TRUE(parse_config(small_config("qwen3")).query_key_norm);
  EXPECT_TRUE(parse_config(small_config("gemma3_text")).query_key_norm);
  EXPECT_FALSE(parse_config(small_config("qwen2")).query_key_norm);
  EXPECT_TRUE(parse_config(small_config("llama", R"("mlp_bias": true)")).mlp_bias);
}

// --- two spellings of one model ------------------------------------------------------------------

// Property (2).
TEST(HuggingFaceConfig, GivesEqualConfigurationsForBothSpellingsOfYarn) {
  const auto older = parse_config(small_config("qwen2", R"("rope_theta": 1000000.0,
    "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024,
      "attention_factor": 1.2, "beta_fast": 16, "mscale": 1.0, "truncate": false})"));
  const auto newer = parse_config(small_config("qwen2", R"("rope_parameters": {"rope_type": "yarn",
      "rope_theta": 1000000.0, "factor": 4.0, "original_max_position_embeddings": 1024,
      "attention_factor": 1.2, "beta_fast": 16, "mscale": 1.0, "truncate": false})"));
  EXPECT_EQ(older, newer);
  EXPECT_EQ(newer.attention.rope.kind, RopeKind::yarn);
  EXPECT_EQ(newer.attention.rope.attention_factor, 1.2);
  EXPECT_EQ(newer.attention.rope.beta_fast, 16.0);
  EXPECT_EQ(newer.attention.rope.beta_slow, 1.0);
  EXPECT_EQ(newer.attention.rope.mscale, 1.0);
  EXPECT_FALSE(newer.attention.rope.mscale_all_dim.has_value());
  EXPECT_FALSE(newer.attention.rope.truncate);
}

// Property (2), where layers of two types rotate differently.
TEST(HuggingFaceConfig, GivesEqualConfigurationsForBothSpellingsOfGemma3) {
  const auto older = parse_config(small_config("gemma3_text", R"("rope_theta": 1000000,
    "rope_local_base_freq": 10000, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    "sliding_window": 512, "sliding_window_pattern": 2)"));
  const auto newer = parse_config(small_config("gemma3_text", R"("rope_parameters": {
      "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000}},
    "sliding_window": 512, "layer_types": ["sliding_attention", "full_attention",
      "sliding_attention", "full_attention"])"));
  EXPECT_EQ(older, newer);
  EXPECT_EQ(newer.attention.rope.kind, RopeKind::linear);
  EXPECT_EQ(newer.attention.rope.base, 1e6);
  ASSERT_TRUE(newer.attention.local_rope.has_value());
  EXPECT_EQ(newer.attention.local_rope->kind, RopeKind::standard);
  EXPECT_EQ(newer.attention.local_rope->base, 1e4);
}

TEST(HuggingFaceConfig, KeepsNoLocalRotationThatEqualsTheOther) {
  const auto config = parse_config(small_config("laguna", R"("sliding_window": 64,
    "rope_parameters": {"full_attention": {"rope_theta": 7e5, "rope_type": "default"},
      "sliding_attention": {"rope_theta": 7e5, "rope_type": "default"}},
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention",
      "sliding_attention"])"));
  EXPECT_FALSE(config.attention.local_rope.has_value());
  EXPECT_EQ(config.attention.rope.base, 7e5);
}

// Quirks of transformers 5: truncate counts in the outer object, and the original length there is
// a default for all types.
TEST(HuggingFaceConfig, ReadsTheOuterObjectOfRotationsByType) {
  const std::string types = R"("sliding_window": 64, "layer_types": ["full_attention",
    "sliding_attention", "sliding_attention", "sliding_attention"], )";
  const auto outer =
      parse_config(small_config("laguna", types + R"("rope_parameters": {"truncate": false,
      "original_max_position_embeddings": 1024,
      "full_attention": {"rope_type": "yarn", "factor": 4.0, "partial_rotary_factor": 0.5},
      "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}})"));
  EXPECT_FALSE(outer.attention.rope.truncate);
  EXPECT_EQ(outer.attention.rope.original_length, 1024u);
  EXPECT_EQ(outer.attention.rotary_dimension, 64u);
  EXPECT_EQ(outer.attention.local_rope->rotary_share, 1.0);
  const auto inner = parse_config(small_config("laguna", types + R"("rope_parameters": {
      "full_attention": {"rope_type": "yarn", "factor": 4.0, "truncate": false}})"));
  EXPECT_TRUE(inner.attention.rope.truncate);
}

TEST(HuggingFaceConfig, ReadsTheTextPartOfAMultimodalModel) {
  const auto config = parse_config(R"({"architectures": ["Gemma3ForConditionalGeneration"],
    "model_type": "gemma3", "eos_token_id": [1, 106], "tie_word_embeddings": true,
    "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
      "sliding_window": 1024}, "vision_config": {"hidden_size": 1152}})");
  EXPECT_EQ(config.model_type, "gemma3_text");
  EXPECT_EQ(config.attention.architecture, "Gemma3ForConditionalGeneration");
  EXPECT_EQ(config.hidden_size, 2560u);
  EXPECT_EQ(config.end_token, 1);
  // Left out, as they equal the defaults of Gemma3TextConfig.
  EXPECT_EQ(config.attention.heads, 8u);
  EXPECT_EQ(config.attention.key_heads, 4u);
  EXPECT_EQ(config.attention.head_dimension, 256u);
  EXPECT_EQ(config.attention.max_positions, 131072u);
  EXPECT_EQ(config.attention.query_pre_attn_scalar, 256.0);
  EXPECT_EQ(config.attention.rope.base, 1e6);
}

// --- GPT-2 ---------------------------------------------------------------------------------------

TEST(HuggingFaceConfig, ReadsTheNamesOfGpt2) {
  const auto config =
      parse_config(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
    "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257,
    "layer_norm_epsilon": 1e-05, "activation_function": "gelu_new",
    "scale_attn_weights": false, "scale_attn_by_inverse_layer_idx": true})");
  EXPECT_EQ(config.hidden_size, 768u);
  EXPECT_EQ(config.intermediate_size, 4u * 768u);
  EXPECT_EQ(config.layers, 12u);
  EXPECT_EQ(config.attention.heads, 12u);
  EXPECT_EQ(config.attention.head_dimension, 64u);
  EXPECT_EQ(config.attention.max_positions, 1024u);
  EXPECT_EQ(config.attention.rope.kind, RopeKind::none);
  EXPECT_EQ(config.attention.rotary_dimension, 0u);
  EXPECT_FALSE(config.attention.scale_attention_weights);
  EXPECT_TRUE(config.attention.scale_by_inverse_layer);
  EXPECT_EQ(config.activation, "gelu_new");
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_TRUE(config.attention_bias);
  EXPECT_TRUE(config.mlp_bias);
}

TEST(HuggingFaceConfig, ReadsARealGpt2FromItsFolder) {
  const fs::path folder = fs::path(DEWPOINT_DATA) / "capp-gpt2";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto config = read_model_config(folder);
  EXPECT_EQ(config, read_model_config(folder / "config.json"));
  EXPECT_EQ(config.layers, 4u);
  EXPECT_EQ(config.hidden_size, 64u);
  EXPECT_EQ(config.intermediate_size, 256u);
  EXPECT_EQ(config.vocabulary, 53u);
  EXPECT_EQ(config.end_token, 51);
  EXPECT_EQ(config.attention.heads, 4u);
  EXPECT_EQ(config.attention.max_positions, 512u);
  EXPECT_TRUE(config.attention.scale_attention_weights);
}

// --- the door for all kinds of files -------------------------------------------------------------

TEST(ReadModelConfig, SaysWhatMayBeAtAPath) {
  const test::ScratchFolder folder;
  const fs::path absent = folder / "absent";
  EXPECT_EQ(outcome([&] { (void)read_model_config(absent); }).code, Code::unreadable_file);
  EXPECT_EQ(outcome([&] { (void)read_model_config(folder / ""); }).code, Code::unreadable_file);
  test::write_bytes(folder / "empty", "");
  test::write_bytes(folder / "text", "a text\n");
  EXPECT_EQ(outcome([&] { (void)read_model_config(folder / "empty"); }).code, Code::malformed_file);
  EXPECT_EQ(outcome([&] { (void)read_model_config(folder / "text"); }).code, Code::malformed_file);
  test::write_bytes(folder / "any name", "\n " + small_config("llama"));
  EXPECT_EQ(read_model_config(folder / "any name").model_type, "llama");
}

// --- presets -------------------------------------------------------------------------------------

TEST(Presets, AreAllReadableAndSayWhereTheyAreFrom) {
  ASSERT_GE(presets().size(), 20u);
  for (const Preset& preset : presets()) {
    const ModelConfig config = preset_config(preset.name);
    EXPECT_EQ(config.source, Source::preset);
    EXPECT_EQ(config.file, preset.name);
    EXPECT_FALSE(preset.description.empty());
    EXPECT_EQ(config.attention.layers, config.layers);
  }
}

TEST(Presets, HaveTheKeysThatEnginesDisagreeAbout) {
  const auto ministral = preset_config("ministral-3-8b").attention;
  EXPECT_EQ(ministral.rope.factor, 16.0);
  EXPECT_EQ(ministral.rope.mscale, 1.0);
  EXPECT_EQ(ministral.rope.mscale_all_dim, 1.0);
  EXPECT_TRUE(ministral.llama4_scaling->nested);
  EXPECT_EQ(ministral.llama4_scaling->original_length, 16384.0);

  const auto laguna = preset_config("laguna-xs.2").attention;
  EXPECT_EQ(laguna.rope.factor, 64.0);
  EXPECT_EQ(laguna.rope.attention_factor, 1.0);
  EXPECT_EQ(laguna.rotary_dimension, 64u);
  EXPECT_EQ(laguna.local_rope->base, 10000.0);
  EXPECT_EQ(std::count(laguna.layer_types.begin(), laguna.layer_types.end(), "full_attention"), 10);

  EXPECT_EQ(preset_config("deepseek-v2").attention.rope.mscale_all_dim, 0.707);
  EXPECT_EQ(preset_config("deepseek-v3").attention.rope.mscale_all_dim, 1.0);
  EXPECT_TRUE(preset_config("qwen-7b").attention.use_logn_attn);
  EXPECT_EQ(preset_config("grok-2").attention.attn_temperature_len, 1024.0);
  EXPECT_EQ(preset_config("granite-3.3-8b").attention.attention_multiplier, 1.0 / 128);
  EXPECT_FALSE(preset_config("gpt-oss-20b").attention.rope.truncate);
  const auto scout = preset_config("llama-4-scout").attention;
  EXPECT_TRUE(scout.temperature_tuning->enabled);
  EXPECT_EQ(std::count(scout.rotates.begin(), scout.rotates.end(), false), 12);
}

TEST(Presets, AnswerAMistypedNameWithTheNearest) {
  const Outcome result = outcome([] { (void)preset_config("deepsek-v3"); });
  EXPECT_EQ(result.code, Code::bad_value);
  EXPECT_NE(result.message.find("did you mean 'deepseek-v3'?"), std::string::npos)
      << result.message;
}

}  // namespace
}  // namespace dewpoint::checkpoint
