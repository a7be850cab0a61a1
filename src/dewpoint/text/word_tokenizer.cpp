#include "dewpoint/text/word_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/json_field.hpp"
#include "dewpoint/text/vocabulary.hpp"
#include "dewpoint/text/word_cutting.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using Words = std::span<const std::string_view>;

// More words than this in one token are not looked for.
constexpr std::size_t kMostWords = 16;

class WordTokenizer : public Tokenizer {
 public:
  WordTokenizer(Vocabulary vocabulary, std::size_t most_words, std::optional<WordStyle> style)
      : vocabulary_(std::move(vocabulary)), most_words_(most_words), style_(style) {}

  std::string kind() const override { return "words"; }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<int> beginning() const override {
    return first_of({"<SOS>", "<BOS>", "<s>", "<bos>", "<sos>"});
  }
  std::optional<int> end() const override { return first_of({"<EOS>", "</s>", "<eos>"}); }

  std::vector<int> encode(std::string_view text) const override {
    std::vector<int> ids;
    const WordList list =
        style_ ? words_of(text, *style_) : WordList{words_between_blanks(text), nullptr};
    for (std::size_t k = 0; k < list.words.size();) k += append_token(text, list.words, k, ids);
    return ids;
  }

  std::string decode(std::span<const int> ids) const override {
    std::string text;
    for (const int id : ids) {
      if (!text.empty()) text += ' ';
      text += token_of(vocabulary_, id);
    }
    return text;
  }

 private:
  // Appends the token of the words that begin with word k and returns how many they are.
  std::size_t append_token(std::string_view text, Words words, std::size_t k,
                           std::vector<int>& ids) const {
    std::optional<int> longest = vocabulary_.find(words[k]);
    std::size_t taken = 1;
    std::string joined(most_words_ > 1 ? words[k] : "");
    for (std::size_t count = 2; count <= std::min(most_words_, words.size() - k); ++count) {
      joined += ' ';
      joined += words[k + count - 1];
      if (const auto id = vocabulary_.find(joined)) {
        longest = id;
        taken = count;
      }
    }
    ids.push_back(longest ? *longest : unknown(text, words, k));
    return taken;
  }

  int unknown(std::string_view text, Words words, std::size_t k) const {
    if (const auto id = first_of({"<unk>", "<UNK>", "[UNK]"})) return *id;
    // A style may change case, and then the word has no place in the text itself.
    const std::string place =
        style_ ? fmt::format("as word {}", k)
               : fmt::format("at byte {}", static_cast<std::size_t>(words[k].data() - text.data()));
    throw Error(Code::bad_value,
                fmt::format("text: found the word '{}' {} (counted from 0), allowed: words of the "
                            "tokenizer's vocabulary",
                            excerpt(words[k]), place));
  }

  std::optional<int> first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const auto id = vocabulary_.find(name)) return id;
    }
    return std::nullopt;
  }

  Vocabulary vocabulary_;
  std::size_t most_words_;
  std::optional<WordStyle> style_;
};

std::optional<WordStyle> read_style(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  const auto style = word_style_named(field.text());
  if (!style || style == WordStyle::automatic) field.refuse("plain or spaced");
  return style;
}

}  // namespace

std::unique_ptr<Tokenizer> read_word_tokenizer(const nlohmann::ordered_json& document) {
  const JsonField file(document, "");
  const JsonField tokens = file["token2id"];
  Vocabulary vocabulary = read_vocabulary(tokens.value(), tokens.path());
  std::size_t most_words = 1;
  for (const auto& [token, id] : tokens.value().items()) {
    most_words = std::max(most_words, words_between_blanks(token).size());
  }
  return std::make_unique<WordTokenizer>(std::move(vocabulary), std::min(most_words, kMostWords),
                                         read_style(file["style"]));
}

}  // namespace dewpoint::text
