// The parts that the tokenizers share, and how a tokenizer is found.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/text/byte_alphabet.hpp"
#include "dewpoint/text/composed_form.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "dewpoint/text/merging.hpp"
#include "dewpoint/text/pattern.hpp"
#include "dewpoint/text/pattern_dialect.hpp"
#include "dewpoint/text/tokenizer.hpp"
#include "support/test_seed.hpp"
#include "text/small_tokenizers.hpp"

namespace dewpoint::text {
namespace {

namespace fs = std::filesystem;
using test::outcome;
using Ids = std::vector<int>;

// --- joining -------------------------------------------------------------------------------------

// Looks through all pairs anew after every join.
void join_plainly(Ids& tokens, const MergeOf& merge_of) {
  while (true) {
    std::optional<Merge> best;
    std::size_t place = 0;
    for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
      const auto merge = merge_of(tokens[k], tokens[k + 1]);
      if (merge && (!best || merge->order < best->order)) {
        best = merge;
        place = k;
      }
    }
    if (!best) return;
    tokens[place] = best->token;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

// Property (1) of join_neighbours. Orders repeat, so ties are common.
TEST(JoinNeighbours, EqualsTheSearchThroughAllPairs) {
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    const Stream stream(test::seed(), "JoinNeighbours", trial);
    std::uint64_t index = 0;
    const auto draw = [&](double many) { return static_cast<int>(stream.uniform(index++) * many); };
    std::map<std::pair<int, int>, Merge> table;
    for (int k = 0; k < 40; ++k) {
      const int left = draw(12), right = draw(12), order = draw(6);
      table[{left, right}] = {static_cast<double>(order), draw(12)};
    }
    const MergeOf merge_of = [&](int left, int right) -> std::optional<Merge> {
      const auto found = table.find({left, right});
      if (found == table.end()) return std::nullopt;
      return found->second;
    };
    Ids fast;
    for (int k = 0; k < 60; ++k) fast.push_back(draw(12));
    Ids plain = fast;
    join_neighbours(fast, merge_of);
    join_plainly(plain, merge_of);
    ASSERT_EQ(fast, plain) << "trial " << trial;
  }
}

// Property (2): the plain search would take 10^11 looks at a pair here.
TEST(JoinNeighbours, IsNotQuadratic) {
  Ids tokens(400'000, 1);
  std::size_t looks = 0;
  join_neighbours(tokens, [&](int left, int right) -> std::optional<Merge> {
    ++looks;
    if (left != right) return std::nullopt;
    return Merge{static_cast<double>(left), left + 1};
  });
  // 400000 = 2^7 · 3125, and so on: a token for every bit.
  EXPECT_LT(tokens.size(), 20u);
  // One look per pair at the start, two per join.
  EXPECT_LE(looks, 3u * 400'000u);
}

// --- bytes and letters ---------------------------------------------------------------------------

TEST(ByteAlphabet, ComesBackForEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(static_cast<unsigned char>(byte));
  EXPECT_EQ(bytes_of_letters(letters_of_bytes(all)), all);
  EXPECT_EQ(letters_of_bytes(" \n!é"), "ĠĊ!Ã©");
  EXPECT_EQ(bytes_of_letters("a b"), "a b");  // a blank is no letter
}

// --- composed form -------------------------------------------------------------------------------

// Properties (1) and (2) of first_unsettled, on characters of each kind.
TEST(ComposedForm, StopsAtWhatMayChange) {
  for (const std::string settled :
       {"café naïve", "😀❤️👨‍👩‍👧", "한국어", "你好", "Привет", ""}) {
    EXPECT_EQ(first_unsettled(settled), settled.size()) << settled;
  }
  for (const std::string open :
       {"e\u0301", "\u1100\u1161", "\uac00\u11a8", "\u212b", "\u0958", "\u09c7\u09be", "\uf900"}) {
    EXPECT_LT(first_unsettled(open), open.size()) << open;
  }
  EXPECT_EQ(first_unsettled("ab\u0301"), 2u);
}

// --- expressions ---------------------------------------------------------------------------------

std::vector<std::string> words(std::string_view expression, std::string_view text) {
  std::vector<std::string> found;
  for (const Span& span : Pattern(expression, "p").matches(text)) {
    found.emplace_back(text.substr(span.begin, span.end - span.begin));
  }
  return found;
}

TEST(Pattern, KnowsUnicodeAndLooksAhead) {
  EXPECT_EQ(words(R"(\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+)", "Zwölf 1234  ½ "),
            (std::vector<std::string>{"Zwölf", " ", "123", "4", " ", " ", "½", " "}));
  EXPECT_EQ(words("(?i:'S)", "it's IT'S"), (std::vector<std::string>{"'s", "'S"}));
  EXPECT_EQ(words("b*", "aébb"), std::vector<std::string>{"bb"});  // empty matches are none
}

TEST(Pattern, RefusesWhatItWouldReadDifferently) {
  for (const char* expression :
       {R"(\h+)", R"([\p{L}&&[^a]])", "[a[b]]", "a{1,3}+", "(?m:a)", "(?s)a", "[]a]", "[^]a]"}) {
    EXPECT_TRUE(foreign_construct(expression).has_value()) << expression;
    EXPECT_THROW(Pattern(expression, "p"), checkpoint::Refusal) << expression;
  }
  for (const char* expression : {R"(\p{L}+)", R"([\[\]&]+)", "a++", "(?i:a)", "(?-i:a)", "(?!a)b",
                                 R"([^\s\p{L}]?+)", "[[:alpha:]]", R"(\x{2581}+)", "&&", "(?:a)"}) {
    EXPECT_FALSE(foreign_construct(expression).has_value()) << expression;
  }
  for (const char* expression : {"(", R"(\p{Nothing})", "", R"(\C)", "a{2,1}"}) {
    EXPECT_THROW(Pattern(expression, "p"), checkpoint::Refusal) << expression;
  }
}

// Property (1) of Pattern::matches: there are 2^39 ways to part the letters.
TEST(Pattern, GivesUpOnAHostileExpression) {
  const std::string text(40, 'a');
  const auto refused = outcome([&] { (void)words("(a+)+[bc]", text); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message.find('\n'), std::string::npos);
}

TEST(Pattern, StandsLongRunsOfBlanks) {
  const std::string text = std::string(300'000, ' ') + "x";
  EXPECT_EQ(words(R"(\s*[\r\n]+|\s+(?!\S)|\s+|x)", text).size(), 3u);
}

// --- words ---------------------------------------------------------------------------------------

TEST(WordTokenizer, TakesTheMostWordsThatAreOneToken) {
  const auto tokenizer = parse_json_tokenizer(
      R"({"token2id": {"<SOS>": 0, "Casting": 1, "Sand Casting": 2, "Die": 3, "<EOS>": 9}})", "w");
  EXPECT_EQ(tokenizer->kind(), "words");
  EXPECT_EQ(tokenizer->size(), 10u);
  EXPECT_EQ(tokenizer->beginning(), 0);
  EXPECT_EQ(tokenizer->end(), 9);
  EXPECT_EQ(tokenizer->encode(" Die\tSand  Casting\nCasting "), (Ids{3, 2, 1}));
  EXPECT_EQ(tokenizer->decode(Ids{0, 2, 1}), "<SOS> Sand Casting Casting");
  EXPECT_EQ(outcome([&] { (void)tokenizer->encode("Die Sand Die"); }).message,
            "text: found the word 'Sand' at byte 4 (counted from 0), allowed: words of the "
            "tokenizer's vocabulary");
}

TEST(WordTokenizer, HasATokenForUnknownWordsWhereTheFileHas) {
  const auto tokenizer = parse_json_tokenizer(R"({"token2id": {"a": 0, "<unk>": 1}})", "w");
  EXPECT_EQ(tokenizer->encode("a b a"), (Ids{0, 1, 0}));
}

TEST(WordTokenizer, ReadsTheChainsOfCapp) {
  const fs::path folder = fs::path(DEWPOINT_DATA) / "capp-gpt2";
  if (!fs::exists(folder)) GTEST_SKIP() << "no data at " << folder;
  const auto tokenizer = open_tokenizer(folder);
  EXPECT_EQ(tokenizer->size(), 53u);
  EXPECT_EQ(tokenizer->beginning(), 49);
  EXPECT_EQ(tokenizer->encode("<SOS> High Pressure Die Casting Turning"), (Ids{49, 34, 29}));
}

// --- finding a tokenizer -------------------------------------------------------------------------

TEST(OpenTokenizer, SearchesAFolderInOrder) {
  test::ScratchFolder folder;
  const fs::path here = (folder / "x").parent_path();
  const auto kind = [&] { return open_tokenizer(here)->kind(); };
  EXPECT_EQ(outcome([&] { (void)kind(); }).code, Code::unreadable_file);
  test::write_bytes(folder / "token_mappings.json", R"({"token2id": {"a": 0}})");
  EXPECT_EQ(kind(), "words");
  fs::copy_file(fs::path(DEWPOINT_SENTENCEPIECE_CORPUS) / "words.model", folder / "tok.model");
  EXPECT_EQ(kind(), "sentencepiece");
  test::write_bytes(folder / "vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  test::write_bytes(folder / "merges.txt", "a b\n");
  EXPECT_EQ(kind(), "GPT-2 BPE");
  EXPECT_EQ(open_tokenizer(folder / "merges.txt")->encode("ab"), Ids{2});
  test::write_bytes(folder / "tokenizer.json", test::gpt2_json().dump());
  EXPECT_EQ(kind(), "tokenizer.json BPE");
}

TEST(OpenTokenizer, SaysWhatItLooksFor) {
  test::ScratchFolder folder;
  test::write_bytes(folder / "notes.txt", "hello");
  test::write_bytes(folder / "config.json", "{}");
  test::write_bytes(folder / "a.model", "");
  test::write_bytes(folder / "b.model", "");
  EXPECT_EQ(outcome([&] { (void)open_tokenizer(folder / "notes.txt"); }).code,
            Code::unreadable_file);
  EXPECT_EQ(outcome([&] { (void)open_tokenizer(folder / "none.json"); }).code,
            Code::unreadable_file);
  EXPECT_EQ(outcome([&] { (void)open_tokenizer(folder / "config.json"); }).code,
            Code::malformed_file);
  const auto two = outcome([&] { (void)open_tokenizer((folder / "x").parent_path()); });
  EXPECT_NE(two.message.find("found 2 files *.model"), std::string::npos) << two.message;
}

}  // namespace
}  // namespace dewpoint::text
