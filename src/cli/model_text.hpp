// A text for a model to read: options, tokens, and how its rotation is stretched.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/models/decoder.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::cli {

struct ModelTextQuestion {
  std::string text;       // file
  std::string ids;        // file of token ids instead
  std::string tokenizer;  // empty: beside the checkpoint
  std::string separator = "<|endoftext|>";
};

inline constexpr question::Group kTextForCheckpoint = question::group("Text for a checkpoint");

template <class Visitor>
void describe(Visitor& visit, ModelTextQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("text", q.text, file("text"), "text for the model to read", kTextForCheckpoint);
  visit("ids", q.ids, file("numbers"), "token ids, as numbers or .npy", instead_of("text"),
        kTextForCheckpoint);
  visit("tokenizer", q.tokenizer, file("tokenizer"), "its file", otherwise("beside the checkpoint"),
        kTextForCheckpoint);
  visit("separator", q.separator, "what parts texts in the file; each begins anew",
        kTextForCheckpoint);
}

template <class Visitor>
void describe_checkpoint(Visitor& visit, std::string& checkpoint) {
  visit("checkpoint", checkpoint, question::positional, question::required,
        question::file("checkpoint"), "folder with config.json, or llama2.c .bin");
}

/// Those that rotation_of() knows.
[[nodiscard]] const std::vector<std::string>& rotation_words();

struct ModelText {
  std::vector<int> tokens;
  std::optional<int> beginning;  // before every part of the text; none: there is no such token
};

/// The tokens of the text, each of its parts after the model's beginning token. Throws
/// Error{bad_value} naming the option where something is missing or an id is outside the
/// vocabulary.
[[nodiscard]] ModelText read_tokens(const ModelTextQuestion& options,
                                    const models::Decoder& decoder,
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
