#include "dewpoint/text/word_cutting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "dewpoint/text/added_tokens.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/lower_case.hpp"
#include "dewpoint/text/pattern.hpp"

namespace dewpoint::text {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::array kStyles{WordStyle::automatic, WordStyle::plain, WordStyle::spaced};

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

const AddedTokens& separators() {
  static const AddedTokens made({{.content = std::string(kEndOfText)}});
  return made;
}

const Pattern& plain_words() {
  static const Pattern made(R"([\p{L}\p{M}\p{N}]++|[^\s\p{L}\p{M}\p{N}])", "words");
  return made;
}

// Parts keep their order in the storage, so spans there are spans of the text while nothing has
// changed.
WordList cut_plainly(std::string_view text) {
  expect_utf8(text);
  WordList list{{}, std::make_unique<std::string>()};
  std::vector<Span> spans;
  for (const TextPart& part : separators().split(text)) {
    const std::size_t from = list.storage->size();
    const std::string lower = part.token ? std::string(part.text) : lower_case(part.text);
    *list.storage += lower;
    if (part.token) spans.push_back({from, from + lower.size()});
    if (part.token) continue;
    for (const Span& span : plain_words().matches(lower)) {
      spans.push_back({from + span.begin, from + span.end});
    }
  }
  if (*list.storage == text) list.storage.reset();
  const std::string_view source = list.storage ? std::string_view(*list.storage) : text;
  list.words.reserve(spans.size());
  for (const Span& s : spans) list.words.push_back(source.substr(s.begin, s.end - s.begin));
  return list;
}

void append_spaced(std::string_view text, bool with_ends, std::vector<std::string_view>& words) {
  for (std::size_t place = 0; place < text.size();) {
    if (!is_blank(text[place])) {
      const std::size_t end = std::min(text.find_first_of(kBlanks, place), text.size());
      words.push_back(text.substr(place, end - place));
      place = end;
      continue;
    }
    if (with_ends && text[place] == '\n') words.push_back(kEndOfLine);
    ++place;
  }
}

WordList cut_at_blanks(std::string_view text) {
  WordList list;
  for (const TextPart& part : separators().split(text)) {
    if (part.token) {
      list.words.push_back(part.text);
    } else {
      append_spaced(part.text, true, list.words);
    }
  }
  return list;
}

// To PCRE2, and so to GPT-2's pattern, U+180E is white space too.
bool is_gap(char32_t value) { return is_white_space(value) || value == 0x180e; }

}  // namespace

std::string_view name_of(WordStyle style) {
  constexpr std::array<std::string_view, 3> names{"automatic", "plain", "spaced"};
  return names[static_cast<std::size_t>(style)];
}

std::optional<WordStyle> word_style_named(std::string_view name) {
  const auto* const found = std::find_if(kStyles.begin(), kStyles.end(),
                                         [&](WordStyle style) { return name_of(style) == name; });
  if (found == kStyles.end()) return std::nullopt;
  return *found;
}

WordStyle settled_style(std::string_view text, WordStyle style) {
  if (style != WordStyle::automatic) return style;
  const auto holds = [&](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  };
  return holds(" <unk> ") || holds(" @-@ ") ? WordStyle::spaced : WordStyle::plain;
}

WordList words_of(std::string_view text, WordStyle style) {
  return settled_style(text, style) == WordStyle::spaced ? cut_at_blanks(text) : cut_plainly(text);
}

std::vector<std::string_view> words_between_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  append_spaced(text, false, words);
  return words;
}

std::size_t end_of_word(std::string_view text, std::size_t target) {
  while ((static_cast<unsigned char>(text[target]) & 0xc0U) == 0x80U) --target;
  bool in_word = false;
  for (std::size_t place = target; place < text.size();) {
    const Character character = character_at(text, place);
    if (in_word && is_blank(text[place])) return place;
    in_word = !is_gap(character.value);
    place += character.length;
  }
  return target;
}

}  // namespace dewpoint::text
