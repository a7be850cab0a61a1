// A study of `dewpoint heads`, read again: its heads, which model they are of, and how the rotation
// of that model was stretched.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/core/frame.hpp"

namespace dewpoint::cli {

/// What two files must agree about to be of one model; empty: the file does not say.
struct ModelFacts {
  std::string name;  // of the file, for messages
  std::string model_type;
  std::optional<std::size_t> layers, heads, head_dimension;
  bool all_layers = true;  // false: a dump, which may lack the last layers
};

struct HeadsStudy {
  ModelFacts model;
  std::string rope;        // as in --rope; empty: nobody knows, as for a dump
  double m_applied = 1.0;  // what queries and keys already contained
  Frame heads;
};

/// Throws Error{bad_value} for a study of something else.
[[nodiscard]] HeadsStudy read_heads_study(const std::string& file);

[[nodiscard]] ModelFacts facts_of(const checkpoint::ModelConfig& config);

/// Throws Error{bad_value} in one line, with both files and every fact that differs.
void require_same_model(const ModelFacts& one, const ModelFacts& other);

}  // namespace dewpoint::cli
