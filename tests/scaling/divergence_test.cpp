// Each disagreement between engines fires on a model that has it, and on no plain one.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dewpoint/scaling/engine.hpp"
#include "scaling/model_configs.hpp"

namespace dewpoint::scaling {
namespace {

std::set<std::string> ids(const AttentionConfig& config, std::size_t length = 0) {
  std::set<std::string> result;
  for (const Divergence& divergence : divergences(config, length)) result.insert(divergence.id);
  return result;
}

std::string title(const AttentionConfig& config, const std::string& id, std::size_t length = 0) {
  for (const Divergence& divergence : divergences(config, length))
    if (divergence.id == id) return divergence.title;
  return "";
}

AttentionConfig with_attn_factor() {
  AttentionConfig config = configs::yarn(4.0);
  config.rope.attn_factor = 0.9;
  return config;
}

AttentionConfig with_mscale_alone() {
  AttentionConfig config = configs::deepseek(2.0);
  config.rope.mscale_all_dim.reset();
  return config;
}

AttentionConfig olmo3() {
  AttentionConfig config = configs::yarn(8.0);
  config.model_type = "olmo3";
  return config;
}

AttentionConfig with_other_tuning() {
  AttentionConfig config = configs::llama4();
  config.temperature_tuning->floor_scale = 4096.0;
  return config;
}

AttentionConfig with_top_level_scaling() {
  AttentionConfig config = configs::ministral3();
  config.rope.llama4_beta.reset();
  config.llama4_scaling->nested = false;
  return config;
}

AttentionConfig with_another_length() {
  AttentionConfig config = configs::ministral3();
  config.rope.original_length = 8192;
  config.llama4_scaling->original_length = 8192.0;
  return config;
}

AttentionConfig mistral4() {
  AttentionConfig config = configs::ministral3();
  config.model_type = "mistral4";
  config.latent_attention = true;
  config.head_dimension = 192;
  config.rotary_dimension = 64;
  return config;
}

struct Example {
  AttentionConfig has, has_not;
  std::size_t length = 0;
};

// For every id a model that has it and one that is as close as can be and has it not.
std::map<std::string, Example> examples() {
  const AttentionConfig plain = configs::plain(), yarn = configs::yarn(64.0);
  AttentionConfig agreed = yarn;
  agreed.rope.attention_factor = 1.0 + 0.1 * std::log(64.0);
  const AttentionConfig one_mscale = configs::deepseek(1.0);
  return {
      {"vllm-drops-attention-factor", {configs::laguna(), agreed}},
      {"vllm-attn-factor-multiplies", {with_attn_factor(), yarn}},
      {"vllm-ignores-mscale", {configs::ministral3(), one_mscale}},
      {"mscale-without-its-partner", {with_mscale_alone(), one_mscale}},
      {"sglang-drops-attention-factor",
       {[] {
          AttentionConfig config = configs::laguna();
          config.model_type = "llama";
          return config;
        }(),
        configs::laguna()}},
      {"sglang-laguna-divides-out", {configs::laguna(), yarn}},
      {"megatron-has-no-attention-factor", {configs::laguna(), agreed}},
      {"llama-cpp-overwrites-yarn-attn-factor", {yarn, configs::longrope(4.0)}},
      {"llama-cpp-drops-attention-factor", {configs::laguna(), agreed}},
      {"llama-cpp-converter-writes-unread-key", {configs::laguna(), yarn}},
      {"llama-cpp-ignores-mscale",
       {[] {
          AttentionConfig config = configs::yarn(16.0);
          config.rope.mscale = config.rope.mscale_all_dim = 1.0;
          return config;
        }(),
        configs::ministral3()}},
      {"llama-cpp-yarn-log-multiplier-two-meanings", {one_mscale, yarn}},
      {"lmdeploy-refuses-longrope", {configs::longrope(4.0), yarn}},
      {"transformerlens-yarn-defaults-to-one", {olmo3(), yarn}},
      {"static-factor-on-short-text",
       {yarn,
        [] {  // trained with its extension: to serve it without would be wrong
          AttentionConfig config = configs::yarn(32.0, 4096);
          config.model_type = "gpt_oss";
          return config;
        }()}},
      {"vllm-llama-4-tuning-by-length", {configs::llama4(), plain, 32768}},
      {"llama-cpp-llama-4-hard-coded", {with_other_tuning(), configs::llama4()}},
      {"hf-llama-4-positions-from-arange", {configs::llama4(), plain}},
      {"vllm-ignores-nested-llama-4-scaling", {configs::ministral3(), with_top_level_scaling()}},
      {"hf-ignores-top-level-llama-4-scaling", {with_top_level_scaling(), configs::ministral3()}},
      {"sglang-ministral-fixed-length", {with_another_length(), configs::ministral3()}},
      {"llama-cpp-mistral-4-drops-temperature", {mistral4(), configs::ministral3()}},
      {"logn-missing-in-vllm", {configs::qwen1(), plain}},
      {"logn-missing-in-sglang", {configs::qwen1(), plain}},
      {"logn-missing-in-llama-cpp", {configs::qwen1(), plain}},
      {"llama-cpp-grok-temperature-unused", {configs::grok2(), plain}},
      {"vllm-grok-temperature-missing", {configs::grok2(), plain}},
      {"ssmax-docstring-has-the-sign-reversed", {configs::ssmax(), plain}},
      {"ssmax-subtracted-cancels", {configs::ssmax(), plain}},
      {"ssmax-tensor-length", {configs::ssmax(), plain}},
      {"ssmax-not-served", {configs::ssmax(), plain}}};
}

TEST(Divergences, FireWhereTheyAreAndNotWhereTheyAreNot) {
  for (const auto& [id, example] : examples()) {
    EXPECT_TRUE(ids(example.has, example.length).contains(id)) << id;
    EXPECT_FALSE(ids(example.has_not, example.length).contains(id)) << id;
  }
}

// An id without an example would be one that nobody tried.
TEST(Divergences, AreAllTriedHere) {
  const auto tried = examples();
  EXPECT_EQ(known_divergences().size(), tried.size());
  for (const KnownDivergence& known : known_divergences()) {
    EXPECT_TRUE(tried.contains(known.id)) << known.id;
    EXPECT_GT(known.explanation.size(), 80U) << known.id;
  }
}

// Property (2).
TEST(Divergences, LeaveAPlainModelAlone) {
  EXPECT_TRUE(divergences(configs::plain()).empty());
  EXPECT_TRUE(divergences(configs::plain(), 1048576).empty());
}

// Property (1): both numbers, of this model.
TEST(Divergences, GiveTheNumbersOfTheModel) {
  EXPECT_EQ(title(configs::laguna(), "vllm-drops-attention-factor"),
            "m = 2.005 in vllm, 1 in hf (full attention, rotary coordinates)");
  EXPECT_EQ(title(configs::ministral3(), "vllm-ignores-mscale"),
            "m = 1.631 in vllm, 1 in hf (full attention, rotary coordinates)");
  EXPECT_EQ(title(configs::ministral3(), "vllm-ignores-nested-llama-4-scaling"),
            "m = 1 in vllm, 1.277 in hf at n = 262144 (full attention, rotary coordinates)");
  EXPECT_EQ(title(configs::llama4(), "vllm-llama-4-tuning-by-length", 32768),
            "m = 1 in vllm, 1.161 in hf at n = 32768 (no rotation, other coordinates)");
  EXPECT_EQ(title(configs::qwen1(), "logn-missing-in-vllm"),
            "m = 1 in vllm, 1.154 in hf at n = 32768 (full attention, rotary coordinates)");
  EXPECT_EQ(title(configs::yarn(64.0), "llama-cpp-overwrites-yarn-attn-factor"),
            "--yarn-attn-factor has no effect: llama.cpp turns with 1.4159, m = 2.005");
  EXPECT_EQ(title(configs::deepseek(0.707), "llama-cpp-yarn-log-multiplier-two-meanings"),
            "mscale_all_dim = 0.707 is yarn_log_multiplier 0.0707 here, 0.707 in mistral3");
}

// The difference goes away where the deployment stays below it.
TEST(Divergences, ConcernTheDeployment) {
  EXPECT_FALSE(ids(configs::qwen1(), 8192).contains("logn-missing-in-vllm"));
  EXPECT_FALSE(ids(configs::llama4(), 1048576).contains("vllm-llama-4-tuning-by-length"));
}

TEST(Divergences, KeepTheirOrder) {
  std::vector<std::string> order;
  for (const KnownDivergence& known : known_divergences()) order.push_back(known.id);
  std::vector<std::string> found;
  for (const Divergence& divergence : divergences(configs::laguna()))
    found.push_back(divergence.id);
  auto place = order.begin();
  for (const std::string& id : found) {
    place = std::find(place, order.end(), id);
    ASSERT_NE(place, order.end()) << id;
  }
}

}  // namespace
}  // namespace dewpoint::scaling
