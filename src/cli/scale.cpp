// dewpoint scale: how the logits of a model are multiplied as its context grows. The verbs below it
// are in files of their own:
//
//   explain   the multiplier that each serving engine really applies, from a configuration
//   fit       the multiplier that keeps the heads of a model in the phase they were trained in
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/scale.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/verbs.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

/// Engines run decoders with all their parts. What they do to an architecture that was not read in
/// their code is not guessed from keys that it may not look at.
void require_served(const checkpoint::ModelConfig& config) {
  if (config.known && config.parts == checkpoint::DecoderParts{}) return;
  const bool gguf = config.source == checkpoint::Source::gguf;
  throw Error(Code::bad_value,
              config.known
                  ? fmt::format("{}: model_type: found '{}', allowed: a model that serving engines "
                                "run",
                                config.file, config.model_type)
                  : fmt::format("{}: {}: unknown architecture '{}', allowed: those listed in "
                                "docs/guide/scale.md, or the name of one that scales logits alike",
                                config.file, gguf ? "general.architecture" : "model_type",
                                config.model_type));
}

}  // namespace

checkpoint::ModelConfig config_of(const std::string& file_or_preset) {
  if (std::filesystem::exists(file_or_preset)) {
    checkpoint::ModelConfig config = checkpoint::read_model_config(file_or_preset);
    require_served(config);
    return config;
  }
  const bool looks_like_path = file_or_preset.find('/') != std::string::npos ||
                               file_or_preset.find(".json") != std::string::npos ||
                               file_or_preset.find(".gguf") != std::string::npos;
  if (looks_like_path) {
    throw Error(Code::unreadable_file,
                fmt::format("{}: no such file; a config.json, a folder with one, a .gguf file or "
                            "the name of a preset is needed",
                            file_or_preset));
  }
  return checkpoint::preset_config(file_or_preset);
}

std::vector<std::string> preset_words() {
  std::vector<std::string> words;
  for (const checkpoint::Preset& preset : checkpoint::presets()) words.push_back(preset.name);
  return words;
}

Verb scale_verb() {
  return group_of("scale",
                  "What multiplies a model's logits: in each engine, and to keep its phase");
}

}  // namespace dewpoint::cli
