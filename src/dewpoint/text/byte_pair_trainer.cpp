#include "dewpoint/text/byte_pair_trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/added_tokens.hpp"
#include "dewpoint/text/byte_alphabet.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/pre_tokenizer.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {
namespace {

// A word of the text as the tokens that it consists of so far.
struct CountedWord {
  std::vector<int> tokens;
  std::uint64_t count = 0;
};

std::vector<CountedWord> count_words(const std::vector<std::string_view>& words) {
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<CountedWord> counted;
  for (const std::string_view word : words) {
    if (word == kEndOfText) continue;
    const auto [found, fresh] = places.try_emplace(word, counted.size());
    if (fresh) {
      auto& tokens = counted.emplace_back().tokens;
      for (const char byte : word) tokens.push_back(static_cast<unsigned char>(byte));
    }
    ++counted[found->second].count;
  }
  return counted;
}

struct Pair {
  int left;
  int right;
};

std::uint64_t key(Pair pair) {
  return static_cast<std::uint64_t>(pair.left) << 32 | static_cast<std::uint32_t>(pair.right);
}
Pair pair_of(std::uint64_t key) {
  return {static_cast<int>(key >> 32), static_cast<int>(key & 0xffffffffU)};
}

// How often a pair stands in the text, and the words that hold it or once did.
struct PairUse {
  std::uint64_t count = 0;
  std::vector<std::size_t> words;
};

class Trainer {
 public:
  explicit Trainer(std::vector<CountedWord> words)
      : words_(std::move(words)), queue_(Later{&vocabulary_.tokens}) {
    for (std::size_t byte = 0; byte < kByteTokens; ++byte) {
      vocabulary_.tokens.push_back(letters_of_bytes(std::string(1, static_cast<char>(byte))));
    }
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const std::vector<int>& tokens = words_[w].tokens;
      for (std::size_t k = 0; k + 1 < tokens.size(); ++k) add({tokens[k], tokens[k + 1]}, w);
    }
    queue_new();
  }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  [[nodiscard]] std::size_t size() const { return vocabulary_.tokens.size(); }
  [[nodiscard]] BytePairVocabulary take() { return std::move(vocabulary_); }

  /// Joins the most frequent pair; false where there is none.
  [[nodiscard]] bool join_best() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const std::uint64_t count = uses_.find(key(best.pair))->second.count;
      if (count == best.count) {
        join(best.pair);
        return true;
      }
      // Joins of other pairs took some of these away. None can add any: what a join makes is new.
      if (count > 0) queue_.push({count, best.pair});
    }
    return false;
  }

 private:
  struct Candidate {
    std::uint64_t count;
    Pair pair;
  };
  struct Later {
    const std::vector<std::string>* tokens;
    bool operator()(const Candidate& a, const Candidate& b) const {
      if (a.count != b.count) return a.count < b.count;
      const auto text = [this](int token) -> const std::string& {
        return (*tokens)[static_cast<std::size_t>(token)];
      };
      return std::tie(text(a.pair.left), text(a.pair.right)) >
             std::tie(text(b.pair.left), text(b.pair.right));
    }
  };

  void join(Pair pair) {
    const std::string left = vocabulary_.tokens[static_cast<std::size_t>(pair.left)];
    const std::string right = vocabulary_.tokens[static_cast<std::size_t>(pair.right)];
    const int joined = static_cast<int>(size());
    vocabulary_.tokens.push_back(left + right);
    vocabulary_.merges.emplace_back(left, right);
    const std::vector<std::size_t> words = std::move(uses_[key(pair)].words);
    for (const std::size_t w : words) join_in_word(w, pair, joined);
    queue_new();
  }

  // Takes the pairs away that end with a join, and adds those that it makes. Between two joins side
  // by side there was one pair, which goes with the first, and there will be one.
  void join_in_word(std::size_t w, Pair pair, int joined) {
    const std::vector<int>& old = words_[w].tokens;
    std::vector<int> tokens;
    bool behind_join = false;
    for (std::size_t k = 0; k < old.size();) {
      const bool joins = k + 1 < old.size() && old[k] == pair.left && old[k + 1] == pair.right;
      const int next = joins ? joined : old[k];
      if (joins) {
        if (k > 0 && !behind_join) drop({old[k - 1], old[k]}, w);
        drop(pair, w);
        if (k + 2 < old.size()) drop({old[k + 1], old[k + 2]}, w);
      }
      if (k > 0 && (joins || behind_join)) add({tokens.back(), next}, w);
      tokens.push_back(next);
      behind_join = joins;
      k += joins ? 2 : 1;
    }
    words_[w].tokens = std::move(tokens);
  }

  void drop(Pair pair, std::size_t w) { uses_[key(pair)].count -= words_[w].count; }

  void add(Pair pair, std::size_t w) {
    PairUse& use = uses_[key(pair)];
    use.count += words_[w].count;
    if (use.words.empty() || use.words.back() != w) use.words.push_back(w);
    new_.push_back(key(pair));
  }

  void queue_new() {
    std::sort(new_.begin(), new_.end());
    new_.erase(std::unique(new_.begin(), new_.end()), new_.end());
    for (const std::uint64_t pair : new_) queue_.push({uses_[pair].count, pair_of(pair)});
    new_.clear();
  }

  BytePairVocabulary vocabulary_;
  std::vector<CountedWord> words_;
  std::unordered_map<std::uint64_t, PairUse> uses_;
  std::vector<std::uint64_t> new_;  // pairs that the queue does not hold yet
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue_;
};

[[noreturn]] void refuse(std::size_t size, const std::string& allowed) {
  throw Error(Code::bad_value, fmt::format("vocabulary: found {}, allowed: {}", size, allowed));
}

}  // namespace

BytePairVocabulary train_byte_pairs(std::string_view text, std::size_t size) {
  if (size <= kByteTokens) {
    refuse(size, fmt::format("at least {} tokens, the bytes and one more", kByteTokens + 1));
  }
  expect_utf8(text);
  const std::vector<std::string_view> words = byte_pair_words(text);
  const bool has_end = std::find(words.begin(), words.end(), kEndOfText) != words.end();
  Trainer trainer(count_words(words));
  const std::size_t ends = has_end ? 1 : 0;
  while (trainer.size() + ends < size) {
    if (trainer.join_best()) continue;
    refuse(size, fmt::format("at most {} tokens, which this text has", trainer.size() + ends));
  }
  BytePairVocabulary vocabulary = trainer.take();
  if (has_end) vocabulary.tokens.emplace_back(kEndOfText);
  return vocabulary;
}

BytePairFiles text_files(const BytePairVocabulary& vocabulary) {
  BytePairFiles files{vocabulary_text(vocabulary.tokens) + "\n", "#version: 0.2\n"};
  for (const auto& [left, right] : vocabulary.merges) {
    files.merges += fmt::format("{} {}\n", left, right);
  }
  return files;
}

std::vector<std::string_view> byte_pair_words(std::string_view text, Separators separators) {
  static const AddedTokens none, one({{.content = std::string(kEndOfText)}});
  const AddedTokens& tokens = separators == Separators::words ? one : none;
  std::vector<std::string_view> words;
  for (const TextPart& part : tokens.split(text)) {
    if (part.token) {
      words.push_back(part.text);
      continue;
    }
    for (const Span& span : gpt2_pattern().matches(part.text)) {
      words.push_back(part.text.substr(span.begin, span.end - span.begin));
    }
  }
  return words;
}

}  // namespace dewpoint::text
