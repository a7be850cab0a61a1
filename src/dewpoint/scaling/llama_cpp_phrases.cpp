// How llama.cpp is told a factor: flags where YaRN is off, metadata where it is on.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dewpoint/scaling/engine_phrases.hpp"
#include "dewpoint/scaling/engine_reading.hpp"

namespace dewpoint::scaling::phrases {
namespace {

std::string override_key(const AttentionConfig& config, const char* key, double value) {
  return fmt::format("--override-kv {}.{}=float:{}", gguf_architecture(config), key,
                     rounded(value));
}

std::string yarn_flags(const AttentionConfig& config, const Plan& plan) {
  if (config.rope.kind == RopeKind::yarn && config.rope.factor == plan.extension) return "";
  return fmt::format("--rope-scaling yarn --rope-scale {} --yarn-orig-ctx {} ", plan.extension,
                     plan.rope.original_length);
}

// deepseek2 keeps a tenth of mscale_all_dim. Zero means "none" to it, and then 1 + 0.1 log s.
void say_latent(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  if (!plan.has_mscale || rounded(plan.mscale) == 0.0) {
    result.exact = false;
    result.warnings.emplace_back("no key gives this multiplier to latent attention");
    return;
  }
  result.text = yarn_flags(config, plan) +
                override_key(config, "rope.scaling.yarn_log_multiplier", 0.1 * plan.mscale);
}

void say_with_yarn(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  AttentionConfig deployed = config;
  deployed.rope = plan.rope;
  deployed.rope.mscale_all_dim = config.rope.mscale_all_dim;
  deployed.gguf_attn_factor.reset();
  const double own = reading::read_as_llama_cpp({deployed, 0}).rotation;
  result.text = yarn_flags(config, plan) +
                override_key(config, "rope.scaling.attn_factor", std::sqrt(plan.multiplier) / own);
  result.warnings.push_back(fmt::format(
      "--yarn-attn-factor is overwritten while YaRN is on; this key multiplies its own {:.6g}",
      own));
}

}  // namespace

void say_llama_cpp(EngineExport& result, const AttentionConfig& config, const Plan& plan) {
  const double factor = std::sqrt(plan.multiplier);
  const bool stays = config.rope.kind != RopeKind::yarn && plan.extension <= 1.0;
  if (config.latent_attention) {
    say_latent(result, config, plan);
  } else if (plan.rope.kind == RopeKind::longrope) {
    result.text = override_key(config, "rope.scaling.attn_factor", factor);
  } else if (stays || plan.new_rotation) {
    result.text = fmt::format("--yarn-attn-factor {}", rounded(factor));
    result.warnings.emplace_back("in effect only as long as YaRN is off");
    if (!stays) result.warnings.emplace_back("frequencies stay as the file has them");
  } else {
    say_with_yarn(result, config, plan);
  }
  if (result.text.find("--override-kv") != std::string::npos)
    result.warnings.push_back(
        fmt::format("'{}' must be general.architecture of the file", gguf_architecture(config)));
  if (!config.latent_attention) warn_of_partial_rotation(result, config);
  warn_of_positions(result, config);
}

}  // namespace dewpoint::scaling::phrases
