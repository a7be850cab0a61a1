#include "dewpoint/text/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/corpus_vocabulary.hpp"
#include "dewpoint/text/token_names.hpp"

namespace dewpoint::text {
namespace {

namespace fs = std::filesystem;
using checkpoint::Refusal;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// --- the file ------------------------------------------------------------------------------------

void expect_text(std::string_view text) {
  const std::size_t place = first_malformed(text);
  if (place == text.size()) return;
  const std::string_view before = text.substr(0, place);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column = 1 + std::count_if(in_line.begin(), in_line.end(), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
                      });
  throw Refusal{fmt::format("line {}, column {}", line, column),
                fmt::format("\\x{:02x} at byte {} (counted from 0)",
                            static_cast<unsigned char>(text[place]), place),
                "UTF-8"};
}

// --- the parts -----------------------------------------------------------------------------------

CorpusParts parted(std::string_view text, double validation) {
  const double share = (1.0 - validation) * static_cast<double>(text.size());
  const std::size_t end =
      end_of_word(text, std::min(static_cast<std::size_t>(share), text.size() - 1));
  return {text.substr(0, end), text.substr(end)};
}

void expect_tokens(std::string_view part, std::size_t found, std::size_t least) {
  if (found >= least) return;
  throw Refusal{fmt::format("{} part", part), fmt::format("{} tokens", found),
                fmt::format("at least {}", least)};
}

std::shared_ptr<const Tokenizer> open_named(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return open_tokenizer(path);
  throw Refusal{"tokenizer", fmt::format("'{}'", checkpoint::excerpt(path)),
                "words, bpe or the path of a tokenizer"};
}

// What a trainer or a tokenizer says about a text, with the name of the text in front.
template <class Step>
Corpus naming(const fs::path& file, Step step) {
  try {
    return step();
  } catch (const Error& error) {
    std::string name = file.string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

Corpus make_corpus(const CorpusParts& parts, WordStyle style, const CorpusQuestion& question) {
  const std::size_t vocabulary = question.vocabulary;
  if (question.tokenizer == "words") return corpus_of_words(parts, style, vocabulary);
  if (question.tokenizer == "bpe") {
    return naming(question.file, [&] { return corpus_of_byte_pairs(parts, vocabulary); });
  }
  const auto tokenizer = open_named(question.tokenizer);
  Corpus corpus =
      naming(question.file, [&] { return corpus_of_tokenizer(parts, tokenizer, vocabulary); });
  corpus.files = tokenizer_files(question.tokenizer);
  return corpus;
}

Corpus checked_corpus(std::string_view text, const CorpusQuestion& question, std::size_t least) {
  if (!(question.validation > 0.0 && question.validation <= 0.5)) {
    throw Refusal{"validation", fmt::format("{}", question.validation), "more than 0, at most 0.5"};
  }
  if (text.empty()) throw Refusal{"text", "0 bytes", "some"};
  expect_text(text);
  Corpus corpus =
      make_corpus(parted(text, question.validation), settled_style(text, question.style), question);
  expect_tokens("training", corpus.training.size(), std::max<std::size_t>(least, 1));
  expect_tokens("validation", corpus.validation.size(), std::max<std::size_t>(least, 1));
  return corpus;
}

}  // namespace

std::string read_text(const fs::path& file) {
  std::ifstream in = checkpoint::open_regular_file(file, "a text");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) {
    throw checkpoint::to_error(Code::unreadable_file, file.string(),
                               {"file", "an end before its end", "a text that can be read"});
  }
  try {
    expect_text(text);
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    if (text.empty()) throw Refusal{"", "is empty", "a text"};
  } catch (const Refusal& refusal) {
    throw checkpoint::to_error(Code::bad_value, file.string(), refusal);
  }
  return text;
}

Corpus corpus_of(std::string_view text, const CorpusQuestion& question, std::size_t least_tokens) {
  try {
    return checked_corpus(text, question, least_tokens);
  } catch (const Refusal& refusal) {
    throw checkpoint::to_error(Code::bad_value, question.file.string(), refusal);
  }
}

Corpus read_corpus(const CorpusQuestion& question, std::size_t least_tokens) {
  return corpus_of(read_text(question.file), question, least_tokens);
}

double unigram_entropy(const Corpus& corpus) {
  const double total = static_cast<double>(corpus.training.size());
  double entropy = 0.0;
  for (const std::uint64_t count : corpus.counts) {
    const double share = static_cast<double>(count) / total;
    if (count > 0) entropy -= share * std::log(share);
  }
  return entropy;
}

std::int32_t token_named(const Corpus& corpus, const std::string& name) {
  const auto found = std::find(corpus.names.begin(), corpus.names.end(), visible(name));
  if (found != corpus.names.end()) {
    return static_cast<std::int32_t>(found - corpus.names.begin());
  }
  const auto near = nearest_word(visible(name), corpus.names);
  throw Error(Code::bad_value,
              fmt::format("token: found '{}', allowed: tokens of the vocabulary{}",
                          checkpoint::excerpt(name),
                          near ? fmt::format("; did you mean '{}'?", *near) : std::string()));
}

}  // namespace dewpoint::text
