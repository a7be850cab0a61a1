// WikiText and TinyStories as rows of tokens, against counts that a Python script of its own made.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/corpus.hpp"
#include "text/corpus_files.hpp"

namespace dewpoint::text {
namespace {

namespace fs = std::filesystem;
using test::all_ids;
using test::entropy_error;
using test::reopened_ids;
using Ids = std::vector<std::int32_t>;
using Strings = std::vector<std::string>;

struct Expected {
  const char* file;
  const char* style;
  std::size_t training, validation;
  std::uint64_t unknown;
  double entropy;
  Strings top;
  std::pair<std::string, std::uint64_t> last;
};

// Of V = 2000 and a tenth for validation, by a script that shares nothing with the code here:
// str.split, unicodedata.category, collections.Counter.
const std::vector<Expected> kExpected{{"wikitext-2/train.txt",
                                       "spaced",
                                       1'882'407,
                                       206'221,
                                       472'791,
                                       4.76995540605045,
                                       {"<unk>", "the", ",", ".", "of", "and"},
                                       {"Lewis", 99}},
                                      {"tinystories/val.txt",
                                       "plain",
                                       551'225,
                                       61'164,
                                       12'075,
                                       5.39405151914443,
                                       {".", "the", ",", "and", "a", "to"},
                                       {"giraffe", 12}}};

class RealCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(DEWPOINT_DATA) / "wikitext-2")) {
      GTEST_SKIP() << "no data at " << DEWPOINT_DATA;
    }
  }

  static Corpus read(const char* file, const char* tokenizer) {
    CorpusQuestion asked;
    asked.file = fs::path(DEWPOINT_DATA) / file;
    asked.tokenizer = tokenizer;
    return read_corpus(asked, 33);
  }
};

// The script sums the same terms in another order, so it errs as much as we may.
TEST_F(RealCorpus, HasTheWordsThatTheScriptCounts) {
  for (const Expected& expected : kExpected) {
    const Corpus corpus = read(expected.file, "words");
    EXPECT_EQ(corpus.style, expected.style);
    EXPECT_EQ(corpus.training.size(), expected.training);
    EXPECT_EQ(corpus.validation.size(), expected.validation);
    const auto unknown = static_cast<std::size_t>(token_named(corpus, "<unk>"));
    EXPECT_EQ(corpus.counts[unknown], expected.unknown);
    EXPECT_NEAR(unigram_entropy(corpus), expected.entropy,
                2 * entropy_error(2000, expected.entropy));
    EXPECT_TRUE(std::equal(expected.top.begin(), expected.top.end(), corpus.names.begin()));
    EXPECT_EQ(corpus.names.back(), expected.last.first);
    EXPECT_EQ(corpus.counts.back(), expected.last.second);
    EXPECT_TRUE(std::is_sorted(corpus.counts.rbegin(), corpus.counts.rend()));
    EXPECT_EQ(reopened_ids(corpus, read_text(fs::path(DEWPOINT_DATA) / expected.file)),
              all_ids(corpus));
  }
}

// A vocabulary of bytes and pairs covers everything; fewer tokens than bytes, more than words.
TEST_F(RealCorpus, IsEncodedInBytePairsThatComeBack) {
  const fs::path file = fs::path(DEWPOINT_DATA) / "tinystories" / "val.txt";
  const Corpus corpus = read("tinystories/val.txt", "bpe");
  const std::string text = read_text(file);
  EXPECT_EQ(corpus.vocabulary, 2000u);
  EXPECT_EQ(std::set(corpus.names.begin(), corpus.names.end()).size(), 2000u);
  for (const std::string& name : corpus.names) {
    ASSERT_EQ(first_malformed(name), name.size());
    ASSERT_EQ(name.find_first_of(" \n"), std::string::npos);
  }
  const Ids ids = all_ids(corpus);
  EXPECT_EQ(corpus.tokenizer->decode(std::vector<int>(ids.begin(), ids.end())), text);
  EXPECT_EQ(reopened_ids(corpus, text), ids);
  EXPECT_GT(ids.size(), 612'389u);
  EXPECT_LT(ids.size(), text.size() / 3);
  EXPECT_GT(corpus.counts[static_cast<std::size_t>(token_named(corpus, "<|endoftext|>"))], 2500u);
}

TEST_F(RealCorpus, TakesASentencepieceModel) {
  const std::string model = (fs::path(DEWPOINT_DATA) / "stories260K" / "tok512.model").string();
  CorpusQuestion asked;
  asked.file = fs::path(DEWPOINT_DATA) / "tinystories" / "val.txt";
  asked.tokenizer = model;
  asked.vocabulary = 0;
  const Corpus corpus = read_corpus(asked, 33);
  EXPECT_EQ(corpus.vocabulary, 512u);
  EXPECT_EQ(corpus.style, "sentencepiece");
  // The stories are apart by the token that ends a text, id 2.
  EXPECT_EQ(corpus.names[2], "<|endoftext|>");
  const std::string text = read_text(asked.file);
  std::uint64_t separators = 0;
  for (std::size_t k = 0; (k = text.find("<|endoftext|>", k)) != std::string::npos; ++k) {
    ++separators;
  }
  const Ids ids = all_ids(corpus);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(ids.begin(), ids.end(), 2)), separators);
  EXPECT_EQ(corpus.names[static_cast<std::size_t>(ids[0])], "\u2581Lily");
}

}  // namespace
}  // namespace dewpoint::text
