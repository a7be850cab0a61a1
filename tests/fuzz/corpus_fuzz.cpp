// Any bytes are a corpus, whose files are opened again and encode it as it was encoded, or an Error
// of one line; anything else is a crash.
//
// The first byte chooses the tokenizer, the style and the vocabulary.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/byte_pair_trainer.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/corpus.hpp"
#include "dewpoint/text/gpt2_tokenizer.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

namespace {

using namespace dewpoint;

// The words of a style are cut into themselves by it.
void check_words(std::string_view bytes, text::WordStyle style) {
  const text::WordList list = text::words_of(bytes, style);
  std::string joined;
  for (const std::string_view word : list.words) {
    demand(!word.empty() && word.find_first_of(" \t\n\v\f\r") == std::string_view::npos);
    joined += word;
    joined += ' ';
  }
  demand(text::words_of(joined, style).words == list.words);
}

std::unique_ptr<text::Tokenizer> reopened(const text::Corpus& corpus) {
  const auto& files = corpus.files;
  if (files.size() == 1) return text::parse_json_tokenizer(files[0].second, files[0].first);
  return text::parse_gpt2_tokenizer({files[0].second, files[0].first},
                                    {files[1].second, files[1].first});
}

void check_corpus(const text::Corpus& corpus, const std::string& bytes) {
  demand(std::is_sorted(corpus.counts.rbegin(), corpus.counts.rend()));
  demand(corpus.names.size() == corpus.vocabulary && corpus.counts.size() == corpus.vocabulary);
  demand(std::set(corpus.names.begin(), corpus.names.end()).size() == corpus.vocabulary);
  for (const std::string& name : corpus.names) {
    demand(text::first_malformed(name) == name.size() && name.find('\n') == std::string::npos);
  }
  std::vector<std::int32_t> ids = corpus.training;
  ids.insert(ids.end(), corpus.validation.begin(), corpus.validation.end());
  const std::vector<int> again = reopened(corpus)->encode(bytes);
  demand(std::equal(ids.begin(), ids.end(), again.begin(), again.end()));
  if (corpus.style == "bpe") demand(corpus.tokenizer->decode(again) == bytes);
}

text::CorpusQuestion question_of(unsigned choice) {
  text::CorpusQuestion question;
  question.file = "fuzz";
  question.style = static_cast<text::WordStyle>(choice % 3);
  const bool words = choice / 4 % 2 == 0;
  question.tokenizer = words ? "words" : "bpe";
  question.vocabulary = (words ? 2 : text::kByteTokens + 1) + choice / 8;
  question.validation = 0.5;
  return question;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  const text::CorpusQuestion question = question_of(data[0]);
  // The end makes sure that the parts are apart by a blank.
  const std::string bytes =
      std::string(reinterpret_cast<const char*>(data + 1), size - 1) + ". end";
  try {
    check_corpus(text::corpus_of(bytes, question, 1), bytes);
  } catch (const Error& error) {
    demand(error.code() == Code::bad_value);
    fuzz::demand_one_line(error, "fuzz: ");
  }
  try {
    check_words(bytes, text::WordStyle::spaced);
    check_words(bytes, text::WordStyle::plain);
  } catch (const Error& error) {
    demand(error.code() == Code::bad_value);
    fuzz::demand_one_line(error, "text: ");
  }
  return 0;
}
