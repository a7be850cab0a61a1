// How a text falls into words.
//
//   plain     "It's 5 o'clock."   ->  it ' s 5 o ' clock .
//   spaced    " = Title = \n"     ->  = Title = <eos>
//
// "<|endoftext|>", which stands between stories, is a word of its own in every style.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::text {

inline constexpr std::string_view kUnknownWord = "<unk>";
inline constexpr std::string_view kEndOfLine = "<eos>";

/// How a text is cut into words.
enum class WordStyle {
  automatic,  // spaced where the text holds " <unk> " or " @-@ ", plain otherwise
  plain,      // letters and digits together, each punctuation mark alone; lower case
  spaced,     // whatever stands between blanks, as it is; a line's end is the word <eos>
};

/// "automatic", "plain", "spaced".
[[nodiscard]] std::string_view name_of(WordStyle style);
[[nodiscard]] std::optional<WordStyle> word_style_named(std::string_view name);

/// The style that a text is cut in: `style`, or what automatic means for this text.
[[nodiscard]] WordStyle settled_style(std::string_view text, WordStyle style);

/// Words of a text in order; views of `text`, or of the returned storage where case changed.
struct WordList {
  std::vector<std::string_view> words;
  std::unique_ptr<std::string> storage;
};

/// Letters, marks and digits are Unicode's, and so is the white space of the plain style. The
/// blanks of the spaced style are ASCII's; a last line without "\n" has no end.
///
///   Properties  (1) no word is empty or holds an ASCII blank.
///               (2) the words of a style, put together again with a blank between each, are cut
///                   into themselves by it.
///               (3) a text that is parted in front of an ASCII blank has the words of its parts.
///
/// Throws Error{bad_value} with the byte where a text for the plain style is no UTF-8; the spaced
/// style takes any bytes.
[[nodiscard]] WordList words_of(std::string_view text, WordStyle style);

/// Whatever stands between ASCII blanks, and nothing for the ends of lines.
[[nodiscard]] std::vector<std::string_view> words_between_blanks(std::string_view text);

/// Where a text may be parted: behind the character of byte `target`, the first place that has an
/// ASCII blank behind it and no white space before it; where there is none, that character.
///
///   Domain      text is UTF-8, target < text.size().
[[nodiscard]] std::size_t end_of_word(std::string_view text, std::size_t target);

}  // namespace dewpoint::text
