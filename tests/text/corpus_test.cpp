// A text as a row of tokens: small texts worked out by hand.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/text/corpus.hpp"
#include "dewpoint/text/token_names.hpp"
#include "text/corpus_files.hpp"

namespace dewpoint::text {
namespace {

using test::all_ids;
using test::entropy_error;
using test::outcome;
using test::reopened_ids;
using Ids = std::vector<std::int32_t>;
using Strings = std::vector<std::string>;

// --- reading -------------------------------------------------------------------------------------

TEST(ReadText, GivesTheBytesWithoutAByteOrderMark) {
  test::ScratchFolder folder;
  test::write_bytes(folder / "a.txt", "\xef\xbb\xbfZoë\r\n");
  EXPECT_EQ(read_text(folder / "a.txt"), "Zoë\r\n");
}

TEST(ReadText, NamesByteLineAndColumn) {
  test::ScratchFolder folder;
  const std::string file = (folder / "a.txt").string();
  const auto refused = [&](const std::string& bytes) {
    test::write_bytes(file, bytes);
    const auto result = outcome([&] { (void)read_text(file); });
    EXPECT_EQ(result.code, Code::bad_value);
    return result.message;
  };
  EXPECT_EQ(refused("ok\n\nZoë \xff"),
            file + ": line 3, column 5: found \\xff at byte 9 (counted from 0), allowed: UTF-8");
  EXPECT_EQ(refused("\xc3"),
            file + ": line 1, column 1: found \\xc3 at byte 0 (counted from 0), allowed: UTF-8");
  EXPECT_EQ(refused(""), file + ": is empty, allowed: a text");
  EXPECT_EQ(refused("\xef\xbb\xbf"), file + ": is empty, allowed: a text");
  EXPECT_EQ(outcome([&] { (void)read_text(folder / "none.txt"); }).code, Code::unreadable_file);
}

// --- words ---------------------------------------------------------------------------------------

CorpusQuestion question(std::string tokenizer, std::size_t vocabulary, double validation = 0.5) {
  return {.file = "t.txt",
          .tokenizer = std::move(tokenizer),
          .style = WordStyle::automatic,
          .vocabulary = vocabulary,
          .validation = validation};
}

// 32 bytes; the training part is "b a b, c b a b, d" of 17 bytes: byte 16 is in the second "d".
constexpr const char* kLetters = "b a b, c b a b, d B x a, b a, e.";

TEST(CorpusOfWords, RanksTheWordsOfTheTrainingPart) {
  const Corpus corpus = corpus_of(kLetters, question("words", 4), 1);
  // b 4, then 2 each: the comma, <unk> for c and d, and a.
  EXPECT_EQ(corpus.names, (Strings{"b", ",", "<unk>", "a"}));
  EXPECT_EQ(corpus.counts, (std::vector<std::uint64_t>{4, 2, 2, 2}));
  EXPECT_EQ(corpus.training, (Ids{0, 3, 0, 1, 2, 0, 3, 0, 1, 2}));
  EXPECT_EQ(corpus.validation, (Ids{0, 2, 3, 1, 0, 3, 1, 2, 2}));
  EXPECT_EQ(corpus.vocabulary, 4u);
  EXPECT_EQ(corpus.style, "plain");
  EXPECT_EQ(corpus.tokenizer->kind(), "words");
}

TEST(CorpusOfWords, UnknownMayBeTheMostFrequentToken) {
  const Corpus corpus = corpus_of(kLetters, question("words", 2), 1);
  EXPECT_EQ(corpus.names, (Strings{"<unk>", "b"}));
  EXPECT_EQ(corpus.counts, (std::vector<std::uint64_t>{6, 4}));
}

TEST(CorpusOfWords, UnknownStaysWhereAllWordsAreKept) {
  const Corpus corpus = corpus_of(kLetters, question("words", 6), 1);
  EXPECT_EQ(corpus.names, (Strings{"b", ",", "a", "c", "d", "<unk>"}));
  EXPECT_EQ(corpus.counts.back(), 0u);
  EXPECT_EQ(corpus.validation, (Ids{0, 5, 2, 1, 0, 2, 1, 5, 5}));
}

TEST(CorpusOfWords, UnknownOfTheTextIsTheUnknownOfTheCut) {
  const Corpus corpus = corpus_of("a <unk> b a <unk>\n b c\n", question("words", 3, 0.3), 1);
  EXPECT_EQ(corpus.style, "spaced");
  EXPECT_EQ(corpus.names, (Strings{"<unk>", "a", "b"}));
  EXPECT_EQ(corpus.counts, (std::vector<std::uint64_t>{2, 2, 1}));
  EXPECT_EQ(corpus.validation, (Ids{0, 2, 0, 0}));  // the end of a line, b, c, another end
}

// --- byte pairs ----------------------------------------------------------------------------------

TEST(CorpusOfBytePairs, RanksItsTokens) {
  const Corpus corpus = corpus_of("the cat the hat the bat the rat", question("bpe", 260), 1);
  EXPECT_EQ(corpus.style, "bpe");
  EXPECT_EQ(corpus.vocabulary, 260u);
  EXPECT_TRUE(std::is_sorted(corpus.counts.rbegin(), corpus.counts.rend()));
  EXPECT_EQ(corpus.tokenizer->kind(), "GPT-2 BPE");
  EXPECT_EQ(corpus.files[0].first, "vocab.json");
  EXPECT_EQ(corpus.files[1].first, "merges.txt");
  // The bytes of no character, and blanks, are shown.
  EXPECT_NO_THROW((void)token_named(corpus, "\\xff"));
  EXPECT_EQ(token_named(corpus, " "), token_named(corpus, "\u2581"));
}

// --- refusals ------------------------------------------------------------------------------------

std::string refusal(const std::string& text, const CorpusQuestion& asked, std::size_t least = 1) {
  const auto refused = outcome([&] { (void)corpus_of(text, asked, least); });
  EXPECT_EQ(refused.code, Code::bad_value) << refused.message;
  EXPECT_EQ(refused.message.find('\n'), std::string::npos);
  return refused.message;
}

TEST(CorpusRefusal, NamesBothNumbersOfAVocabularyTooLarge) {
  EXPECT_EQ(refusal(kLetters, question("words", 7)),
            "t.txt: vocabulary: found 7, allowed: 2 to 6, the different words of the training part "
            "and <unk>");
  EXPECT_EQ(refusal(kLetters, question("words", 1)),
            "t.txt: vocabulary: found 1, allowed: 2 to 6, the different words of the training part "
            "and <unk>");
  EXPECT_EQ(refusal("ab ab ab ab", question("bpe", 300)),
            "t.txt: vocabulary: found 300, allowed: at most 258 tokens, which this text has");
  EXPECT_EQ(refusal("ab ab ab ab", question("bpe", 256)),
            "t.txt: vocabulary: found 256, allowed: at least 257 tokens, the bytes and one more");
}

TEST(CorpusRefusal, NamesTheShareOfValidation) {
  for (const double share : {0.0, -0.1, 0.51, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(refusal(kLetters, question("words", 4, share)).starts_with("t.txt: validation: "));
  }
  EXPECT_EQ(refusal(kLetters, question("words", 4, 0.75)),
            "t.txt: validation: found 0.75, allowed: more than 0, at most 0.5");
}

TEST(CorpusRefusal, NamesThePartThatIsTooShort) {
  EXPECT_EQ(refusal(kLetters, question("words", 4), 11),
            "t.txt: training part: found 10 tokens, allowed: at least 11");
  EXPECT_EQ(refusal(kLetters, question("words", 4), 10),
            "t.txt: validation part: found 9 tokens, allowed: at least 10");
  EXPECT_EQ(refusal("", question("words", 4)), "t.txt: text: found 0 bytes, allowed: some");
  EXPECT_EQ(refusal(" \n \n", question("words", 4)),
            "t.txt: training part: found no words, allowed: some");
}

TEST(CorpusRefusal, NamesTextThatIsNoUtf8) {
  EXPECT_EQ(refusal("ab \xff c", question("words", 4)),
            "t.txt: line 1, column 4: found \\xff at byte 3 (counted from 0), allowed: UTF-8");
}

TEST(CorpusRefusal, NamesATokenizerThatIsNone) {
  EXPECT_EQ(refusal(kLetters, question("wrods", 4)),
            "t.txt: tokenizer: found 'wrods', allowed: words, bpe or the path of a tokenizer");
}

// --- names and numbers ---------------------------------------------------------------------------

TEST(Visible, ShowsBlanksAndBytes) {
  EXPECT_EQ(visible(" the\n\xffé\u2028"), "\u2581the\\x0a\\xffé\\xe2\\x80\\xa8");
  EXPECT_EQ(visible(visible(" \n\xff")), visible(" \n\xff"));
}

TEST(TokenNames, AreNeverEqual) {
  EXPECT_EQ(token_names({"a", "", "a", "a#2", " "}, {1, 1, 5, 1, 1}),
            (Strings{"a#0", "#1", "a", "a#2", "\u2581"}));
  EXPECT_EQ(token_names({"a#1", "a", "a"}, {3, 2, 2}), (Strings{"a#1", "a", "a#2"}));
}

TEST(TokenNamed, FindsATokenOrTheNearestName) {
  const Corpus corpus =
      corpus_of("the old boat, the new boat and the sea", question("words", 5), 1);
  EXPECT_EQ(token_named(corpus, "the"), 0);
  const auto refused = outcome([&] { (void)token_named(corpus, "teh"); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message,
            "token: found 'teh', allowed: tokens of the vocabulary; did you mean 'the'?");
  EXPECT_EQ(outcome([&] { (void)token_named(corpus, "zzzz\n"); }).message,
            "token: found 'zzzz\\x0a', allowed: tokens of the vocabulary");
}

// Property (5).
TEST(UnigramEntropy, IsThatOfTheCounts) {
  Corpus corpus;
  corpus.training.assign(8, 0);
  corpus.counts = {8, 0};
  EXPECT_EQ(unigram_entropy(corpus), 0.0);
  corpus.counts = {2, 2, 2, 2};
  EXPECT_NEAR(unigram_entropy(corpus), std::log(4.0), entropy_error(4, std::log(4.0)));
}

// --- files ---------------------------------------------------------------------------------------

// Property (3).
TEST(CorpusFiles, EncodeRawTextAsTheCorpus) {
  const std::string plain =
      "Once, Zoë's \"boat\" drifted.<|endoftext|>\nONCE more: the boat \\ drifted \u00a0 on.\n\n"
      "The boat stopped, once and for all.<|endoftext|>\n";
  const std::string spaced = " = A Boat = \n \n The <unk> boat 's 1 @,@ 000 <unk> \" masts \" . \n";
  for (const std::string& text : {plain, spaced}) {
    for (const double validation : {0.5, 0.2}) {
      const Corpus words = corpus_of(text, question("words", 5, validation), 1);
      EXPECT_EQ(reopened_ids(words, text), all_ids(words));
      const Corpus pairs = corpus_of(text, question("bpe", 262, validation), 1);
      EXPECT_EQ(reopened_ids(pairs, text), all_ids(pairs));
    }
  }
}

// The training part has no separator, so it is no token of the vocabulary.
TEST(CorpusFiles, EncodeASeparatorThatOnlyTheValidationPartHolds) {
  const std::string text = "The boat drifts, the boat stops. The boat ends.<|endoftext|> More.";
  for (const auto& [tokenizer, vocabulary] : {std::pair("words", 4u), std::pair("bpe", 260u)}) {
    const Corpus corpus = corpus_of(text, question(tokenizer, vocabulary), 1);
    EXPECT_EQ(reopened_ids(corpus, text), all_ids(corpus));
  }
}

// --- tokenizers from files -----------------------------------------------------------------------

TEST(CorpusOfTokenizer, KeepsItsIdsAndPartsTextsAtTheSeparator) {
  test::ScratchFolder folder;
  test::write_bytes(folder / "token_mappings.json",
                    R"({"token2id": {"</s>": 0, "a": 1, "b": 2, "<unk>": 5}})");
  const std::string path = (folder / "token_mappings.json").string();
  const std::string text = "a b<|endoftext|> c a <|endoftext|>b b";
  const Corpus corpus = corpus_of(text, question(path, 0, 0.2), 1);
  EXPECT_EQ(corpus.vocabulary, 6u);
  EXPECT_EQ(all_ids(corpus), (Ids{1, 2, 0, 5, 1, 0, 2, 2}));
  EXPECT_EQ(corpus.names, (Strings{"</s>", "a", "b", "#3", "#4", "<unk>"}));
  ASSERT_EQ(corpus.files.size(), 1u);
  EXPECT_EQ(corpus.files[0].first, "token_mappings.json");
  EXPECT_NE(corpus.files[0].second.find("token2id"), std::string::npos);
  EXPECT_EQ(refusal(text, question(path, 5)),
            "t.txt: vocabulary: found 5, allowed: 6, which the tokenizer has");
}

TEST(TokenizerFiles, HaveTheNamesThatAFolderIsSearchedFor) {
  test::ScratchFolder folder;
  for (const char* name : {"mine.json", "mine.model", "mine.bin", "vocab.json", "merges.txt"}) {
    test::write_bytes(folder / name, name);
  }
  using Files = TokenizerFiles;
  EXPECT_EQ(tokenizer_files(folder / "mine.json"), (Files{{"tokenizer.json", "mine.json"}}));
  EXPECT_EQ(tokenizer_files(folder / "mine.model"), (Files{{"tokenizer.model", "mine.model"}}));
  EXPECT_EQ(tokenizer_files(folder / "mine.bin"), (Files{{"tokenizer.bin", "mine.bin"}}));
  const Files pairs{{"vocab.json", "vocab.json"}, {"merges.txt", "merges.txt"}};
  EXPECT_EQ(tokenizer_files(folder / "merges.txt"), pairs);
  EXPECT_EQ(tokenizer_files(folder / "."), pairs);
  EXPECT_EQ(tokenizer_file_in(folder / ".", pairs), "mine.model");
  std::filesystem::remove(folder / "mine.model");
  EXPECT_EQ(tokenizer_file_in(folder / ".", pairs), std::nullopt);
}

// Without a blank there is no place to cut at, and no time to look for one again and again.
TEST(CorpusOfTokenizer, SeesATextWithoutBlanksInPieces) {
  test::ScratchFolder folder;
  test::write_bytes(folder / "token_mappings.json", R"({"token2id": {"a": 0, "<unk>": 1}})");
  const std::string text(4'000'000, 'b');
  const Corpus corpus =
      corpus_of(text, question((folder / "token_mappings.json").string(), 0, 0.1), 1);
  EXPECT_GT(corpus.training.size(), 100u);
}

TEST(CorpusOfTokenizer, SeesALongTextInPieces) {
  test::ScratchFolder folder;
  test::write_bytes(folder / "token_mappings.json", R"({"token2id": {"boat": 0, "sea": 1}})");
  std::string text;
  for (int k = 0; k < 10'000; ++k) text += "boat sea\n";
  const Corpus corpus =
      corpus_of(text, question((folder / "token_mappings.json").string(), 0, 0.1), 1);
  EXPECT_EQ(all_ids(corpus).size(), 20'000u);
  EXPECT_EQ(corpus.counts[0] + static_cast<std::size_t>(std::count(corpus.validation.begin(),
                                                                   corpus.validation.end(), 0)),
            10'000u);
}

}  // namespace
}  // namespace dewpoint::text
