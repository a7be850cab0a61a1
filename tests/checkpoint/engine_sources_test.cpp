// From a configuration to what an engine does, for rules that were once wrong here. Each says where
// it was read: engine and commit, file and line.
//
//   transformers d56c55bf, vLLM a014e35f, SGLang cce0a124, llama.cpp b21e4de7 (August 2026)
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/config_texts.hpp"
#include "checkpoint/gguf_bytes.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/scaling/engine.hpp"

namespace dewpoint::checkpoint {
namespace {

using scaling::Engine;
using scaling::LayerScale;
using test::gguf;
using test::gguf_count;
using test::gguf_float;
using test::gguf_string;
using test::parse_config;
using test::small_config;

// A logarithm, a product and a square each round once or twice.
constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();

const std::vector<Engine> kRead = {Engine::hf, Engine::vllm, Engine::sglang, Engine::llama_cpp};

double yarn(double s) { return std::pow(1.0 + 0.1 * std::log(s), 2); }

std::optional<LayerScale> layers_of(const ModelConfig& config, Engine engine,
                                    const std::string& type) {
  for (const LayerScale& layers : scaling::engine_scale(config.attention, engine).layers)
    if (layers.type == type) return layers;
  return std::nullopt;
}

double rotary(const ModelConfig& config, Engine engine,
              const std::string& type = "full attention") {
  return scaling::multiplier(layers_of(config, engine, type).value().rotary, 1.0);
}

double base_scale(const ModelConfig& config, Engine engine) {
  return scaling::engine_scale(config.attention, engine).layers.front().base_scale;
}

bool verified(const ModelConfig& config, Engine engine) {
  return scaling::engine_scale(config.attention, engine).unverified.empty();
}

// transformers models/olmo3/configuration_olmo3.py:101-112, vLLM models/olmo3.py:139-142, SGLang
// models/olmo2.py:131-137, llama.cpp src/models/olmo2.cpp:121-134.
TEST(EngineSources, Olmo3TurnsItsWindowsWithoutYarn) {
  const auto config = parse_config(small_config("olmo3", R"("rope_scaling": {"rope_type": "yarn",
    "factor": 8.0, "original_max_position_embeddings": 512}, "sliding_window": 64)"));
  const std::string prefix = "olmo2.rope.scaling.";
  const std::string file =
      gguf({gguf_string("general.architecture", "olmo2"), gguf_count("olmo2.block_count", 4),
            gguf_count("olmo2.embedding_length", 64), gguf_count("olmo2.context_length", 4096),
            gguf_count("olmo2.attention.head_count", 8),
            gguf_count("olmo2.attention.sliding_window", 64), gguf_string(prefix + "type", "yarn"),
            gguf_float(prefix + "factor", 8), gguf_count(prefix + "original_context_length", 512)});
  const ModelConfig stored = parse_gguf_config(std::as_bytes(std::span(file)), "m.gguf");
  for (const ModelConfig& one : {config, stored}) {
    for (const Engine engine : kRead) {
      EXPECT_NEAR(rotary(one, engine), yarn(8.0), yarn(8.0) * kRounding) << name_of(engine);
      EXPECT_EQ(rotary(one, engine, "sliding window"), 1.0) << name_of(engine);
      EXPECT_EQ(layers_of(one, engine, "sliding window")->layers,
                (std::vector<std::size_t>{0, 1, 2}));
    }
  }
}

// transformers models/inkling/modeling_inkling.py:198, vLLM vllm/models/inkling/nvidia/
// attention.py:92 and amd/attention.py:48-93, SGLang models/inkling_common/attn.py:92-96 and 288.
TEST(EngineSources, InklingDividesByTheDimension) {
  const std::string more =
      R"("head_dim": 128, "log_scaling_n_floor": 1024, "sliding_window_size": 64,
    "layer_types": ["hybrid_sliding", "hybrid_sliding", "hybrid_sliding", "hybrid"])";
  const auto config = parse_config(small_config("inkling_text", more));
  for (const Engine engine : {Engine::hf, Engine::vllm, Engine::sglang}) {
    EXPECT_EQ(base_scale(config, engine), 1.0 / 128.0) << name_of(engine);
    EXPECT_TRUE(verified(config, engine)) << name_of(engine);
    EXPECT_NEAR(
        scaling::multiplier(layers_of(config, engine, "full attention").value().other, 2048.0),
        1.0 + 0.1 * std::log(2.0), kRounding)
        << name_of(engine);
  }
  EXPECT_FALSE(verified(config, Engine::llama_cpp));  // has no Inkling
  EXPECT_THROW((void)parse_config(small_config("inkling_text", R"("swa_head_dim": 64, )" + more)),
               Error);
}

// transformers models/gemma3n/modeling_gemma3n.py:1174, vLLM models/gemma3n.py:391, SGLang
// models/gemma3n_causal.py:351, llama.cpp src/models/gemma3n.cpp:10.
TEST(EngineSources, Gemma3nDoesNotScale) {
  const auto config = parse_config(small_config("gemma3n_text", R"("query_pre_attn_scalar": 256)"));
  for (const Engine engine : kRead) EXPECT_EQ(base_scale(config, engine), 1.0) << name_of(engine);
  EXPECT_FALSE(verified(config, Engine::megatron));
  EXPECT_FALSE(verified(config, Engine::lmdeploy));
}

// llama.cpp src/models/gemma3.cpp:26-33, gemma2.cpp:22-29: 5376/32 and 4608/32 in the files of 27B.
TEST(EngineSources, LlamaCppKnowsGemma27BByItsLayers) {
  const auto scale = [](const std::string& name, std::uint32_t layers, std::uint32_t width) {
    const std::string file = gguf(
        {gguf_string("general.architecture", name), gguf_count(name + ".block_count", layers),
         gguf_count(name + ".embedding_length", width), gguf_count(name + ".context_length", 4096),
         gguf_count(name + ".attention.head_count", 32),
         gguf_count(name + ".attention.key_length", 128)});
    return base_scale(parse_gguf_config(std::as_bytes(std::span(file)), "m.gguf"),
                      Engine::llama_cpp);
  };
  EXPECT_NEAR(scale("gemma3", 62, 5376), 0.0772, 5e-5);  // half a unit of the last decimal
  EXPECT_NEAR(scale("gemma2", 46, 4608), 0.0833, 5e-5);
  EXPECT_EQ(scale("gemma3", 48, 5376), 1.0 / std::sqrt(128.0));
}

// transformers models/phimoe/modeling_phimoe.py:85-94. The numbers are Phi-3.5-MoE's.
TEST(EngineSources, PhiMoeHasItsOwnFactorsInHf) {
  const auto config = parse_config(small_config("phimoe", R"("rope_scaling": {"type": "longrope",
    "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4], "short_mscale": 1.243163121016122,
    "long_mscale": 1.243163121016122, "original_max_position_embeddings": 512})"));
  EXPECT_NEAR(rotary(config, Engine::hf), 1.545, 5e-4);
  const auto phi3 = parse_config(small_config("phi3", R"("rope_scaling": {"type": "longrope",
    "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4], "short_mscale": 1.2,
    "long_mscale": 1.2, "original_max_position_embeddings": 512})"));
  EXPECT_NEAR(rotary(phi3, Engine::hf), 1.0 + std::log(8.0) / std::log(512.0), kRounding);
}

// transformers modeling_rope_utils.py:559; vLLM phi3_long_rope_scaled_rope.py and SGLang
// rope_variant.py:68 take the ratio of the lengths, 8, whatever factor says.
TEST(EngineSources, AFactorInTheFileCountsForLongRopeInHfOnly) {
  const auto config = parse_config(small_config("phi3", R"("rope_scaling": {"type": "longrope",
    "factor": 2.0, "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4],
    "original_max_position_embeddings": 512})"));
  const auto gain = [](double s) { return 1.0 + std::log(s) / std::log(512.0); };
  EXPECT_NEAR(rotary(config, Engine::hf), gain(2.0), kRounding);
  EXPECT_NEAR(rotary(config, Engine::vllm), gain(8.0), kRounding);
  EXPECT_NEAR(rotary(config, Engine::sglang), gain(8.0), kRounding);
}

// SGLang layers/rotary_embedding/rope_variant.py:141.
TEST(EngineSources, SglangChoosesLongRopeByTheBatch) {
  const auto notes = [](const std::string& type) {
    const auto config = parse_config(small_config("phi3", R"("rope_scaling": {"type": ")" + type +
                                                              R"(", "factor": 2.0,
      "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4],
      "original_max_position_embeddings": 512})"));
    return fmt::format(
        "{}", fmt::join(scaling::engine_scale(config.attention, Engine::sglang).notes, ";"));
  };
  EXPECT_NE(notes("longrope").find("batches with a position beyond"), std::string::npos);
  EXPECT_EQ(notes("yarn").find("batches"), std::string::npos);
}

// vLLM layers/rotary_embedding/__init__.py:255 and yarn_scaling_rope.py:40-44; models/
// deepseek_v2.py:537-558. SGLang configs/model_config.py:2070 for latent attention; its plain YaRN
// does not read the key (factory.py:273-289).
TEST(EngineSources, ApplyYarnScalingSwitchesTheFactorOff) {
  const std::string rope = R"("rope_parameters": {"rope_type": "yarn", "factor": 8.0,
    "original_max_position_embeddings": 512, "mscale_all_dim": 1.0, "mscale": 1.0,
    "apply_yarn_scaling": false})";
  const auto plain = parse_config(small_config("mistral", rope));
  EXPECT_EQ(rotary(plain, Engine::vllm), 1.0);
  EXPECT_EQ(rotary(parse_config(small_config("mistral", R"("rope_parameters": {"rope_type": "yarn",
    "factor": 8.0, "original_max_position_embeddings": 512, "apply_yarn_scaling": false})")),
                   Engine::sglang),
            rotary(parse_config(small_config("mistral", R"("rope_parameters": {"rope_type": "yarn",
    "factor": 8.0, "original_max_position_embeddings": 512})")),
                   Engine::sglang));
  const auto latent = parse_config(small_config(
      "deepseek_v3",
      R"("qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "kv_lora_rank": 8, )" +
          rope));
  for (const Engine engine : {Engine::vllm, Engine::sglang})
    EXPECT_EQ(rotary(latent, engine), 1.0) << name_of(engine);
  EXPECT_NEAR(rotary(latent, Engine::hf), yarn(8.0), yarn(8.0) * kRounding);
}

// llama.cpp conversion/mistral3.py:32-41 writes no temperature keys for Mistral 4; vLLM prefers
// params.json (vllm/transformers_utils/config.py:703-711), and SGLang was not read.
TEST(EngineSources, Mistral4LosesItsTemperatureInLlamaCpp) {
  const auto config = parse_config(
      small_config("mistral4", R"("qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
    "kv_lora_rank": 8, "rope_parameters": {"rope_type": "yarn", "factor": 8.0, "mscale": 1.0,
      "mscale_all_dim": 1.0, "original_max_position_embeddings": 512,
      "llama_4_scaling_beta": 0.1})"));
  const auto at = [&](Engine engine, double n) {
    return scaling::multiplier(layers_of(config, engine, "full attention").value().other, n);
  };
  EXPECT_NEAR(at(Engine::hf, 4096.0) / at(Engine::hf, 1.0), 1.0 + 0.1 * std::log(8.0), kRounding);
  EXPECT_EQ(at(Engine::llama_cpp, 4096.0), at(Engine::llama_cpp, 1.0));
  EXPECT_FALSE(verified(config, Engine::vllm));
  EXPECT_FALSE(verified(config, Engine::sglang));
}

// llama.cpp src/models/llama4.cpp:8-11: MobileLLM is a Llama 4 with a window of 0.
TEST(EngineSources, AWindowOfZeroTurnsLlama4sTuningOff) {
  const auto parsed = [](const std::vector<std::string>& more) {
    std::vector<std::string> pairs = {
        gguf_string("general.architecture", "llama4"), gguf_count("llama4.block_count", 4),
        gguf_count("llama4.embedding_length", 64), gguf_count("llama4.context_length", 4096),
        gguf_count("llama4.attention.head_count", 8)};
    pairs.insert(pairs.end(), more.begin(), more.end());
    const std::string file = gguf(pairs);
    return parse_gguf_config(std::as_bytes(std::span(file)), "m.gguf");
  };
  const auto tuned = layers_of(parsed({}), Engine::llama_cpp, "no rotation");
  EXPECT_NEAR(scaling::multiplier(tuned.value().other, 8192.0), 1.0 + 0.1 * std::log(2.0),
              kRounding);
  const ModelConfig mobile = parsed({gguf_count("llama4.attention.sliding_window", 0)});
  EXPECT_FALSE(layers_of(mobile, Engine::llama_cpp, "no rotation").has_value());
  EXPECT_TRUE(layers_of(mobile, Engine::llama_cpp, "full attention").value().rotary.empty());
}

// transformers models/qwen3_next/configuration_qwen3_next.py:129-137: three layers in four are
// linear, and have no softmax that a multiplier could act on.
TEST(EngineSources, LinearAttentionHasNoRow) {
  const auto config = parse_config(small_config("qwen3_next"));
  EXPECT_EQ(config.attention.rotary_dimension, 64u);  // a quarter of 256
  for (const Engine engine : kRead) {
    const auto scale = scaling::engine_scale(config.attention, engine);
    ASSERT_EQ(scale.layers.size(), 1U) << name_of(engine);
    EXPECT_EQ(scale.layers.front().type, "full attention");
    EXPECT_EQ(scale.layers.front().layers, std::vector<std::size_t>{3});
  }
}

TEST(EngineSources, AnArchitectureIsKnownOrItIsNot) {
  for (const char* known : {"llama", "qwen3_moe", "olmo2", "gemma3n_text", "deepseek_v32"})
    EXPECT_TRUE(parse_config(small_config(known)).known) << known;
  EXPECT_FALSE(parse_config(small_config("hyperllama")).known);
  EXPECT_FALSE(parse_config(small_config("gemma4_text")).known);
  const auto stored = [](const std::string& name) {
    const std::string file = gguf(
        {gguf_string("general.architecture", name), gguf_count(name + ".block_count", 4),
         gguf_count(name + ".embedding_length", 64), gguf_count(name + ".context_length", 4096),
         gguf_count(name + ".attention.head_count", 8)});
    return parse_gguf_config(std::as_bytes(std::span(file)), "m.gguf").known;
  };
  EXPECT_TRUE(stored("llama"));
  EXPECT_TRUE(stored("qwen3moe"));
  EXPECT_FALSE(stored("hyperllama"));
}

}  // namespace
}  // namespace dewpoint::checkpoint
