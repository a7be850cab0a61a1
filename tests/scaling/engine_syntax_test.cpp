// Exports, read back: the keys in a text, put into an AttentionConfig by hand, must give the
// multiplier that was asked for.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/engine_syntax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/core/error.hpp"
#include "scaling/model_configs.hpp"

namespace dewpoint::scaling {
namespace {

using nlohmann::json;

ExportRequest constant(double value, double target) {
  ExportRequest request;
  request.schedule.value = value;
  request.target_length = target;
  return request;
}

bool warns(const EngineExport& result, const std::string& text) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

// What stands between the quotes that follow a flag; all of it where there is no flag.
json keys_of(const std::string& text, const std::string& flag = "") {
  if (flag.empty()) return json::parse(text);
  const std::size_t open = text.find('\'', text.find(flag));
  const std::size_t close = text.find('\'', open + 1);
  return json::parse(text.substr(open + 1, close - open - 1));
}

std::optional<double> number(const json& object, const char* key) {
  return object.contains(key) ? std::optional(object.at(key).get<double>()) : std::nullopt;
}

// A rotation as a reader of configurations would take it.
RopeScaling rope_of(const json& object) {
  RopeScaling rope;
  rope.kind = parse_rope_kind(object.at("rope_type"));
  rope.base = object.at("rope_theta");
  rope.factor = number(object, "factor").value_or(1.0);
  rope.original_length = object.at("original_max_position_embeddings");
  rope.attention_factor = number(object, "attention_factor");
  rope.attn_factor = number(object, "attn_factor");
  rope.mscale = number(object, "mscale");
  rope.mscale_all_dim = number(object, "mscale_all_dim");
  rope.short_mscale = number(object, "short_mscale");
  rope.long_mscale = number(object, "long_mscale");
  rope.llama4_beta = number(object, "llama_4_scaling_beta");
  if (object.contains("long_factor"))
    rope.long_factor = object.at("long_factor").get<std::vector<double>>();
  if (object.contains("short_factor"))
    rope.short_factor = object.at("short_factor").get<std::vector<double>>();
  return rope;
}

double value_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  EXPECT_NE(at, std::string::npos) << key << " in " << text;
  return std::stod(text.substr(at + key.size()));
}

// The configuration that an engine would see after following the export.
AttentionConfig followed(AttentionConfig config, const EngineExport& result) {
  const std::string& text = result.text;
  const auto take_rope = [&](const json& keys, const char* key) {
    config.rope = rope_of(keys.at(key));
    config.max_positions =
        std::max(config.max_positions,
                 static_cast<std::size_t>(config.rope.factor *
                                          static_cast<double>(config.rope.original_length)));
  };
  switch (result.engine) {
    case Engine::hf:
    case Engine::lmdeploy:
      take_rope(keys_of(text), "rope_parameters");
      break;
    case Engine::vllm:
      take_rope(keys_of(text, "--hf-overrides"), "rope_parameters");
      break;
    case Engine::sglang:
      take_rope(keys_of(text, "--json-model-override-args"), "rope_scaling");
      break;
    case Engine::llama_cpp:
      if (text.find("--rope-scaling yarn") != std::string::npos) {
        config.rope.kind = RopeKind::yarn;
        config.rope.factor = value_after(text, "--rope-scale ");
        config.rope.original_length =
            static_cast<std::size_t>(value_after(text, "--yarn-orig-ctx "));
      }
      if (text.find("rope.scaling.attn_factor") != std::string::npos)
        config.gguf_attn_factor = value_after(text, "rope.scaling.attn_factor=float:");
      if (text.find("yarn_log_multiplier") != std::string::npos)
        config.gguf_yarn_log_multiplier = value_after(text, "yarn_log_multiplier=float:");
      // Without YaRN the flag is what the key is: a factor on cos and sin.
      if (text.find("--yarn-attn-factor") != std::string::npos)
        config.gguf_attn_factor = value_after(text, "--yarn-attn-factor ");
      break;
    case Engine::megatron:
      if (text.find("softmax_scale=") == 0) {
        config.attention_multiplier = value_after(text, "softmax_scale=");
        break;
      }
      config.rope.kind = RopeKind::yarn;
      config.rope.attention_factor.reset();
      config.rope.factor = value_after(text, "rotary_scaling_factor=");
      config.rope.mscale = value_after(text, "mscale=");
      config.rope.mscale_all_dim = value_after(text, "mscale_all_dim=");
      break;
  }
  return config;
}

// Multipliers of both sorts of coordinates, with a base scale that was changed counted in.
void expect_multiplier(const AttentionConfig& before, const EngineExport& result, double m,
                       double n) {
  const AttentionConfig config = followed(before, result);
  const LayerScale scale =
      engine_scale(config, result.engine, static_cast<std::size_t>(n)).layers.front();
  const double base = engine_scale(before, result.engine).layers.front().base_scale;
  const double changed = scale.base_scale / base;
  EXPECT_NEAR(changed * multiplier(scale.rotary, n), m, kExportError * m)
      << name_of(result.engine) << ": " << result.text;
  if (scale.has_other) {
    EXPECT_NEAR(changed * multiplier(scale.other, n), m, kExportError * m)
        << name_of(result.engine) << ": " << result.text;
  }
}

// Properties (1) and (2). A base scale of 1/√128 = 0.088 with six decimals is known to 6e-6 of
// itself; Megatron's m = 1.3 there is rounded accordingly.
TEST(EngineSyntax, GivesBackTheMultiplier) {
  for (const double m : {0.8, 1.0, 1.3, 2.2})
    for (const AttentionConfig& config :
         {configs::yarn(16.0), configs::yarn(64.0, 4096), configs::laguna(), configs::plain(),
          configs::deepseek(1.0), configs::deepseek(0.707)}) {
      const double target = static_cast<double>(config.max_positions);
      for (const EngineExport& result : export_schedules(config, constant(m, target))) {
        if (!result.exact) continue;
        ASSERT_FALSE(result.text.empty());
        if (result.text.find("softmax_scale=") == 0) continue;
        expect_multiplier(config, result, m, target);
      }
    }
}

// Everything but this is exact: llama.cpp has no log multiplier of zero.
TEST(EngineSyntax, IsExactForWhatTurnsAllItsCoordinates) {
  for (const AttentionConfig& config :
       {configs::yarn(16.0), configs::laguna(), configs::plain(), configs::deepseek(1.0)})
    for (const EngineExport& result :
         export_schedules(config, constant(1.3, static_cast<double>(config.max_positions))))
      EXPECT_TRUE(result.exact) << name_of(result.engine) << ": " << result.text;
  const EngineExport zero =
      export_schedule(configs::deepseek(1.0), Engine::llama_cpp, constant(1.0, 163840.0));
  EXPECT_FALSE(zero.exact);
  EXPECT_TRUE(zero.text.empty());
}

TEST(EngineSyntax, ExtendsAPlainRotationToTheTarget) {
  for (const EngineExport& result : export_schedules(configs::plain(), constant(1.5, 32768.0))) {
    EXPECT_TRUE(result.exact) << name_of(result.engine);
    expect_multiplier(configs::plain(), result, 1.5, 32768.0);
    const AttentionConfig config = followed(configs::plain(), result);
    EXPECT_EQ(config.rope.factor, 4.0) << name_of(result.engine);
  }
}

TEST(EngineSyntax, WritesHuggingFacesFragment) {
  const EngineExport result =
      export_schedule(configs::yarn(4.0), Engine::hf, constant(1.44, 32768.0));
  EXPECT_EQ(result.text,
            R"({"rope_parameters":{"rope_type":"yarn","rope_theta":10000.0,"factor":4.0,)"
            R"("original_max_position_embeddings":8192,"attention_factor":1.2}})");
}

TEST(EngineSyntax, DividesVllmsOwnFactorOut) {
  const EngineExport result =
      export_schedule(configs::laguna(), Engine::vllm, constant(1.0, 262144.0));
  EXPECT_EQ(keys_of(result.text, "--hf-overrides")["rope_parameters"]["attn_factor"], 0.70627);
  EXPECT_FALSE(
      keys_of(result.text, "--hf-overrides")["rope_parameters"].contains("attention_factor"));
  EXPECT_TRUE(warns(result, "attention_factor would be dropped"));
}

TEST(EngineSyntax, WarnsThatLlamaCppOverwritesItsFlag) {
  const EngineExport with_yarn =
      export_schedule(configs::yarn(16.0), Engine::llama_cpp, constant(1.0, 131072.0));
  EXPECT_EQ(with_yarn.text, "--override-kv llama.rope.scaling.attn_factor=float:0.782927");
  EXPECT_TRUE(warns(with_yarn, "--yarn-attn-factor is overwritten"));
  const EngineExport without =
      export_schedule(configs::plain(), Engine::llama_cpp, constant(1.44, 8192.0));
  EXPECT_EQ(without.text, "--yarn-attn-factor 1.2");
}

// llama.cpp b21e4de7, src/llama-arch.cpp:5-160: its names are not Hugging Face's model_type.
TEST(EngineSyntax, PutsLlamaCppsNameBeforeItsKeys) {
  const auto prefix = [](AttentionConfig config, const std::string& type) {
    config.model_type = type;
    const std::string text =
        export_schedule(config, Engine::llama_cpp,
                        constant(1.3, static_cast<double>(config.max_positions)))
            .text;
    const std::size_t first = text.find("--override-kv ") + 14;
    return text.substr(first, text.find('.', first) - first);
  };
  const AttentionConfig yarn = configs::yarn(16.0), latent = configs::deepseek(1.0);
  EXPECT_EQ(prefix(yarn, "llama"), "llama");
  EXPECT_EQ(prefix(yarn, "qwen3_moe"), "qwen3moe");
  EXPECT_EQ(prefix(yarn, "gpt_oss"), "gpt-oss");
  EXPECT_EQ(prefix(yarn, "gemma3_text"), "gemma3");
  EXPECT_EQ(prefix(yarn, "olmo3"), "olmo2");
  EXPECT_EQ(prefix(yarn, "olmo2"), "olmo2");
  EXPECT_EQ(prefix(latent, "deepseek_v3"), "deepseek2");
  EXPECT_EQ(prefix(latent, "deepseek_v32"), "deepseek32");
  EXPECT_EQ(prefix(latent, "glm_moe_dsa"), "glm-dsa");
  EXPECT_EQ(prefix(latent, "mistral4"), "mistral4");
}

TEST(EngineSyntax, IsNotExactWhereAnEngineWasNotRead) {
  const AttentionConfig config = configs::longrope(4.0);
  const EngineExport result = export_schedule(config, Engine::megatron, constant(1.3, 32768.0));
  EXPECT_FALSE(result.exact);
  EXPECT_TRUE(warns(result, "not verified for this model: longrope not read there"));
}

TEST(EngineSyntax, KeepsLongRopesLists) {
  const AttentionConfig config = configs::longrope(4.0);
  for (const Engine engine : {Engine::hf, Engine::vllm, Engine::sglang, Engine::llama_cpp}) {
    const EngineExport result = export_schedule(config, engine, constant(1.3, 32768.0));
    EXPECT_TRUE(result.exact) << name_of(engine);
    expect_multiplier(config, result, 1.3, 32768.0);
    if (engine != Engine::llama_cpp) {
      EXPECT_EQ(followed(config, result).rope.long_factor, config.rope.long_factor);
    }
  }
  EXPECT_TRUE(export_schedule(config, Engine::lmdeploy, constant(1.3, 32768.0)).text.empty());
}

// Frequencies of another kind have no room for a factor, but for llama.cpp's flag.
TEST(EngineSyntax, SaysWhatCannotBeExpressed) {
  AttentionConfig llama3 = configs::yarn(8.0);
  llama3.rope.kind = RopeKind::llama3;
  const EngineExport hf = export_schedule(llama3, Engine::hf, constant(1.2, 65536.0));
  EXPECT_FALSE(hf.exact);
  EXPECT_TRUE(warns(hf, "llama3 has no key for a factor"));
  const EngineExport flag = export_schedule(llama3, Engine::llama_cpp, constant(1.44, 65536.0));
  EXPECT_TRUE(flag.exact);
  EXPECT_EQ(flag.text, "--yarn-attn-factor 1.2");

  AttentionConfig partial = configs::plain();
  partial.rotary_dimension = 32;
  partial.rope.rotary_share = 0.25;
  const EngineExport some = export_schedule(partial, Engine::hf, constant(1.2, 8192.0));
  EXPECT_FALSE(some.exact);
  EXPECT_TRUE(warns(some, "32 of 128 coordinates"));

  AttentionConfig gpt2 = configs::plain();
  gpt2.rope.kind = RopeKind::none;
  EXPECT_TRUE(export_schedule(gpt2, Engine::hf, constant(1.2, 8192.0)).text.empty());
}

TEST(EngineSyntax, UsesTheBaseScaleWhereItIsAKey) {
  AttentionConfig granite = configs::plain();
  granite.model_type = "granite";
  granite.attention_multiplier = 0.0078125;
  EXPECT_EQ(export_schedule(granite, Engine::hf, constant(2.0, 8192.0)).text,
            R"({"attention_multiplier":0.015625})");
  EXPECT_EQ(export_schedule(granite, Engine::llama_cpp, constant(2.0, 8192.0)).text,
            "--override-kv granite.attention.scale=float:0.015625");
  AttentionConfig gemma = configs::plain();
  gemma.query_pre_attn_scalar = 256.0;
  EXPECT_EQ(export_schedule(gemma, Engine::vllm, constant(2.0, 8192.0)).text,
            R"(--hf-overrides '{"query_pre_attn_scalar":64.0}')");
}

// A rounding of 5e-7 in 0.088 is 6e-6 of it.
TEST(EngineSyntax, GivesMegatronASoftmaxScale) {
  const EngineExport result =
      export_schedule(configs::plain(), Engine::megatron, constant(1.3, 8192.0));
  EXPECT_NEAR(value_after(result.text, "softmax_scale="), 1.3 / std::sqrt(128.0), 5e-7);
  AttentionConfig unknown = configs::plain();
  unknown.head_dimension = unknown.rotary_dimension = 0;
  EXPECT_TRUE(export_schedule(unknown, Engine::megatron, constant(1.3, 8192.0)).text.empty());
  EXPECT_FALSE(export_schedule(unknown, Engine::megatron, constant(1.3, 16384.0)).text.empty());
}

// ---- schedules over positions ----------------------------------------------------------------

TEST(EngineSyntax, TakesOneFactorFromAScheduleAndSaysSo) {
  ExportRequest request = constant(1.0, 131072.0);
  request.schedule = named_schedule("inkling", 8192.0);
  const EngineExport result = export_schedule(configs::yarn(16.0), Engine::hf, request);
  EXPECT_FALSE(result.exact);
  EXPECT_TRUE(warns(result, "one factor for all positions: m = 1.277"));
  EXPECT_NEAR(keys_of(result.text)["rope_parameters"]["attention_factor"].get<double>(),
              std::sqrt(1.0 + 0.1 * std::log(16.0)), 5e-7);
  request.schedule = named_schedule("yarn", 8192.0);
  EXPECT_TRUE(export_schedule(configs::yarn(16.0), Engine::hf, request).exact);
}

TEST(EngineSyntax, SpeaksMinistralsKeys) {
  const AttentionConfig config = configs::ministral3();
  ExportRequest request = constant(1.0, 262144.0);
  request.schedule = named_schedule("ministral:slope=0.2", 16384.0);
  for (const Engine engine : {Engine::hf, Engine::vllm, Engine::sglang}) {
    const EngineExport result = export_schedule(config, engine, request);
    EXPECT_TRUE(result.exact) << name_of(engine);
    const char* flag = engine == Engine::hf     ? ""
                       : engine == Engine::vllm ? "--hf-overrides"
                                                : "--json-model-override-args";
    const json keys = keys_of(result.text, flag);
    AttentionConfig told = config;
    told.llama4_scaling.reset();
    told.rope = rope_of(keys.at("rope_parameters"));
    if (keys.contains("llama_4_scaling"))
      told.llama4_scaling =
          Llama4Scaling{keys["llama_4_scaling"]["beta"],
                        keys["llama_4_scaling"]["original_max_position_embeddings"], false};
    const LayerScale scale = engine_scale(told, engine).layers.front();
    for (const double n : {100.0, 16384.0, 16385.0, 262144.0})
      EXPECT_NEAR(multiplier(scale.rotary, n), multiplier(request.schedule, n), 2.0 * kExportError)
          << name_of(engine) << ' ' << n;
  }
  EXPECT_EQ(export_schedule(config, Engine::llama_cpp, request).text,
            "--override-kv mistral3.attention.temperature_scale=float:0.2");
  AttentionConfig latent = config;
  latent.model_type = "mistral4";
  latent.latent_attention = true;
  EXPECT_EQ(export_schedule(latent, Engine::llama_cpp, request).text,
            "--override-kv mistral4.attention.temperature_scale=float:0.2 "
            "--override-kv mistral4.attention.temperature_length=int:16384");
}

TEST(EngineSyntax, SpeaksLlama4sKeys) {
  ExportRequest request = constant(1.0, 131072.0);
  request.schedule = named_schedule("llama-4:slope=0.15", 4096.0);
  const EngineExport result = export_schedule(configs::llama4(), Engine::hf, request);
  EXPECT_TRUE(result.exact);
  const json keys = keys_of(result.text);
  AttentionConfig told = configs::llama4();
  told.temperature_tuning =
      TemperatureTuning{keys["attn_temperature_tuning"], keys["floor_scale"], keys["attn_scale"]};
  const EngineScale scale = engine_scale(told, Engine::hf);
  for (const double n : {4095.0, 4096.0, 131072.0})
    EXPECT_NEAR(multiplier(scale.layers.back().other, n), multiplier(request.schedule, n),
                kExportError);
  EXPECT_EQ(export_llama4_keys(configs::llama4(), request).text, result.text);
}

TEST(EngineSyntax, SaysWhenLlama4sKeysDoNotFit) {
  ExportRequest request = constant(1.0, 131072.0);
  request.schedule = named_schedule("inkling", 4096.0);
  const EngineExport smooth = export_llama4_keys(configs::llama4(), request);
  EXPECT_FALSE(smooth.exact);
  EXPECT_TRUE(warns(smooth, "step at whole multiples of 4096"));
  EXPECT_FALSE(export_llama4_keys(configs::plain(), request).exact);
  request.schedule = named_schedule("sqrt-log", 4096.0);
  EXPECT_TRUE(export_llama4_keys(configs::llama4(), request).text.empty());
}

TEST(EngineSyntax, UsesLmdeploysOwnLogarithm) {
  ExportRequest request = constant(1.0, 32768.0);
  request.schedule = named_schedule("log-n", 8192.0);
  const EngineExport result = export_schedule(configs::plain(), Engine::lmdeploy, request);
  EXPECT_EQ(result.text, "--use-logn-attn");
  EXPECT_TRUE(result.exact);
  request.schedule.n0 = 4096.0;
  EXPECT_FALSE(export_schedule(configs::plain(), Engine::lmdeploy, request).exact);
}

// Property (3).
TEST(EngineSyntax, MarksWhatWasNotFitted) {
  ExportRequest request = constant(1.1, 32768.0);
  request.fitted_from = 512.0;
  request.fitted_to = 16384.0;
  for (const EngineExport& result : export_schedules(configs::plain(), request)) {
    ASSERT_FALSE(result.warnings.empty());
    EXPECT_EQ(result.warnings.back().rfind("extrapolated: fitted on n = 512 to 16384", 0), 0U);
  }
  request.target_length = 16384.0;
  for (const EngineExport& result : export_schedules(configs::plain(), request))
    EXPECT_FALSE(warns(result, "extrapolated"));
}

TEST(EngineSyntax, RefusesWhatCannotBeAMultiplier) {
  EXPECT_THROW((void)export_schedule(configs::plain(), Engine::hf, constant(0.0, 8192.0)), Error);
  EXPECT_THROW((void)export_schedule(configs::plain(), Engine::hf, constant(1.1, 0.0)), Error);
  AttentionConfig nothing = configs::plain();
  nothing.max_positions = 0;
  EXPECT_THROW((void)export_schedule(nothing, Engine::hf, constant(1.1, 8192.0)), Error);
}

}  // namespace
}  // namespace dewpoint::scaling
