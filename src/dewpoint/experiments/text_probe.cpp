#include "dewpoint/experiments/text_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

namespace dewpoint::experiments {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::size_t kFrequent = 3;
constexpr std::size_t kMediumShares[] = {100, 30, 10};  // ranks V/100, V/30, V/10
static_assert(kFrequent + std::size(kMediumShares) == kProbeTokens);

const std::string& name_in(const text::Corpus& corpus, std::int32_t token) {
  return corpus.names[static_cast<std::size_t>(token)];
}

// ---- which tokens -------------------------------------------------------------------------------

/// Without the sign for a blank that a piece of a word may begin with.
std::string_view without_blank(std::string_view name) {
  constexpr std::string_view kBlank = "\u2581";
  return name.starts_with(kBlank) ? name.substr(kBlank.size()) : name;
}

/// At least three letters and nothing else. What is not ASCII counts as a letter.
bool is_word(std::string_view name) {
  const std::string_view word = without_blank(name);
  std::size_t letters = 0;
  for (const char sign : word) {
    const auto byte = static_cast<unsigned char>(sign);
    const bool ascii_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    if (byte < 0x80 && !ascii_letter) return false;
    const bool continues_a_character = (byte & 0xC0) == 0x80;
    letters += continues_a_character ? 0 : 1;
  }
  return letters >= 3;
}

/// The word not yet chosen whose rank is nearest, the more frequent one of two; anything else that
/// is not yet chosen where there is no such word.
std::optional<std::int32_t> nearest_to_rank(const text::Corpus& corpus, const Tokens& by_count,
                                            std::size_t rank, const Tokens& chosen) {
  std::optional<std::size_t> best, best_word;
  const auto distance = [&](std::size_t r) { return r > rank ? r - rank : rank - r; };
  const auto improve = [&](std::optional<std::size_t>& found, std::size_t r) {
    if (!found || distance(r) < distance(*found)) found = r;
  };
  for (std::size_t r = 0; r < by_count.size(); ++r) {
    if (std::find(chosen.begin(), chosen.end(), by_count[r]) != chosen.end()) continue;
    improve(best, r);
    if (is_word(name_in(corpus, by_count[r]))) improve(best_word, r);
  }
  const std::optional<std::size_t> found = best_word ? best_word : best;
  if (!found) return std::nullopt;
  return by_count[*found];
}

Tokens chosen_tokens(const text::Corpus& corpus) {
  Tokens by_count = tokens_by_count(corpus);
  std::erase_if(by_count, [&](std::int32_t token) {
    return corpus.counts[static_cast<std::size_t>(token)] == 0;
  });
  Tokens chosen(by_count.begin(), by_count.begin() + static_cast<std::ptrdiff_t>(
                                                         std::min(kFrequent, by_count.size())));
  for (const std::size_t share : kMediumShares) {
    const std::size_t rank = std::max(by_count.size() / share, kFrequent);
    if (const auto token = nearest_to_rank(corpus, by_count, rank, chosen)) {
      chosen.push_back(*token);
    }
  }
  return chosen;
}

Tokens named_tokens(const std::vector<std::string>& names, const text::Corpus& corpus) {
  Tokens tokens;
  for (const std::string& name : names) {
    const std::int32_t token = text::token_named(corpus, name);
    if (std::find(tokens.begin(), tokens.end(), token) != tokens.end()) {
      throw Error(Code::bad_value, fmt::format("probe: '{}' is given twice, allowed: once", name));
    }
    tokens.push_back(token);
  }
  return tokens;
}

// ---- which sentence -----------------------------------------------------------------------------

/// The end of a line or of a story parts sentences too, but a heading is none: a sentence ends with
/// one of the first three.
bool ends_sentence(std::string_view name) { return name == "." || name == "!" || name == "?"; }
bool parts_sentences(std::string_view name) {
  return ends_sentence(name) || name == "<eos>" || name == "<|endoftext|>";
}

/// Sentences that the text has from beginning to end.
std::vector<std::span<const std::int32_t>> sentences_of(std::span<const std::int32_t> text,
                                                        const text::Corpus& corpus) {
  std::vector<std::span<const std::int32_t>> sentences;
  std::optional<std::size_t> begin;  // unknown before the first sign of one
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view name = without_blank(name_in(corpus, text[i]));
    if (!parts_sentences(name)) continue;
    if (begin && ends_sentence(name)) sentences.push_back(text.subspan(*begin, i + 1 - *begin));
    begin = i + 1;
  }
  return sentences;
}

/// Shorter ones show little, longer ones do not fit beside a figure.
constexpr std::size_t kShortSentence = 8, kLongSentence = 24;

/// Of the sentences with a length that is wanted, the first with the fewest <unk>; the beginning of
/// the text where there is none.
Tokens some_sentence(const text::Corpus& corpus, std::size_t context) {
  const std::span<const std::int32_t> text =
      corpus.validation.empty() ? corpus.training : corpus.validation;
  const std::size_t longest = std::min(context, kLongSentence);
  std::span<const std::int32_t> best = text.first(std::min(text.size(), longest));
  auto fewest = std::numeric_limits<std::ptrdiff_t>::max();
  for (const auto sentence : sentences_of(text, corpus)) {
    if (sentence.size() < kShortSentence || sentence.size() > longest) continue;
    const auto unknown = std::ranges::count_if(
        sentence, [&](std::int32_t token) { return name_in(corpus, token) == "<unk>"; });
    if (unknown >= fewest) continue;
    best = sentence;
    fewest = unknown;
  }
  return {best.begin(), best.end()};
}

Tokens encoded_sentence(const std::string& sentence, const text::Corpus& corpus) {
  const std::vector<int> ids = corpus.tokenizer->encode(sentence);
  if (ids.empty() || ids.size() > kLongestSentence) {
    throw Error(Code::bad_value, fmt::format("sentence: {} tokens are not between 1 and {}",
                                             ids.size(), kLongestSentence));
  }
  for (const int id : ids) {
    if (static_cast<std::size_t>(id) < corpus.vocabulary) continue;
    throw Error(Code::bad_value,
                fmt::format("sentence: has token {}, and the vocabulary of the corpus ends at {}",
                            id, corpus.vocabulary - 1));
  }
  return {ids.begin(), ids.end()};
}

}  // namespace

std::vector<std::int32_t> tokens_by_count(const text::Corpus& corpus) {
  Tokens tokens(corpus.vocabulary);
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto count = [&](std::int32_t token) {
    return corpus.counts[static_cast<std::size_t>(token)];
  };
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](std::int32_t a, std::int32_t b) { return count(a) > count(b); });
  return tokens;
}

std::vector<std::string> names_of(const text::Corpus& corpus,
                                  const std::vector<std::int32_t>& tokens) {
  std::vector<std::string> names;
  for (const std::int32_t token : tokens) names.push_back(name_in(corpus, token));
  return names;
}

std::vector<std::string> choose_probe(const text::Corpus& corpus) {
  return names_of(corpus, chosen_tokens(corpus));
}

transformer::Probe probe_of(const TextQuestion& question, const text::Corpus& corpus) {
  transformer::Probe probe;
  probe.tokens =
      question.probe.empty() ? chosen_tokens(corpus) : named_tokens(question.probe, corpus);
  if (probe.tokens.size() < 2) {
    throw Error(Code::bad_value,
                "probe: the training part is one token over and over, allowed: at "
                "least 2 different ones");
  }
  probe.norms = probe.tokens;
  probe.sentence = question.sentence.empty() ? some_sentence(corpus, question.context)
                                             : encoded_sentence(question.sentence, corpus);
  return probe;
}

}  // namespace dewpoint::experiments
