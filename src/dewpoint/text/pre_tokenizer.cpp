#include "dewpoint/text/pre_tokenizer.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "dewpoint/text/byte_alphabet.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/pattern.hpp"
#include "dewpoint/text/replacement.hpp"

namespace dewpoint::text {
namespace {

// English endings, letters, digits and the rest, each with the blank before it; blanks at the end.
constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// --- cutting -------------------------------------------------------------------------------------

// The matches and what is between them, in order, as words.
void append_isolated(const Word& word, const std::vector<Span>& spans, std::vector<Word>& words) {
  std::size_t from = 0;
  const auto append = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    words.push_back({word.text.substr(begin, end - begin), word.begins_text && begin == 0});
  };
  for (const Span& span : spans) {
    append(from, span.begin);
    append(span.begin, span.end);
    from = span.end;
  }
  append(from, word.text.size());
}

PreTokenizer isolate(Pattern pattern) {
  return [pattern = std::move(pattern)](const std::vector<Word>& words, std::size_t) {
    std::vector<Word> cut;
    for (const Word& word : words) append_isolated(word, pattern.matches(word.text), cut);
    return cut;
  };
}

std::size_t bytes_of(const std::vector<Word>& words) {
  std::size_t bytes = 0;
  for (const Word& word : words) bytes += word.text.size();
  return bytes;
}

PreTokenizer in_order(std::vector<PreTokenizer> steps) {
  return [steps = std::move(steps)](std::vector<Word> words, std::size_t most) {
    for (const PreTokenizer& step : steps) {
      words = step(std::move(words), most);
      expect_bounded(bytes_of(words), most);
    }
    return words;
  };
}

// --- the byte level ------------------------------------------------------------------------------

std::vector<Word> with_blank_in_front(std::vector<Word> words, std::size_t) {
  for (Word& word : words) {
    if (!word.text.starts_with(' ')) word.text.insert(0, " ");
  }
  return words;
}

std::vector<Word> as_letters(std::vector<Word> words, std::size_t) {
  for (Word& word : words) word.text = letters_of_bytes(word.text);
  return words;
}

PreTokenizer byte_level(bool blank_in_front, bool cut) {
  std::vector<PreTokenizer> steps;
  if (blank_in_front) steps.emplace_back(with_blank_in_front);
  if (cut) steps.push_back(isolate(gpt2_pattern()));
  steps.emplace_back(as_letters);
  return in_order(std::move(steps));
}

// --- sentencepiece's blanks ----------------------------------------------------------------------

struct Metaspace {
  std::string blank;
  bool always = false;  // one in front of every word
  bool first = false;   // or only of the word that begins the text
  bool split = true;    // before every blank
};

Metaspace read_metaspace(const JsonField& field) {
  Metaspace metaspace;
  metaspace.blank = field["replacement"].text_or("\u2581");
  if (metaspace.blank.empty() ||
      character_at(metaspace.blank, 0).length != metaspace.blank.size()) {
    field["replacement"].refuse("one character");
  }
  const bool in_front = field["add_prefix_space"].flag_or(true);
  const JsonField scheme = field["prepend_scheme"];
  const std::string where = scheme.text_or(in_front ? "always" : "never");
  if (where != "always" && where != "first" && where != "never") {
    scheme.refuse("always, first or never");
  }
  metaspace.always = where == "always";
  metaspace.first = where == "first";
  metaspace.split = field["split"].flag_or(true);
  return metaspace;
}

std::string with_metaspace(const Word& word, const Metaspace& metaspace) {
  std::string text;
  for (const char c : word.text) {
    if (c == ' ') {
      text += metaspace.blank;
    } else {
      text += c;
    }
  }
  const bool in_front = metaspace.always || (metaspace.first && word.begins_text);
  if (in_front && !text.starts_with(metaspace.blank)) text.insert(0, metaspace.blank);
  return text;
}

// Every blank begins a word.
void append_split(const Word& word, const std::string& blank, std::vector<Word>& words) {
  std::size_t from = 0;
  while (from < word.text.size()) {
    const std::size_t next = std::min(word.text.find(blank, from + 1), word.text.size());
    words.push_back({word.text.substr(from, next - from), word.begins_text && from == 0});
    from = next;
  }
}

PreTokenizer metaspace_words(const JsonField& field) {
  return [metaspace = read_metaspace(field)](const std::vector<Word>& words, std::size_t) {
    std::vector<Word> cut;
    for (const Word& word : words) {
      const Word blanks{with_metaspace(word, metaspace), word.begins_text};
      if (metaspace.split) {
        append_split(blanks, metaspace.blank, cut);
      } else {
        cut.push_back(blanks);
      }
    }
    return cut;
  };
}

// --- the other types -----------------------------------------------------------------------------

PreTokenizer read_split(const JsonField& field) {
  const JsonField behavior = field["behavior"];
  if (behavior.text() != "Isolated") behavior.refuse("the behavior Isolated");
  return isolate(read_pattern(field["pattern"]));
}

PreTokenizer read_digits(const JsonField& field) {
  const bool each = field["individual_digits"].flag_or(false);
  return isolate(Pattern(each ? R"(\p{N})" : R"(\p{N}+)", field.path()));
}

PreTokenizer read_sequence(const JsonField& field) {
  std::vector<PreTokenizer> steps;
  for (const JsonField& step : field["pretokenizers"].list()) {
    steps.push_back(read_pre_tokenizer(step));
  }
  return in_order(std::move(steps));
}

}  // namespace

PreTokenizer read_pre_tokenizer(const JsonField& field) {
  if (field.is_null()) return in_order({});
  const std::string type = field.type();
  if (type == "Sequence") return read_sequence(field);
  if (type == "Split") return read_split(field);
  if (type == "Digits") return read_digits(field);
  if (type == "Metaspace") return metaspace_words(field);
  if (type == "ByteLevel") {
    return byte_level(field["add_prefix_space"].flag_or(true), field["use_regex"].flag_or(true));
  }
  field["type"].refuse("the pre-tokenizers Sequence, ByteLevel, Split, Digits and Metaspace");
}

PreTokenizer gpt2_pre_tokenizer() { return byte_level(false, true); }

const Pattern& gpt2_pattern() {
  static const Pattern pattern(kGpt2Expression, "ByteLevel");
  return pattern;
}

}  // namespace dewpoint::text
