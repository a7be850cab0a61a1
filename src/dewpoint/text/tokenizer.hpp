// From text to token ids and back, as the model's own tokenizer does it.
//
//   tokenizer.model, *.model     sentencepiece (through its library)
//   tok512.bin, tokenizer.bin    llama2.c: scores and pieces, merged greedily
//   vocab.json + merges.txt      GPT-2's byte-level BPE
//   tokenizer.json               Hugging Face, model type BPE (byte level or with byte fallback)
//   token_mappings.json          {"token2id": {..}}: one token per word, words apart by blanks or
//                                as its "style" says
//
// All of them come from outside: a damaged or hostile file gives one Error and costs a bounded
// amount of memory and time. Ids are below 2^24 and unique, but need not be dense. A tokenizer is
// constant once it is made, so threads may share it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dewpoint::text {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// "sentencepiece", "llama2.c", "GPT-2 BPE", "tokenizer.json BPE", "words".
  [[nodiscard]] virtual std::string kind() const = 0;
  /// The largest id plus one.
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The token that begins a text, where the tokenizer has one.
  [[nodiscard]] virtual std::optional<int> beginning() const = 0;
  [[nodiscard]] virtual std::optional<int> end() const = 0;

  /// Ids of a text, without the beginning token. Throws Error{bad_value} with the byte position for
  /// text that is not UTF-8 where the tokenizer needs it to be (all but llama2.c, and words of no
  /// plain style), and for text that it has no tokens for.
  ///
  ///   Properties  (1) every id is at least 0 and below size().
  ///               (2) the ids are those of the program that the files were made for, or an Error.
  [[nodiscard]] virtual std::vector<int> encode(std::string_view text) const = 0;
  /// The bytes that `ids` stand for when they follow the beginning of a text: as llama2.c and
  /// sentencepiece do, one leading blank after the beginning token is dropped where the encoder put
  /// one; a tokenizer.json says itself what its decoder drops. Special tokens appear as their text,
  /// but not with sentencepiece, which leaves them out. Throws Error{bad_value} for an id that no
  /// token has.
  ///
  ///   Properties  (3) decode(encode(x)) = x, but for blanks where the tokenizer normalises them
  ///                   (sentencepiece, words).
  [[nodiscard]] virtual std::string decode(std::span<const int> ids) const = 0;
};

/// By name and content. A folder is searched for tokenizer.json, tokenizer.model, vocab.json with
/// merges.txt, one *.model, tokenizer.bin and token_mappings.json, in this order. Throws
/// Error{unreadable_file} or Error{malformed_file}: one line with the file, what was found and what
/// is allowed.
[[nodiscard]] std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& path);

/// Files of a tokenizer, name and content.
using TokenizerFiles = std::vector<std::pair<std::string, std::string>>;

/// Those of the tokenizer at this path, under names by which a folder of a model is searched.
[[nodiscard]] TokenizerFiles tokenizer_files(const std::filesystem::path& path);

/// A file in the folder that is, or might be, of another tokenizer than the one of these files.
[[nodiscard]] std::optional<std::string> tokenizer_file_in(const std::filesystem::path& folder,
                                                           const TokenizerFiles& but);

}  // namespace dewpoint::text
