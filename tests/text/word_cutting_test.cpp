// Words of a text, and what a tokenizer of words makes of them.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/utf8.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "dewpoint/text/lower_case.hpp"
#include "dewpoint/text/word_cutting.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::text {
namespace {

using test::outcome;
using Ids = std::vector<int>;
using Strings = std::vector<std::string>;

Strings cut(std::string_view text, WordStyle style) {
  const WordList list = words_of(text, style);
  return {list.words.begin(), list.words.end()};
}

std::string joined(const Strings& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// --- the styles ----------------------------------------------------------------------------------

TEST(WordsOf, PlainTextLosesCaseAndPunctuationStandsAlone) {
  EXPECT_EQ(cut("It's 5 o'clock, Zoë!\n\nNaïve\u00a0Straße—3rd", WordStyle::plain),
            (Strings{"it", "'", "s", "5", "o", "'", "clock", ",", "zoë", "!", "naïve", "straße",
                     "—", "3rd"}));
  EXPECT_EQ(cut("ÄPFEL ПРИВЕТ ΟΔΟΣ 한국 e\u0301", WordStyle::plain),
            (Strings{"äpfel", "привет", "οδοσ", "한국", "e\u0301"}));
  EXPECT_EQ(cut("", WordStyle::plain), Strings{});
  EXPECT_EQ(cut(" \n\t\u3000", WordStyle::plain), Strings{});
}

TEST(WordsOf, SpacedTextStaysAsItIs) {
  EXPECT_EQ(cut(" \n = Title = \n  The 1 @-@ 2 <unk> .\r\nEnd", WordStyle::spaced),
            (Strings{"<eos>", "=", "Title", "=", "<eos>", "The", "1", "@-@", "2", "<unk>", ".",
                     "<eos>", "End"}));
  EXPECT_EQ(cut("a\xff b", WordStyle::spaced), (Strings{"a\xff", "b"}));
}

TEST(WordsOf, AutomaticStyleLooksForTheMarksOfWikiText) {
  EXPECT_EQ(cut("A <unk> b.", WordStyle::automatic), (Strings{"A", "<unk>", "b."}));
  EXPECT_EQ(cut("A @-@ b.", WordStyle::automatic), (Strings{"A", "@-@", "b."}));
  EXPECT_EQ(cut("A<unk> b.", WordStyle::automatic), (Strings{"a", "<", "unk", ">", "b", "."}));
}

TEST(WordsOf, SeparatorIsAWordInEveryStyle) {
  EXPECT_EQ(cut("End.<|endoftext|>\nOnce", WordStyle::plain),
            (Strings{"end", ".", "<|endoftext|>", "once"}));
  EXPECT_EQ(cut("End.<|endoftext|>\nOnce", WordStyle::spaced),
            (Strings{"End.", "<|endoftext|>", "<eos>", "Once"}));
  EXPECT_EQ(cut("<|ENDOFTEXT|>", WordStyle::plain), (Strings{"<", "|", "endoftext", "|", ">"}));
}

TEST(WordsOf, KeepsStorageOnlyWhereCaseChanged) {
  const std::string lower = "no capitals, here", upper = "One capital";
  const WordList same = words_of(lower, WordStyle::plain);
  EXPECT_EQ(same.storage, nullptr);
  EXPECT_EQ(same.words[1].data(), lower.data() + 3);
  EXPECT_NE(words_of(upper, WordStyle::plain).storage, nullptr);
}

TEST(WordsOf, NamesTheByteThatIsNoUtf8) {
  EXPECT_EQ(outcome([] { (void)words_of("ab\xc3(", WordStyle::plain); }).message,
            "text: found \\xc3 at byte 2 (counted from 0), which is no UTF-8 character, allowed: "
            "UTF-8");
}

TEST(WordStyle, HasAName) {
  for (const WordStyle style : {WordStyle::automatic, WordStyle::plain, WordStyle::spaced}) {
    EXPECT_EQ(word_style_named(name_of(style)), style);
  }
  EXPECT_EQ(word_style_named("Plain"), std::nullopt);
}

// --- properties ----------------------------------------------------------------------------------

std::string random_text(const Stream& stream, std::size_t length) {
  constexpr std::string_view kinds[] = {
      "a",     "B",  "Éa", "7", " ",     "  ", "\n", ".", "'", "😀", "\u0301", "\t", "<|endoftext|>",
      "<eos>", "\r", "İ",  "Ⱥ", "\u00a0"};
  std::string text;
  for (std::size_t k = 0; k < length; ++k) {
    text += kinds[static_cast<std::size_t>(stream.uniform(k) * std::size(kinds))];
  }
  return text;
}

// Properties (1) and (2).
TEST(WordsOf, CutsItsOwnWordsIntoThemselves) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const std::string text = random_text(Stream(test::seed(), "WordsOf", trial), 30);
    for (const WordStyle style : {WordStyle::plain, WordStyle::spaced}) {
      const Strings words = cut(text, style);
      for (const std::string& word : words) {
        ASSERT_FALSE(word.empty() || word.find_first_of(" \t\n\v\f\r") != std::string::npos);
      }
      ASSERT_EQ(cut(joined(words), style), words) << text;
    }
  }
}

// Property (3), at the places that end_of_word() gives.
TEST(WordsOf, PartsOfATextHaveItsWords) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const std::string text = random_text(Stream(test::seed(), "EndOfWord", trial), 30) + "x y";
    const std::size_t end = end_of_word(text, text.size() / 2);
    ASSERT_GT(end, text.size() / 2);
    ASSERT_LT(end, text.size());
    for (const WordStyle style : {WordStyle::plain, WordStyle::spaced}) {
      Strings words = cut(text.substr(0, end), style);
      const Strings rest = cut(text.substr(end), style);
      words.insert(words.end(), rest.begin(), rest.end());
      ASSERT_EQ(words, cut(text, style)) << text;
    }
  }
}

TEST(EndOfWord, IsTheCharacterItselfWhereNoWordEnds) {
  EXPECT_EQ(end_of_word("ab cd ef", 3), 5u);
  EXPECT_EQ(end_of_word("ab cd ef", 2), 5u);  // "ab" ends at byte 2, not behind it
  EXPECT_EQ(end_of_word("ab cd ef", 6), 6u);
  EXPECT_EQ(end_of_word("ab\u00a0 cd ef", 1), 7u);  // not beside white space of another kind
  EXPECT_EQ(end_of_word("한국", 5), 3u);
}

// Properties (1) to (3) of lower_case, for every character there is.
TEST(LowerCase, KeepsLettersLetters) {
  std::size_t changed = 0;
  for (char32_t value = 1; value <= 0x10ffff; ++value) {
    if (value >= 0xd800 && value <= 0xdfff) continue;
    const std::string character = checkpoint::encode_utf8(std::u32string(1, value));
    const std::string lower = lower_case(character);
    if (lower == character) continue;
    ++changed;
    ASSERT_EQ(lower_case(lower), lower);
    ASSERT_LE(2 * lower.size(), 3 * character.size());
    ASSERT_EQ(cut("x" + character + "x", WordStyle::plain).size(), 1u) << character;
  }
  // Unicode 14 has 1831 letters of the class Lu, and 472 of them have no lower case of one letter
  // (mathematical alphabets and a few more); later versions add letters.
  EXPECT_GE(changed, 1359u);
  EXPECT_EQ(lower_case("ÀÉ Ω ẞ İ Ⱥ Zz"), "àé ω ß İ ⱥ zz");
}

// --- the tokenizer -------------------------------------------------------------------------------

TEST(StyledWordTokenizer, CutsRawTextByItsStyle) {
  const auto plain = parse_json_tokenizer(
      R"({"style": "plain", "token2id": {"the": 0, "<unk>": 1, ".": 2}})", "w");
  EXPECT_EQ(plain->encode("The end.THE"), (Ids{0, 1, 2, 0}));
  const auto spaced = parse_json_tokenizer(
      R"({"style": "spaced", "token2id": {"The": 0, "<unk>": 1, "<eos>": 2}})", "w");
  EXPECT_EQ(spaced->encode("The end.\nThe"), (Ids{0, 1, 2, 0}));
  EXPECT_EQ(spaced->end(), 2);
}

TEST(StyledWordTokenizer, NamesTheWordThatItLacks) {
  const auto tokenizer = parse_json_tokenizer(R"({"style": "plain", "token2id": {"a": 0}})", "w");
  EXPECT_EQ(outcome([&] { (void)tokenizer->encode("a A Ⱥ b"); }).message,
            "text: found the word '\\xe2\\xb1\\xa5' as word 2 (counted from 0), allowed: words of "
            "the tokenizer's vocabulary");
}

TEST(StyledWordTokenizer, RefusesOtherStyles) {
  for (const char* style : {R"("automatic")", R"("x")", "3"}) {
    const std::string file = std::string(R"({"token2id": {"a": 0}, "style": )") + style + "}";
    const auto refused = outcome([&] { (void)parse_json_tokenizer(file, "w"); });
    EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
    EXPECT_NE(refused.message.find("style"), std::string::npos) << refused.message;
  }
}

}  // namespace
}  // namespace dewpoint::text
