// What each engine makes of known models, against published numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dewpoint/core/error.hpp"
#include "scaling/model_configs.hpp"

namespace dewpoint::scaling {
namespace {

// Half a unit of the last decimal that was printed.
constexpr double kThree = 5e-4, kFour = 5e-5, kFive = 5e-6, kSix = 5e-7;
constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();

const LayerScale& layer(const EngineScale& scale, const std::string& type) {
  for (const LayerScale& known : scale.layers)
    if (known.type == type) return known;
  throw Error(Code::bad_value, "no layers of type " + type);
}

double rotary(const AttentionConfig& config, Engine engine, double n = 1.0) {
  return multiplier(engine_scale(config, engine).layers.front().rotary, n);
}

double other(const AttentionConfig& config, Engine engine, double n = 1.0) {
  return multiplier(engine_scale(config, engine).layers.front().other, n);
}

double unrotated(const AttentionConfig& config, Engine engine, double n, std::size_t length = 0) {
  return multiplier(layer(engine_scale(config, engine, length), "no rotation").other, n);
}

struct Extended {
  double extension, factor, yarn, longrope, llama4;
};

// s = n/n0 with n0 = 8192: YaRN's factor and multiplier, LongRoPE's, Llama 4's at position n − 1.
constexpr Extended kTable[] = {{2, 1.0693, 1.143, 1.077, 1.110},
                               {4, 1.1386, 1.296, 1.154, 1.161},
                               {16, 1.2773, 1.631, 1.308, 1.283},
                               {64, 1.4159, 2.005, 1.462, 1.417}};

TEST(EngineScale, ReproducesTheTableOfAllSchemes) {
  for (const Extended& row : kTable) {
    for (const Engine engine : engines()) {
      const double m = rotary(configs::yarn(row.extension), engine);
      EXPECT_NEAR(m, row.yarn, kThree) << name_of(engine);
      EXPECT_NEAR(std::sqrt(m), row.factor, kFour) << name_of(engine);
    }
    for (const Engine engine : {Engine::hf, Engine::vllm, Engine::sglang, Engine::llama_cpp})
      EXPECT_NEAR(rotary(configs::longrope(row.extension), engine), row.longrope, kThree)
          << name_of(engine);
    EXPECT_NEAR(unrotated(configs::llama4(), Engine::hf, row.extension * 8192.0), row.llama4,
                kThree);
  }
}

// mscale = mscale_all_dim: nothing on cos and sin, everything on the softmax scale.
TEST(EngineScale, ScalesTheSoftmaxOfDeepSeek) {
  for (const Engine engine : engines()) {
    const AttentionConfig v3 = configs::deepseek(1.0), v2 = configs::deepseek(0.707);
    EXPECT_NEAR(other(v3, engine), 1.87385, kFive) << name_of(engine);
    EXPECT_NEAR(rotary(v3, engine) / other(v3, engine), 1.0, kRounding) << name_of(engine);
    EXPECT_NEAR(std::sqrt(other(v3, engine)), 1.3689, kFour) << name_of(engine);
    EXPECT_NEAR(other(v2, engine), 1.58963, kFive) << name_of(engine);
    EXPECT_NEAR(rotary(v2, engine) / other(v2, engine), 1.0, kRounding) << name_of(engine);
  }
}

// SGLang cce0a124, layers/rotary_embedding/factory.py:284 and yarn.py:96-105.
TEST(EngineScale, TurnsMinistral3WithOneInHfAndMoreInVllm) {
  const auto factor = [](Engine engine) {
    return std::sqrt(rotary(configs::ministral3(), engine));
  };
  EXPECT_EQ(factor(Engine::hf), 1.0);
  EXPECT_NEAR(factor(Engine::vllm), 1.27726, kFive);
  EXPECT_EQ(factor(Engine::sglang), 1.0);
  EXPECT_NEAR(factor(Engine::llama_cpp), 1.0, kRounding);
  EXPECT_NEAR(factor(Engine::lmdeploy), 1.0, kRounding);
}

// The same lines: both keys count where they are there, zero or not. Hugging Face asks for truth.
TEST(EngineScale, CountsAZeroMscaleInSglang) {
  AttentionConfig config = configs::yarn(16.0);
  config.rope.mscale = 0.0;
  config.rope.mscale_all_dim = 0.0;
  EXPECT_EQ(rotary(config, Engine::sglang), 1.0);
  EXPECT_NEAR(rotary(config, Engine::hf), 1.631, kThree);
  config.rope.mscale_all_dim.reset();
  EXPECT_NEAR(rotary(config, Engine::sglang), 1.631, kThree);
}

TEST(EngineScale, TurnsLagunaWithOneInHfAndMoreInVllm) {
  const auto factor = [](Engine engine) { return std::sqrt(rotary(configs::laguna(), engine)); };
  EXPECT_EQ(factor(Engine::hf), 1.0);
  EXPECT_EQ(factor(Engine::sglang), 1.0);
  EXPECT_EQ(factor(Engine::lmdeploy), 1.0);
  EXPECT_NEAR(factor(Engine::vllm), 1.41589, kFive);
  EXPECT_NEAR(factor(Engine::llama_cpp), 1.41589, kFive);
  EXPECT_NEAR(factor(Engine::megatron), 1.41589, kFive);
  EXPECT_NEAR(rotary(configs::laguna(), Engine::vllm), 2.0, 5e-2);
}

// Positions 8190, 8191, 32767, 131071, 1048575.
TEST(EngineScale, TunesLlama4InLayersWithoutRotation) {
  const AttentionConfig config = configs::llama4();
  for (const Engine engine : {Engine::hf, Engine::vllm, Engine::sglang, Engine::llama_cpp}) {
    EXPECT_EQ(unrotated(config, engine, 8191.0), 1.0);
    EXPECT_NEAR(unrotated(config, engine, 8192.0), 1.069315, kSix);
    EXPECT_NEAR(unrotated(config, engine, 32768.0), 1.160944, kSix);
    EXPECT_NEAR(unrotated(config, engine, 131072.0), 1.283321, kSix);
    EXPECT_NEAR(unrotated(config, engine, 1048576.0), 1.485981, kSix);
    EXPECT_TRUE(layer(engine_scale(config, engine), "chunked attention").rotary.empty());
  }
}

TEST(EngineScale, TunesLlama4InVllmOnlyForLongDeployments) {
  const AttentionConfig config = configs::llama4();
  EXPECT_EQ(unrotated(config, Engine::vllm, 32768.0, 32768), 1.0);
  EXPECT_NEAR(unrotated(config, Engine::vllm, 32768.0, 32769), 1.160944, kSix);
  AttentionConfig off = config;
  off.temperature_tuning->enabled = false;
  EXPECT_EQ(unrotated(off, Engine::hf, 1048576.0), 1.0);
  EXPECT_NEAR(unrotated(off, Engine::vllm, 1048576.0), 1.485981, kSix);
}

TEST(EngineScale, KnowsNoOtherNumbersForLlama4InLlamaCpp) {
  AttentionConfig config = configs::llama4();
  config.temperature_tuning = TemperatureTuning{false, 4096.0, 0.2};
  EXPECT_NEAR(unrotated(config, Engine::llama_cpp, 32768.0), 1.160944, kSix);
}

// Positions 16383, 16384, 262143; the rotation is 1 in Hugging Face.
TEST(EngineScale, ScalesTheQueriesOfMinistral) {
  const AttentionConfig config = configs::ministral3();
  for (const Engine engine : {Engine::hf, Engine::llama_cpp}) {
    EXPECT_NEAR(rotary(config, engine, 16384.0), 1.0, kRounding);
    EXPECT_NEAR(rotary(config, engine, 16385.0), 1.069315, kSix);
    EXPECT_NEAR(rotary(config, engine, 262144.0), 1.277259, kSix);
  }
  EXPECT_EQ(other(config, Engine::vllm, 262144.0), 1.0);
  EXPECT_NEAR(other(config, Engine::sglang, 262144.0), 1.277259, kSix);
}

TEST(EngineScale, ReadsLlama4ScalingWhereTheEngineLooks) {
  AttentionConfig config = configs::ministral3();
  config.rope.llama4_beta.reset();
  config.llama4_scaling->nested = false;
  EXPECT_NEAR(other(config, Engine::vllm, 262144.0), 1.277259, kSix);
  EXPECT_EQ(other(config, Engine::hf, 262144.0), 1.0);
}

TEST(EngineScale, TakesAttentionFactorVerbatimInHf) {
  AttentionConfig config = configs::yarn(4.0);
  config.rope.attention_factor = 1.3;
  config.rope.mscale = config.rope.mscale_all_dim = 1.0;
  EXPECT_NEAR(rotary(config, Engine::hf), 1.69, kRounding);
  EXPECT_NEAR(rotary(config, Engine::lmdeploy), 1.69, kRounding);
  AttentionConfig extended = configs::longrope(4.0);
  extended.rope.attention_factor = 1.3;
  EXPECT_NEAR(rotary(extended, Engine::hf), 1.69, kRounding);
  EXPECT_NEAR(rotary(extended, Engine::vllm), 1.154, kThree);
}

// mscale alone is not read by Hugging Face; vLLM's DeepSeek takes 0 for its absent partner.
TEST(EngineScale, ReadsMscaleAloneOnlyInDeepSeeksOwnForm) {
  AttentionConfig config = configs::deepseek(2.0);
  config.rope.mscale_all_dim.reset();
  const double one = 1.0 + 0.1 * std::log(40.0), two = 1.0 + 0.2 * std::log(40.0);
  EXPECT_NEAR(rotary(config, Engine::hf), one * one, kRounding * 2.0);
  EXPECT_NEAR(rotary(config, Engine::vllm), two * two, kRounding * 4.0);
  EXPECT_EQ(other(config, Engine::hf), 1.0);
}

TEST(EngineScale, MultipliesByAttnFactorInVllmAndSglang) {
  AttentionConfig config = configs::yarn(4.0);
  config.rope.attn_factor = 0.5;
  const double factor = 0.5 * (1.0 + 0.1 * std::log(4.0));
  EXPECT_NEAR(rotary(config, Engine::vllm), factor * factor, kRounding);
  EXPECT_NEAR(rotary(config, Engine::sglang), factor * factor, kRounding);
  EXPECT_NEAR(rotary(config, Engine::hf), 1.296, kThree);
}

TEST(EngineScale, TakesLongRopesMscalesInVllmByTheLengthServed) {
  AttentionConfig config = configs::longrope(4.0);
  config.rope.short_mscale = 1.1;
  config.rope.long_mscale = 1.2;
  const auto served = [&](std::size_t length) {
    return multiplier(engine_scale(config, Engine::vllm, length).layers.front().rotary, 1.0);
  };
  EXPECT_NEAR(served(8192), 1.21, kRounding);
  EXPECT_NEAR(served(8193), 1.44, kRounding);
}

// ---- llama.cpp's metadata --------------------------------------------------------------------

TEST(LlamaCpp, IgnoresYarnAttnFactorButReadsAttnFactor) {
  AttentionConfig config = configs::yarn(64.0);
  config.gguf_yarn_attn_factor = 0.5;
  EXPECT_NEAR(rotary(config, Engine::llama_cpp), 2.005, kThree);
  config.gguf_attn_factor = 0.5;
  EXPECT_NEAR(rotary(config, Engine::llama_cpp), 2.0048 / 4.0, kThree / 4.0);
}

TEST(LlamaCpp, HasTwoMeaningsOfTheLogMultiplier) {
  AttentionConfig latent = configs::deepseek(0.707);
  latent.rope.mscale.reset();
  latent.rope.mscale_all_dim.reset();
  latent.gguf_yarn_log_multiplier = 0.0707;
  EXPECT_NEAR(other(latent, Engine::llama_cpp), 1.58963, kFive);
  AttentionConfig mistral = configs::yarn(16.0, 16384);
  mistral.model_type = "mistral3";
  mistral.gguf_yarn_log_multiplier = 1.0;
  EXPECT_NEAR(rotary(mistral, Engine::llama_cpp), 1.0, kRounding);
}

// Without a log multiplier the factor goes on cos and sin and, in deepseek2, once more on all.
TEST(LlamaCpp, ScalesDeepSeekTwiceWithoutALogMultiplier) {
  AttentionConfig config = configs::deepseek(1.0);
  config.rope.mscale.reset();
  config.rope.mscale_all_dim.reset();
  EXPECT_NEAR(other(config, Engine::llama_cpp), 1.87385, kFive);
  EXPECT_NEAR(rotary(config, Engine::llama_cpp), 1.87385 * 1.87385, 4.0 * kFive);
}

TEST(LlamaCpp, ReadsTemperatureScaleAndBaseScale) {
  AttentionConfig config = configs::yarn(16.0, 16384);
  config.model_type = "mistral3";
  config.gguf_temperature_scale = 0.1;
  config.gguf_attention_scale = 0.25;
  EXPECT_NEAR(other(config, Engine::llama_cpp, 262144.0), 1.277259, kSix);
  EXPECT_EQ(engine_scale(config, Engine::llama_cpp).layers.front().base_scale, 0.25);
  EXPECT_NE(engine_scale(config, Engine::hf).layers.front().base_scale, 0.25);
}

TEST(LlamaCpp, LoadsGroksTemperatureAndDoesNotUseIt) {
  AttentionConfig config = configs::grok2();
  config.gguf_temperature_length = 1024.0;
  EXPECT_EQ(rotary(config, Engine::llama_cpp, 131072.0), 1.0);
  EXPECT_NEAR(rotary(config, Engine::sglang, 1048576.0), 2.0, 2.0 * kRounding);
  EXPECT_EQ(rotary(config, Engine::sglang, 1024.0), 1.0);
}

TEST(LlamaCpp, TakesGroksYarnFactorOnlyWhereYarnIsOff) {
  AttentionConfig config = configs::yarn(16.0);
  config.model_type = "grok";
  config.gguf_yarn_attn_factor = 1.5;
  EXPECT_NEAR(rotary(config, Engine::llama_cpp), 1.631, kThree);
  config.gguf_yarn_ext_factor = 0.0;
  EXPECT_NEAR(rotary(config, Engine::llama_cpp), 2.25, kRounding);
}

// ---- schedules over positions ----------------------------------------------------------------

TEST(EngineScale, HasLogNInHfAndLmdeployOnly) {
  const AttentionConfig config = configs::qwen1();
  const double expected = std::log(32768.0) / std::log(8192.0);
  EXPECT_NEAR(rotary(config, Engine::hf, 32768.0), expected, kRounding);
  EXPECT_NEAR(rotary(config, Engine::lmdeploy, 32768.0), expected, kRounding);
  for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::llama_cpp})
    EXPECT_EQ(rotary(config, engine, 32768.0), 1.0) << name_of(engine);
}

TEST(EngineScale, CoolsInklingsFullLayersOnly) {
  const EngineScale scale = engine_scale(configs::inkling(), Engine::hf);
  EXPECT_NEAR(multiplier(layer(scale, "full attention").rotary, 1048576.0),
              1.0 + 0.1 * std::log(1048576.0 / 128000.0), kRounding);
  EXPECT_TRUE(layer(scale, "sliding window").rotary.empty());
}

TEST(EngineScale, HasScalableSoftmaxWhereAxolotlPatchedIt) {
  EXPECT_NEAR(rotary(configs::ssmax(), Engine::hf, 131072.0), 5.07, 5e-3);
  for (const Engine engine :
       {Engine::vllm, Engine::sglang, Engine::llama_cpp, Engine::megatron, Engine::lmdeploy})
    EXPECT_EQ(rotary(configs::ssmax(), engine, 131072.0), 1.0) << name_of(engine);
}

// ---- base scales and layers ------------------------------------------------------------------

TEST(EngineScale, ReadsTheBaseScaleOfTheModel) {
  const auto base = [](const AttentionConfig& config) {
    return engine_scale(config, Engine::vllm).layers.front().base_scale;
  };
  AttentionConfig config = configs::plain();
  EXPECT_EQ(base(config), 1.0 / std::sqrt(128.0));
  config.query_pre_attn_scalar = 256.0;
  EXPECT_EQ(base(config), 1.0 / 16.0);
  config.attention_multiplier = 0.0078125;
  EXPECT_EQ(base(config), 0.0078125);
  AttentionConfig gpt2 = configs::plain();
  gpt2.scale_attention_weights = false;
  EXPECT_EQ(base(gpt2), 1.0);
}

TEST(EngineScale, DividesTheBaseScaleByTheLayerWhereGpt2Asks) {
  AttentionConfig config = configs::plain();
  config.head_dimension = 64;
  config.rope.kind = RopeKind::none;
  config.scale_by_inverse_layer = true;
  const EngineScale scale = engine_scale(config, Engine::hf);
  ASSERT_EQ(scale.layers.size(), 4U);
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_EQ(scale.layers[l].base_scale, 0.125 / static_cast<double>(l + 1));
    EXPECT_FALSE(scale.layers[l].has_rotary);
    EXPECT_TRUE(scale.layers[l].has_other);
  }
}

// Property (1).
TEST(EngineScale, PutsEveryLayerIntoOneGroup) {
  for (const AttentionConfig& config : {configs::llama4(), configs::inkling(), configs::plain()}) {
    std::set<std::size_t> seen;
    for (const LayerScale& group : engine_scale(config, Engine::hf).layers)
      for (const std::size_t l : group.layers) EXPECT_TRUE(seen.insert(l).second);
    EXPECT_EQ(seen.size(), config.layers);
  }
}

// Property (2).
TEST(EngineScale, MarksFactorsSetOnce) {
  for (const Schedule& schedule :
       engine_scale(configs::ministral3(), Engine::vllm).layers[0].rotary)
    EXPECT_TRUE(schedule.static_factor);
  const LayerScale& layers = engine_scale(configs::ministral3(), Engine::hf).layers[0];
  ASSERT_EQ(layers.rotary.size(), 1U);
  EXPECT_FALSE(layers.rotary[0].static_factor);
}

// Property (3).
TEST(EngineScale, LeavesAPlainModelAlone) {
  for (const Engine engine : engines()) {
    const EngineScale scale = engine_scale(configs::plain(), engine);
    ASSERT_EQ(scale.layers.size(), 1U);
    EXPECT_TRUE(scale.layers[0].rotary.empty());
    EXPECT_TRUE(scale.layers[0].other.empty());
    EXPECT_EQ(scale.layers[0].base_scale, 1.0 / std::sqrt(128.0));
    EXPECT_FALSE(scale.layers[0].has_other);
    EXPECT_TRUE(scale.notes.empty()) << name_of(engine);
  }
}

TEST(EngineScale, TakesTheLocalRotationForSlidingLayers) {
  AttentionConfig config = configs::yarn(16.0);
  config.layer_types = {"sliding_attention", "full_attention", "sliding_attention",
                        "full_attention"};
  config.local_rope = RopeScaling{};
  const EngineScale scale = engine_scale(config, Engine::hf);
  EXPECT_TRUE(layer(scale, "sliding window").rotary.empty());
  EXPECT_NEAR(multiplier(layer(scale, "full attention").rotary, 1.0), 1.631, kThree);
}

TEST(EngineScale, SaysWhereAnEngineWasNotRead) {
  EXPECT_EQ(engine_scale(configs::qwen1(), Engine::megatron).unverified, "qwen not read there");
  EXPECT_EQ(engine_scale(configs::qwen1(), Engine::lmdeploy).unverified, "");
  EXPECT_EQ(engine_scale(configs::longrope(4.0), Engine::megatron).unverified,
            "longrope not read there");
  for (const Engine engine : engines())
    EXPECT_EQ(engine_scale(configs::plain(), engine).unverified, "") << name_of(engine);
}

TEST(EngineScale, KnowsHowManyKeysALayerSees) {
  AttentionConfig config = configs::inkling();
  config.sliding_window = 512;
  const EngineScale scale = engine_scale(config, Engine::hf);
  EXPECT_EQ(layer(scale, "sliding window").most_keys, 512U);
  EXPECT_EQ(layer(scale, "full attention").most_keys, 0U);
  AttentionConfig chunked = configs::llama4();
  chunked.attention_chunk = 8192;
  EXPECT_EQ(layer(engine_scale(chunked, Engine::hf), "chunked attention").most_keys, 8192U);
}

TEST(EngineScale, RefusesAHeadWithoutCoordinates) {
  AttentionConfig config = configs::plain();
  config.head_dimension = 0;
  EXPECT_THROW((void)engine_scale(config, Engine::hf), Error);
}

TEST(Engine, HasANameThatParses) {
  for (const Engine engine : engines()) EXPECT_EQ(parse_engine(name_of(engine)), engine);
  EXPECT_THROW((void)parse_engine("tgi"), Error);
}

}  // namespace
}  // namespace dewpoint::scaling
