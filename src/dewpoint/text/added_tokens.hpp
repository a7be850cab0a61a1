// Tokens that are found in a text before anything else happens to it, such as <|endoftext|>.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/text/json_field.hpp"

namespace dewpoint::text {

/// Stands between the texts of a corpus.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

struct AddedToken {
  std::string content;
  int id = 0;
  bool takes_blanks_before = false;
  bool takes_blanks_behind = false;
  bool normalized = false;  // looked for in the normalised text
};

/// The list "added_tokens" of a tokenizer.json. Throws Refusal.
[[nodiscard]] std::vector<AddedToken> read_added_tokens(const JsonField& field);

/// A token, or a text between two.
struct TextPart {
  std::string_view text;
  std::optional<int> token;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// The parts of a text in order, none of them empty.
  ///
  ///   Properties  (1) the leftmost token wins, of those that begin together the longest.
  ///               (2) without tokens that take blanks, the texts of the parts tile the text.
  [[nodiscard]] std::vector<TextPart> split(std::string_view text) const;

 private:
  [[nodiscard]] const AddedToken* token_at(std::string_view text, std::size_t place) const;

  std::vector<AddedToken> tokens_;                             // the longest first
  std::array<std::vector<std::size_t>, 256> by_first_byte_{};  // their places in tokens_
};

}  // namespace dewpoint::text
