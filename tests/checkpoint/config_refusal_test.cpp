// Configurations that are refused, with file, key, what was found and what is allowed in one line.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "checkpoint/config_texts.hpp"
#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::outcome;
using test::Outcome;
using test::parse_config;
using test::small_config;

std::string refusal_of(const std::string& json) {
  const Outcome result = outcome([&] { (void)parse_config(json); });
  EXPECT_EQ(result.code, Code::malformed_file) << json << '\n' << result.message;
  EXPECT_EQ(result.message.find('\n'), std::string::npos);
  EXPECT_TRUE(result.message.starts_with("config.json: ")) << result.message;
  return result.message;
}

std::string refusal_of_key(const std::string& more) {
  return refusal_of(small_config("llama", more));
}

TEST(HuggingFaceConfig, NamesKeyFoundAndAllowed) {
  EXPECT_EQ(refusal_of_key(R"("head_dim": "64")"),
            "config.json: head_dim: found '64', allowed: a whole number from 1 to 16777216");
  EXPECT_EQ(refusal_of_key(R"("head_dim": 6.5)"),
            "config.json: head_dim: found 6.5, allowed: a whole number from 1 to 16777216");
  EXPECT_EQ(refusal_of_key(R"("rope_scaling": {"rope_type": "magic", "factor": 2})"),
            "config.json: rope_scaling.rope_type: found 'magic', allowed: default, linear, "
            "dynamic, ntk, llama3, yarn, longrope, su, mrope, original or none");
  EXPECT_EQ(refusal_of_key(R"("rope_parameters": {"type": "yarn\nx"})"),
            "config.json: rope_parameters.type: found 'yarn\\x0ax', allowed: default, linear, "
            "dynamic, ntk, llama3, yarn, longrope, su, mrope, original or none");
  EXPECT_EQ(refusal_of(R"({"model_type": "llama"})"),
            "config.json: num_hidden_layers: found no such key, allowed: a whole number from 1 to "
            "10000");
  EXPECT_EQ(refusal_of(R"({"model_type": "x", "text_config": {"model_type": "llama"}})"),
            "config.json: text_config.num_hidden_layers: found no such key, allowed: a whole "
            "number from 1 to 10000");
}

TEST(HuggingFaceConfig, RefusesNumbersThatNoModelHas) {
  for (const char* more : {R"("head_dim": 0)",
                           R"("head_dim": -64)",
                           R"("head_dim": 1e300)",
                           R"("head_dim": true)",
                           R"("num_key_value_heads": 3)",
                           R"("num_key_value_heads": 16)",
                           R"("num_key_value_heads": 0)",
                           R"("rms_norm_eps": -1e-6)",
                           R"("rms_norm_eps": "1e-6")",
                           R"("rope_theta": 0)",
                           R"("rope_theta": -1)",
                           R"("rope_theta": [10000])",
                           R"("bos_token_id": -1)",
                           R"("eos_token_id": ["</s>"])",
                           R"("sliding_window": [1])",
                           R"("partial_rotary_factor": 1.5)",
                           R"("partial_rotary_factor": 0.125)",
                           R"("attention_multiplier": 0)",
                           R"("tie_word_embeddings": "no")",
                           R"("attention_bias": 1)",
                           R"("vocab_size": 1e18)",
                           R"("head_dim": 7)"}) {
    const std::string text = small_config(
        std::string(more).find("window") == std::string::npos ? "llama" : "mistral", more);
    (void)refusal_of(text);
  }
  (void)refusal_of(R"({"model_type": "llama", "num_hidden_layers": 100000000, "hidden_size": 8,
    "num_attention_heads": 1, "max_position_embeddings": 8})");
  (void)refusal_of(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 10,
    "num_attention_heads": 3, "max_position_embeddings": 8})");
}

TEST(HuggingFaceConfig, RefusesListsThatDoNotFitTheLayers) {
  (void)refusal_of_key(R"("layer_types": ["full_attention"])");
  (void)refusal_of_key(R"("layer_types": [1, 2, 3, 4])");
  (void)refusal_of_key(R"("layer_types": "full_attention")");
  (void)refusal_of_key(R"("no_rope_layers": [1, 0])");
  (void)refusal_of_key(R"("no_rope_layers": [1, 0, 2, 1])");
  // Layers with a window of no length.
  (void)refusal_of(small_config("qwen3", R"("layer_types": ["sliding_attention", "full_attention",
    "full_attention", "full_attention"])"));
}

TEST(HuggingFaceConfig, RefusesRotationsThatAreNotWhole) {
  for (const char* parameters :
       {R"("yarn")", R"([])", R"({"rope_type": 3})", R"({"rope_type": "yarn"})",
        R"({"rope_type": "linear"})", R"({"rope_type": "linear", "factor": 0.5})",
        R"({"rope_type": "linear", "factor": "8"})", R"({"rope_type": "dynamic"})",
        R"({"rope_type": "llama3", "factor": 8})",
        R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1})",
        R"({"rope_type": "longrope", "factor": 8})",
        R"({"rope_type": "longrope", "factor": 8, "short_factor": [1], "long_factor": [1]})",
        R"({"rope_type": "longrope", "factor": 8, "short_factor": [1, 1, 1, 1],
            "long_factor": [1, 1, 1, 0]})",
        R"({"rope_type": "yarn", "factor": 8, "attention_factor": "1"})",
        R"({"rope_type": "yarn", "factor": 8, "beta_fast": 0})",
        R"({"rope_type": "yarn", "factor": 8, "truncate": 0})", R"({"full_attention": 1})",
        R"({"sliding_attention": []})"}) {
    (void)refusal_of_key(std::string(R"("rope_parameters": )") + parameters);
  }
}

TEST(HuggingFaceConfig, RefusesWhatIsNotAConfiguration) {
  for (const char* text : {"", "{", "[]", "3", "null", R"("llama")", "{}", R"({"model_type": 3})",
                           R"({"model_type": ""})", R"({"model_type": "a", "model_type": "b"})",
                           R"({"text_config": 1})", R"({"model_type": "llama"} x)",
                           R"({"model_type": "llama", "hidden_size": NaN})"}) {
    (void)refusal_of(text);
  }
  (void)refusal_of(std::string(100000, '{'));
  (void)refusal_of(R"({"model_type": "llama", "x": )" + std::string(1000, '['));
}

// Property (1).
TEST(HuggingFaceConfig, AFileCutAnywhereIsRefused) {
  const std::string text = small_config("gemma3_text", R"("rope_parameters": {"full_attention": {
    "rope_type": "linear", "factor": 8.0}, "sliding_attention": {"rope_theta": 1e4}})");
  (void)parse_config(text);
  for (std::size_t length = 0; length < text.size(); ++length)
    (void)refusal_of(text.substr(0, length));
}

}  // namespace
}  // namespace dewpoint::checkpoint
