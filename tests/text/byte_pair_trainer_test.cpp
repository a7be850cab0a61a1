// Byte pairs: against counting all pairs anew, against the Python package `tokenizers` 0.23.3, and
// through the files that the trainer writes.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/text/byte_alphabet.hpp"
#include "dewpoint/text/byte_pair_trainer.hpp"
#include "dewpoint/text/gpt2_tokenizer.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::text {
namespace {

using test::outcome;
using Ids = std::vector<int>;
using Merges = std::vector<std::pair<std::string, std::string>>;

// --- the plain trainer ---------------------------------------------------------------------------

std::vector<std::string> letters_of_word(std::string_view word) {
  std::vector<std::string> letters;
  for (const char byte : word) letters.push_back(letters_of_bytes(std::string(1, byte)));
  return letters;
}

void join_plainly(std::vector<std::string>& word, const std::pair<std::string, std::string>& pair) {
  for (std::size_t k = 0; k + 1 < word.size(); ++k) {
    if (word[k] != pair.first || word[k + 1] != pair.second) continue;
    word[k] += word[k + 1];
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
}

enum class Ties { by_text, by_age };

// Counts all pairs of the text anew before every join. Of equally frequent pairs the first in the
// order of their halves is joined: as texts, or letters first and then tokens as they were made.
Merges merges_plainly(std::string_view text, std::size_t new_tokens, Ties ties) {
  std::vector<std::vector<std::string>> words;
  for (const std::string_view word : byte_pair_words(text)) {
    if (word != "<|endoftext|>") words.push_back(letters_of_word(word));
  }
  Merges merges;
  std::map<std::string, std::string> ages;
  const auto order = [&](const std::string& token) {
    const auto made = ages.find(token);
    return ties == Ties::by_text ? token : made == ages.end() ? "0" + token : made->second;
  };
  while (ages.size() < new_tokens) {
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    for (const auto& word : words) {
      for (std::size_t k = 0; k + 1 < word.size(); ++k) ++counts[{word[k], word[k + 1]}];
    }
    const auto place = [&](const auto& entry) {
      return std::tuple(-entry.second, order(entry.first.first), order(entry.first.second));
    };
    const auto best = std::min_element(counts.begin(), counts.end(),
                                       [&](auto& a, auto& b) { return place(a) < place(b); });
    if (best == counts.end()) return merges;
    merges.push_back(best->first);
    for (auto& word : words) join_plainly(word, merges.back());
    ages.emplace(merges.back().first + merges.back().second, fmt::format("1{:06}", ages.size()));
  }
  return merges;
}

// Texts of few different characters hold runs and ties.
std::string random_text(const Stream& stream, std::size_t length) {
  constexpr std::string_view kinds[] = {"a", "b", "ab", "aa", "c", " ", "\n", "é", "1", "!"};
  std::string text;
  for (std::size_t k = 0; k < length; ++k) {
    const double draw = stream.uniform(k);
    text += kinds[static_cast<std::size_t>(draw * draw * std::size(kinds))];
  }
  return text;
}

// The number of tokens that the pairs of a text make.
std::size_t most_tokens(const std::string& text) {
  const std::string message = outcome([&] { (void)train_byte_pairs(text, 100'000); }).message;
  const std::string before = "vocabulary: found 100000, allowed: at most ";
  EXPECT_TRUE(message.starts_with(before)) << message;
  return std::stoul(message.substr(before.size()));
}

// Properties (3) and (5), to the last pair.
TEST(TrainBytePairs, EqualsCountingAllPairsAnew) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    const std::string text =
        random_text(Stream(test::seed(), "TrainBytePairs", trial), 5 + 4 * trial);
    const std::size_t most = most_tokens(text);
    if (most == kByteTokens) continue;
    const BytePairVocabulary trained = train_byte_pairs(text, most);
    ASSERT_EQ(trained.merges, merges_plainly(text, most - kByteTokens, Ties::by_text)) << text;
    ASSERT_EQ(trained.merges.size(), most - kByteTokens);
    ASSERT_EQ(std::set(trained.tokens.begin(), trained.tokens.end()).size(), most);
  }
}

// Property (4).
TEST(TrainBytePairs, BeginsWithTheSmallerVocabulary) {
  const std::string text = random_text(test::stream("TrainBytePairs/prefix"), 500);
  const BytePairVocabulary small = train_byte_pairs(text, 270), large = train_byte_pairs(text, 290);
  EXPECT_TRUE(std::equal(small.tokens.begin(), small.tokens.end(), large.tokens.begin()));
  EXPECT_TRUE(std::equal(small.merges.begin(), small.merges.end(), large.merges.begin()));
}

TEST(TrainBytePairs, IsWorkedOutByHand) {
  // "aaa" holds (a, a) twice and becomes "aa", "a"; then (aa, a) is met in two words.
  const BytePairVocabulary trained = train_byte_pairs("aaa aaa", 258);
  EXPECT_EQ(trained.merges, (Merges{{"a", "a"}, {"aa", "a"}}));
  EXPECT_EQ(trained.tokens[0], "Ā");
  EXPECT_EQ(trained.tokens[97], "a");
  EXPECT_EQ(trained.tokens[257], "aaa");
  // Of equals the smaller text, left half first: 'z' is before 'Ġ', which is U+0120.
  EXPECT_EQ(train_byte_pairs("zy b", 257).merges, (Merges{{"z", "y"}}));
  EXPECT_EQ(train_byte_pairs("ca cb", 257).merges, (Merges{{"c", "a"}}));
}

TEST(TrainBytePairs, PutsTheSeparatorLast) {
  const BytePairVocabulary trained = train_byte_pairs("one<|endoftext|>one<|endoftext|>", 259);
  EXPECT_EQ(trained.tokens.size(), 259u);
  EXPECT_EQ(trained.tokens.back(), "<|endoftext|>");
  EXPECT_EQ(trained.merges, (Merges{{"n", "e"}, {"o", "ne"}}));
}

TEST(TrainBytePairs, RefusesWhatItCannotReach) {
  const auto message = [](const std::string& text, std::size_t size) {
    const auto refused = outcome([&] { (void)train_byte_pairs(text, size); });
    EXPECT_EQ(refused.code, Code::bad_value);
    return refused.message;
  };
  EXPECT_EQ(message("abc", 300),
            "vocabulary: found 300, allowed: at most 258 tokens, which this text has");
  EXPECT_EQ(message("", 257),
            "vocabulary: found 257, allowed: at most 256 tokens, which this text has");
  EXPECT_EQ(message("abc", 256),
            "vocabulary: found 256, allowed: at least 257 tokens, the bytes and one more");
  EXPECT_EQ(message("ab\xff", 257),
            "text: found \\xff at byte 2 (counted from 0), which is no UTF-8 character, allowed: "
            "UTF-8");
}

// --- the package ---------------------------------------------------------------------------------

constexpr std::string_view kBoats =
    "the boats drift under the old bridge and the ferries count the boats under the bridge\n"
    "an old raft drifted under the bridge, and the old ferry counted 12 boats, 12 rafts\n"
    "aaaa aaa aa a banana bananas\n";

// What the package joins. Of equally frequent pairs it takes the one whose halves are older, and
// ours the one that is smaller as text: up to "a t" that is the same, then ours joins "at" and "s"
// where the package first joins the letters "d" and "g".
const std::vector<std::string> kPackageMerges{
    "Ġ b",  "a n",   "h e",   "t he",   "a a",   "r i",     "Ġ the",    "e r",
    "u n",  "f t",   "a t",   "d g",    "d er",  "l d",     "o at",     "o ld",
    "Ġ un", "Ġ old", "Ġb ri", "Ġb oat", "dg e",  "Ġun der", "Ġbri dge", "Ġboat s",
    "1 2",  "a ft",  "c o",   "d ri",   "e d",   "f er",    "r aft",    "Ġ an",
    "Ġ aa", "Ġ 12",  "Ġ co",  "Ġ dri",  "Ġ fer", "Ġ raft",  "Ġb an",    "an a"};

std::vector<std::string> lines_of(const Merges& merges) {
  std::vector<std::string> lines;
  for (const auto& [left, right] : merges) lines.push_back(left + " " + right);
  return lines;
}

TEST(TrainBytePairs, DiffersFromThePackageInTiesOnly) {
  const std::vector<std::string> ours = lines_of(train_byte_pairs(kBoats, 296).merges);
  EXPECT_EQ(lines_of(merges_plainly(kBoats, 40, Ties::by_age)), kPackageMerges);
  EXPECT_EQ(lines_of(merges_plainly(kBoats, 40, Ties::by_text)), ours);
  EXPECT_TRUE(std::equal(ours.begin(), ours.begin() + 11, kPackageMerges.begin()));
  EXPECT_EQ(ours[11], "at s");
}

// --- the files -----------------------------------------------------------------------------------

std::unique_ptr<Tokenizer> reopened(const BytePairVocabulary& vocabulary) {
  const BytePairFiles files = text_files(vocabulary);
  return parse_gpt2_tokenizer({files.vocabulary, "vocab.json"}, {files.merges, "merges.txt"});
}

// Any UTF-8: of every length of character, with blanks and the separator between.
std::string random_characters(const Stream& stream) {
  constexpr std::string_view kinds[] = {
      "a",  "the",           " ",      "\n",    "\\", "\"", "é", "ß", "한", "😀", "\t",
      "'s", "<|endoftext|>", "\u00a0", "\u2028"};
  std::string text;
  for (std::uint64_t k = 0; k < 40; ++k) {
    text += kinds[static_cast<std::size_t>(stream.uniform(k) * std::size(kinds))];
  }
  return text;
}

// Property (2), with a separator in the vocabulary and without.
TEST(BytePairFiles, EncodeAndDecodeAnyText) {
  const std::string boats(kBoats);
  for (const std::string& text : {boats, boats + "<|endoftext|>" + boats}) {
    const auto tokenizer = reopened(train_byte_pairs(text, 300));
    EXPECT_EQ(tokenizer->size(), 300u);
    EXPECT_EQ(tokenizer->end().has_value(), text.size() > boats.size());
    for (std::uint64_t trial = 0; trial < 50; ++trial) {
      const std::string any = random_characters(Stream(test::seed(), "BytePairFiles", trial));
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(any)), any);
    }
  }
}

// Property (6), and words tile the text.
TEST(BytePairWords, AreEncodedEachAlone) {
  for (const Separators separators : {Separators::words, Separators::plain_text}) {
    const bool as_words = separators == Separators::words;
    const auto tokenizer =
        reopened(train_byte_pairs(std::string(kBoats) + (as_words ? "<|endoftext|>" : ""), 300));
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
      const std::string any = random_characters(Stream(test::seed(), "BytePairWords", trial));
      Ids ids;
      std::string tiled;
      for (const std::string_view word : byte_pair_words(any, separators)) {
        tiled += word;
        const Ids alone = tokenizer->encode(word);
        ids.insert(ids.end(), alone.begin(), alone.end());
      }
      ASSERT_EQ(tiled, any);
      ASSERT_EQ(ids, tokenizer->encode(any));
    }
  }
}

// Every token has the id of its place, and is what a text of it becomes once.
TEST(BytePairFiles, KeepTheOrderOfTheTokens) {
  const BytePairVocabulary trained = train_byte_pairs(kBoats, 280);
  const auto tokenizer = reopened(trained);
  for (int id = 0; id < 280; ++id) {
    EXPECT_EQ(tokenizer->decode(Ids{id}),
              bytes_of_letters(trained.tokens[static_cast<std::size_t>(id)]));
  }
  EXPECT_EQ(tokenizer->encode("the").size(), 1u);
  EXPECT_EQ(text_files(trained).merges.substr(0, 14), "#version: 0.2\n");
}

}  // namespace
}  // namespace dewpoint::text
