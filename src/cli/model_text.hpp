// A text for a model to read: options, tokens, and how its rotation is stretched.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/models/decoder.hpp"

namespace dewpoint::cli {

struct ModelTextOptions {
  std::string text;       // file
  std::string ids;        // file of token ids instead
  std::string tokenizer;  // empty: beside the checkpoint
  std::string separator = "<|endoftext|>";
  void add_to(CLI::App& verb);
};

struct ModelText {
  std::vector<int> tokens;
  std::optional<int> beginning;  // before every part of the text; none: there is no such token
};

/// The tokens of the text, each of its parts after the model's beginning token. Throws
/// Error{bad_value} naming the option where something is missing or an id is outside the
/// vocabulary.
[[nodiscard]] ModelText read_tokens(const ModelTextOptions& options, const models::Decoder& decoder,
                                    const std::filesystem::path& checkpoint);

/// A rotation by name: "own" (nothing), or "ntk", "yarn", "linear", "dynamic" with the factor
/// length/trained length, or with a factor of their own: "ntk:4". "yarn" multiplies the logits as
/// Hugging Face does, "yarn-bare" only turns. Throws Error{bad_value}.
[[nodiscard]] std::optional<scaling::RopeScaling> rotation_of(const std::string& text,
                                                              const checkpoint::ModelConfig& config,
                                                              std::size_t length);

/// Whether a path leads to a checkpoint that a decoder opens, rather than to a dump.
[[nodiscard]] bool is_checkpoint(const std::filesystem::path& path);

}  // namespace dewpoint::cli
