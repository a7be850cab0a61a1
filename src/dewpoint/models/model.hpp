// An opened checkpoint: its configuration, what that makes of it, and its weights.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>

#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/models/architecture.hpp"
#include "dewpoint/models/weights.hpp"

namespace dewpoint::models {

struct Model {
  std::filesystem::path path;
  checkpoint::ModelConfig config;
  Architecture architecture;
  Weights weights;
};

/// A folder with config.json and safetensors, or a llama2.c .bin. Throws what Decoder::open says.
[[nodiscard]] Model open_model(const std::filesystem::path& path);

/// Throws Error{bad_value} where there are no tokens, one is not in the vocabulary, or there are
/// more than the model has learned positions for.
void check_tokens(const Model& model, std::span<const int> tokens);

}  // namespace dewpoint::models
