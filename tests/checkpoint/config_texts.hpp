// What the tests of configurations share: small texts of every family, and how they are read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "dewpoint/checkpoint/model_config.hpp"

namespace dewpoint::test {

inline checkpoint::ModelConfig parse_config(std::string_view json) {
  return checkpoint::parse_hugging_face_config(json, "config.json");
}

/// A small model of a family: the sizes that every file has, then whatever is added.
inline std::string small_config(const std::string& model_type, const std::string& more = "") {
  std::string text = R"({"model_type": ")" + model_type;
  text += R"(", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,)";
  text += R"( "num_attention_heads": 8, "vocab_size": 100, "max_position_embeddings": 4096)";
  if (!more.empty()) text += ", ";
  return text.append(more).append("}");
}

}  // namespace dewpoint::test
