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

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;

constexpr std::string_view kBlanks = " \t\n\v\f\r";
// More words than this in one token are not looked for.
constexpr std::size_t kMostWords = 16;

struct Word {
  std::string_view text;
  std::size_t place;
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back({text.substr(begin, end - begin), begin});
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

class WordTokenizer : public Tokenizer {
 public:
  WordTokenizer(Vocabulary vocabulary, std::size_t most_words)
      : vocabulary_(std::move(vocabulary)), most_words_(most_words) {}

  std::string kind() const override { return "words"; }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<int> beginning() const override {
    return first_of({"<SOS>", "<BOS>", "<s>", "<bos>", "<sos>"});
  }
  std::optional<int> end() const override { return first_of({"<EOS>", "</s>", "<eos>"}); }

  std::vector<int> encode(std::string_view text) const override {
    std::vector<int> ids;
    const std::vector<Word> words = words_of(text);
    for (std::size_t k = 0; k < words.size();) {
      k += append_token(std::span(words).subspan(k), ids);
    }
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
  // Appends the token of the first words and returns how many they are.
  std::size_t append_token(std::span<const Word> words, std::vector<int>& ids) const {
    std::optional<int> longest;
    std::size_t taken = 1;
    std::string text;
    for (std::size_t count = 1; count <= std::min(most_words_, words.size()); ++count) {
      if (count > 1) text += ' ';
      text += words[count - 1].text;
      if (const auto id = vocabulary_.find(text)) {
        longest = id;
        taken = count;
      }
    }
    ids.push_back(longest ? *longest : unknown(words.front()));
    return taken;
  }

  int unknown(const Word& word) const {
    if (const auto id = first_of({"<unk>", "<UNK>", "[UNK]"})) return *id;
    throw Error(Code::bad_value,
                fmt::format("text: found the word '{}' at byte {} (counted from 0), allowed: words "
                            "of the tokenizer's vocabulary",
                            excerpt(word.text), word.place));
  }

  std::optional<int> first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const auto id = vocabulary_.find(name)) return id;
    }
    return std::nullopt;
  }

  Vocabulary vocabulary_;
  std::size_t most_words_;
};

}  // namespace

std::unique_ptr<Tokenizer> read_word_tokenizer(const nlohmann::ordered_json& document) {
  const JsonField tokens = JsonField(document, "")["token2id"];
  Vocabulary vocabulary = read_vocabulary(tokens.value(), tokens.path());
  std::size_t most_words = 1;
  for (const auto& [token, id] : tokens.value().items()) {
    most_words = std::max(most_words, words_of(token).size());
  }
  return std::make_unique<WordTokenizer>(std::move(vocabulary), std::min(most_words, kMostWords));
}

}  // namespace dewpoint::text
