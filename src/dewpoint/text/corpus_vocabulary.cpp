#include "dewpoint/text/corpus_vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/added_tokens.hpp"
#include "dewpoint/text/byte_alphabet.hpp"
#include "dewpoint/text/byte_pair_trainer.hpp"
#include "dewpoint/text/gpt2_tokenizer.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "dewpoint/text/token_names.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::Refusal;
using Words = std::vector<std::string_view>;
using Ids = std::vector<std::int32_t>;

struct Counted {
  std::string_view text;
  std::uint64_t count;
};

// More often first, then smaller as text.
bool ranks_before(const Counted& a, const Counted& b) {
  return a.count != b.count ? a.count > b.count : a.text < b.text;
}

[[noreturn]] void refuse_vocabulary(std::size_t found, std::string allowed) {
  throw Refusal{"vocabulary", fmt::format("{}", found), std::move(allowed)};
}

std::vector<std::uint64_t> count_ids(const Ids& ids, std::size_t vocabulary) {
  std::vector<std::uint64_t> counts(vocabulary, 0);
  for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

void count_and_name(Corpus& corpus, const std::vector<std::string>& tokens) {
  corpus.counts = count_ids(corpus.training, corpus.vocabulary);
  corpus.names = token_names(tokens, corpus.counts);
}

// --- words ---------------------------------------------------------------------------------------

// The different words in order of rank, without <unk>.
std::vector<Counted> rank_words(const Words& words) {
  std::unordered_map<std::string_view, std::uint64_t> counts;
  for (const std::string_view word : words) ++counts[word];
  counts.erase(kUnknownWord);
  std::vector<Counted> ranked;
  for (const auto& [word, count] : counts) ranked.push_back({word, count});
  std::sort(ranked.begin(), ranked.end(), ranks_before);
  return ranked;
}

// The most frequent words, and <unk> at the rank of all the others.
std::vector<std::string> cut_vocabulary(const Words& words, std::size_t size) {
  std::vector<Counted> ranked = rank_words(words);
  if (ranked.empty()) throw Refusal{"training part", "no words", "some"};
  const std::size_t most = std::min<std::size_t>(ranked.size() + 1, kIdLimit);
  if (size < 2 || size > most) {
    refuse_vocabulary(size, fmt::format("2 to {}, the different words of the training part "
                                        "and <unk>",
                                        most));
  }
  ranked.resize(size - 1);
  std::uint64_t unknown = words.size();
  for (const Counted& word : ranked) unknown -= word.count;
  const Counted other{kUnknownWord, unknown};
  ranked.insert(std::upper_bound(ranked.begin(), ranked.end(), other, ranks_before), other);
  std::vector<std::string> tokens;
  for (const Counted& word : ranked) tokens.emplace_back(word.text);
  return tokens;
}

Ids ids_of_words(const Words& words, const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, std::int32_t> known;
  for (const std::string& token : tokens) {
    known.emplace(token, static_cast<std::int32_t>(known.size()));
  }
  const std::int32_t unknown = known.at(kUnknownWord);
  Ids ids;
  ids.reserve(words.size());
  for (const std::string_view word : words) {
    const auto found = known.find(word);
    ids.push_back(found == known.end() ? unknown : found->second);
  }
  return ids;
}

// --- byte pairs ----------------------------------------------------------------------------------

std::unique_ptr<Tokenizer> tokenizer_of(const BytePairFiles& files) {
  return parse_gpt2_tokenizer({files.vocabulary, "vocab.json"}, {files.merges, "merges.txt"});
}

// Encodes every different word once. A separator that only the validation part holds is no token.
Ids ids_of_pieces(std::string_view text, const Tokenizer& tokenizer) {
  const auto separators = tokenizer.end() ? Separators::words : Separators::plain_text;
  std::unordered_map<std::string_view, std::vector<int>> known;
  Ids ids;
  for (const std::string_view word : byte_pair_words(text, separators)) {
    const auto [found, fresh] = known.try_emplace(word);
    if (fresh) found->second = tokenizer.encode(word);
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  return ids;
}

// Puts the tokens in the order of their rank and returns the new id of every old one.
std::vector<std::int32_t> rank_tokens(std::vector<std::string>& tokens, const Ids& training) {
  const std::vector<std::uint64_t> counts = count_ids(training, tokens.size());
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ranks_before({tokens[a], counts[a]}, {tokens[b], counts[b]});
  });
  std::vector<std::string> ranked;
  std::vector<std::int32_t> new_ids(tokens.size());
  for (const std::size_t old : order) {
    new_ids[old] = static_cast<std::int32_t>(ranked.size());
    ranked.push_back(tokens[old]);
  }
  tokens = std::move(ranked);
  return new_ids;
}

std::vector<std::string> bytes_of_tokens(const std::vector<std::string>& tokens) {
  std::vector<std::string> bytes;
  for (const std::string& token : tokens) bytes.push_back(bytes_of_letters(token));
  return bytes;
}

// --- a tokenizer from a file ---------------------------------------------------------------------

std::optional<int> end_of_text(const Tokenizer& tokenizer) {
  try {
    const std::vector<int> ids = tokenizer.encode(kEndOfText);
    if (ids.size() == 1 && tokenizer.decode(ids) == kEndOfText) return ids.front();
  } catch (const Error&) {
    // It has no tokens for these characters.
  }
  return std::nullopt;
}

// The token that <|endoftext|> becomes: its own where the tokenizer has it, else the one that ends
// or begins a text; none: it is read as text.
std::optional<int> separator_of(const Tokenizer& tokenizer) {
  if (const auto own = end_of_text(tokenizer)) return own;
  return tokenizer.end() ? tokenizer.end() : tokenizer.beginning();
}

// A tokenizer sees about so many bytes at a time: sentencepiece needs some seventy times their
// memory. A text is cut between words, unless they are longer than that.
constexpr std::size_t kPieceBytes = 16'384;

void append_pieces(std::string_view text, const Tokenizer& tokenizer, Ids& ids) {
  while (!text.empty()) {
    std::size_t end = text.size();
    if (text.size() > kPieceBytes) end = end_of_word(text.substr(0, 2 * kPieceBytes), kPieceBytes);
    const std::vector<int> found = tokenizer.encode(text.substr(0, end));
    ids.insert(ids.end(), found.begin(), found.end());
    text.remove_prefix(end);
  }
}

Ids ids_of_texts(std::string_view text, const Tokenizer& tokenizer, std::optional<int> separator) {
  std::vector<AddedToken> tokens;
  if (separator) tokens.push_back({.content = std::string(kEndOfText), .id = *separator});
  Ids ids;
  for (const TextPart& part : AddedTokens(std::move(tokens)).split(text)) {
    if (part.token) {
      ids.push_back(*part.token);
    } else {
      append_pieces(part.text, tokenizer, ids);
    }
  }
  return ids;
}

}  // namespace

Corpus corpus_of_words(const CorpusParts& parts, WordStyle style, std::size_t vocabulary) {
  const WordList training = words_of(parts.training, style);
  const std::vector<std::string> tokens = cut_vocabulary(training.words, vocabulary);
  Corpus corpus;
  corpus.vocabulary = tokens.size();
  corpus.style = name_of(style);
  corpus.training = ids_of_words(training.words, tokens);
  corpus.validation = ids_of_words(words_of(parts.validation, style).words, tokens);
  const std::string file = fmt::format("{{\"style\": \"{}\", \"token2id\": {}}}\n", corpus.style,
                                       vocabulary_text(tokens));
  corpus.tokenizer = parse_json_tokenizer(file, "token_mappings.json");
  corpus.files = {{"token_mappings.json", file}};
  count_and_name(corpus, tokens);
  return corpus;
}

Corpus corpus_of_byte_pairs(const CorpusParts& parts, std::size_t vocabulary) {
  BytePairVocabulary trained = train_byte_pairs(parts.training, vocabulary);
  const auto first = tokenizer_of(text_files(trained));
  Corpus corpus;
  corpus.training = ids_of_pieces(parts.training, *first);
  corpus.validation = ids_of_pieces(parts.validation, *first);
  const std::vector<std::int32_t> new_ids = rank_tokens(trained.tokens, corpus.training);
  for (Ids* ids : {&corpus.training, &corpus.validation}) {
    for (std::int32_t& id : *ids) id = new_ids[static_cast<std::size_t>(id)];
  }
  corpus.vocabulary = trained.tokens.size();
  corpus.style = "bpe";
  const BytePairFiles files = text_files(trained);
  corpus.tokenizer = tokenizer_of(files);
  corpus.files = {{"vocab.json", files.vocabulary}, {"merges.txt", files.merges}};
  count_and_name(corpus, bytes_of_tokens(trained.tokens));
  return corpus;
}

Corpus corpus_of_tokenizer(const CorpusParts& parts, std::shared_ptr<const Tokenizer> tokenizer,
                           std::size_t vocabulary) {
  Corpus corpus;
  corpus.tokenizer = std::move(tokenizer);
  corpus.vocabulary = corpus.tokenizer->size();
  if (vocabulary != 0 && vocabulary != corpus.vocabulary) {
    refuse_vocabulary(vocabulary, fmt::format("{}, which the tokenizer has", corpus.vocabulary));
  }
  const std::optional<int> separator = separator_of(*corpus.tokenizer);
  corpus.training = ids_of_texts(parts.training, *corpus.tokenizer, separator);
  corpus.validation = ids_of_texts(parts.validation, *corpus.tokenizer, separator);
  std::vector<std::string> tokens = token_bytes(*corpus.tokenizer);
  if (separator && tokens[static_cast<std::size_t>(*separator)].empty()) {
    tokens[static_cast<std::size_t>(*separator)] = kEndOfText;
  }
  count_and_name(corpus, tokens);
  corpus.style = corpus.tokenizer->kind();
  return corpus;
}

}  // namespace dewpoint::text
