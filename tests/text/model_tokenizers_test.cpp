// sentencepiece and llama2.c: against each other on real stories, and against the ids that the
// Python package `sentencepiece` 0.2.2 gives for sentences of our own.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/text/llama2c_tokenizer.hpp"
#include "dewpoint/text/sentencepiece_tokenizer.hpp"

namespace dewpoint::text {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::outcome;
using Ids = std::vector<int>;

// --- real data -----------------------------------------------------------------------------------

class RealTokenizers : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path data = DEWPOINT_DATA;
    if (!fs::exists(data / "stories260K")) GTEST_SKIP() << "no data at " << data;
    model_ = open_tokenizer(data / "stories260K" / "tok512.model");
    bin_ = open_tokenizer(data / "stories260K" / "tok512.bin");
  }

  std::unique_ptr<Tokenizer> model_, bin_;
};

std::vector<std::string> stories(std::string text) {
  constexpr std::string_view separator = "<|endoftext|>";
  std::vector<std::string> found;
  std::size_t from = 0, to = 0;
  // The last story is cut; it is left out.
  while ((to = text.find(separator, from)) != std::string::npos) {
    std::string story = text.substr(from, to - from);
    from = to + separator.size();
    const std::size_t first = story.find_first_not_of(" \n"), last = story.find_last_not_of(" \n");
    if (first != std::string::npos) found.push_back(story.substr(first, last - first + 1));
  }
  return found;
}

TEST_F(RealTokenizers, AgreeOnStories) {
  const fs::path file = fs::path(DEWPOINT_DATA) / "tinystories" / "val.txt";
  const auto texts = stories(test::read_bytes(file).substr(0, 20'000));
  ASSERT_GE(texts.size(), 10u);
  for (const std::string& story : texts) {
    const Ids ids = model_->encode(story);
    EXPECT_GT(ids.size(), story.size() / 4);
    EXPECT_EQ(bin_->encode(story), ids);
    EXPECT_EQ(bin_->decode(ids), story);
    EXPECT_EQ(model_->decode(ids), story);
  }
}

TEST_F(RealTokenizers, GiveTheIdsOfThePackage) {
  const std::vector<std::pair<std::string, Ids>> expected{
      {"A small boat drifts under the bridge.",
       {410, 447, 262, 423, 388, 268, 414, 294, 279, 325, 431, 413,
        419, 318, 264, 285, 265, 268, 420, 292, 428, 411, 426}},
      {"Twelve boats, 3 ferries!",
       {274, 424, 411, 421, 360, 268, 414, 294, 419, 432, 410, 472, 272, 285, 325, 406, 443}},
      {"Zwölf 😀 boats\n",
       {410, 469, 424, 198, 185, 421, 431, 410, 243, 162, 155, 131, 268, 414, 294, 419, 13}},
      {"moon", {284, 414, 289}},
      {"", {}}};
  for (const auto& [text, ids] : expected) {
    for (const Tokenizer* tokenizer : {model_.get(), bin_.get()}) {
      EXPECT_EQ(tokenizer->encode(text), ids) << tokenizer->kind();
      EXPECT_EQ(tokenizer->decode(ids), text) << tokenizer->kind();
    }
  }
}

TEST_F(RealTokenizers, KnowTheirSizeAndTheirEnds) {
  for (const Tokenizer* tokenizer : {model_.get(), bin_.get()}) {
    EXPECT_EQ(tokenizer->size(), 512u);
    EXPECT_EQ(tokenizer->beginning(), 1);
    EXPECT_EQ(tokenizer->end(), 2);
    for (const int id : {-1, 512}) {
      EXPECT_EQ(outcome([&] { (void)tokenizer->decode(Ids{id}); }).code, Code::bad_value);
    }
  }
}

// Properties (1) of both: sentencepiece makes one blank of many, llama2.c does not.
TEST_F(RealTokenizers, DifferWhereSentencePieceNormalises) {
  EXPECT_EQ(model_->decode(model_->encode("  two  blanks ")), "two blanks");
  EXPECT_EQ(bin_->decode(bin_->encode("  two  blanks ")), "  two  blanks ");
}

// --- a small file of llama2.c --------------------------------------------------------------------

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(value >> (8 * k) & 0xffU);
  return bytes;
}

std::string token(std::string_view piece, float score) {
  return word(std::bit_cast<std::uint32_t>(score)) +
         word(static_cast<std::uint32_t>(piece.size())) + std::string(piece);
}

// Tokens 259 to 267 beside the special ones and the bytes.
std::string small_file() {
  std::string file = word(6) + token("<unk>", 0) + token("\n<s>\n", 0) + token("\n</s>\n", 0);
  for (int byte = 0; byte < 256; ++byte) file += token(fmt::format("<0x{:02X}>", byte), 0);
  return file + token(" ", -1) + token("a", -2) + token("b", -3) + token("ab", -4) +
         token(" a", -5) + token("aa", -6) + token("é", -7) + token("bb", -2e10F) + token("", 0);
}

Ids small_ids(std::string_view text) {
  return parse_llama2c_tokenizer(small_file(), "t.bin")->encode(text);
}

// Property (1) of parse_llama2c_tokenizer, worked out by hand.
TEST(Llama2cTokenizer, JoinsTheBestPairFirst) {
  EXPECT_EQ(small_ids("a"), Ids{263});
  EXPECT_EQ(small_ids("ab"), (Ids{259, 262}));               // "ab" at -4 before " a" at -5
  EXPECT_EQ(small_ids("aaa"), (Ids{263, 264}));              // " a" at -5 before "aa" at -6
  EXPECT_EQ(small_ids(" aaaa"), (Ids{259, 263, 264, 260}));  // the leftmost "aa" first
  EXPECT_EQ(small_ids("bb"), (Ids{259, 261, 261}));          // -2e10 is never joined
  EXPECT_EQ(small_ids(""), Ids{});
}

TEST(Llama2cTokenizer, FallsBackToBytes) {
  EXPECT_EQ(small_ids("é"), (Ids{259, 265}));
  EXPECT_EQ(small_ids("ö"), (Ids{259, 3 + 0xc3, 3 + 0xb6}));
  EXPECT_EQ(small_ids("\xff\xc3"), (Ids{259, 3 + 0xff, 3 + 0xc3}));
  // A stray continuation spoils the character before it, as in llama2.c.
  EXPECT_EQ(small_ids("\xc3\xa9\x80"), (Ids{259, 3 + 0xc3, 3 + 0xa9, 3 + 0x80}));
}

// Property (2).
TEST(Llama2cTokenizer, ComesBackFromAnyBytes) {
  const auto tokenizer = parse_llama2c_tokenizer(small_file(), "t.bin");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(static_cast<unsigned char>(byte));
  for (const std::string& text : {all, " a"s, "  "s, "ab <0x41> 😀"s, "\0"s}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

// Property (3).
TEST(Llama2cTokenizer, DropsABlankAfterTheBeginning) {
  const auto tokenizer = parse_llama2c_tokenizer(small_file(), "t.bin");
  EXPECT_EQ(tokenizer->decode(Ids{263, 263}), "a a");
  EXPECT_EQ(tokenizer->decode(Ids{1, 263, 263}), "\n<s>\na a");
}

void expect_refused(const std::string& file, const std::string& message) {
  const auto refused = outcome([&] { (void)parse_llama2c_tokenizer(file, "t.bin"); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_EQ(refused.message, "t.bin: " + message);
}

TEST(Llama2cRefusal, NamesWhatCannotBe) {
  const std::string file = small_file();
  expect_refused(file + word(0), fmt::format("byte {}: found 0 bytes left, allowed: 4 bytes for a "
                                             "length",
                                             file.size() + 4));
  expect_refused(file + word(0) + word(0xffffffff),
                 "token 268: found a piece of -1 bytes, allowed: 0 to 6 bytes, the longest by the "
                 "file's first number");
  expect_refused(word(0x7fffffff) + token("a", 0).substr(0, 4) + word(0x7ffffffe) + "abc",
                 "byte 12: found 3 bytes left, allowed: 2147483646 bytes for a piece");
  expect_refused(file + token("ab", 0),
                 "token 268: found the token 'ab' twice, allowed: every "
                 "token once");
  expect_refused(file + word(0x7fc00000) + word(0),
                 "token 268: found a score of nan, allowed: finite scores");
  expect_refused(word(6) + token("<unk>", 0) + token("a", 0) + token("b", 0) + token("c", 0),
                 "token 3: found 'c', allowed: <0x00>");
}

TEST(Llama2cRefusal, EndsInOneLineWhereverTheFileIsCut) {
  const std::string file = small_file();
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < file.size(); ++length) {
    const auto refused =
        outcome([&] { (void)parse_llama2c_tokenizer(file.substr(0, length), "t.bin"); });
    if (refused.code == Code::stopped) ++accepted;
    ASSERT_TRUE(refused.code == Code::malformed_file || refused.code == Code::stopped);
    ASSERT_EQ(refused.message.find('\n'), std::string::npos);
  }
  // The number of tokens is not in the file: a cut between tokens behind the bytes leaves a file.
  EXPECT_EQ(accepted, 9u);
}

// --- models that are none ------------------------------------------------------------------------

std::string corpus_model(const std::string& name) {
  return test::read_bytes(fs::path(DEWPOINT_SENTENCEPIECE_CORPUS) / name);
}

TEST(SentencePiece, ReadsModelsOfEveryKind) {
  for (const char* name : {"unigram", "bpe_bytes", "bpe_rules", "words", "chars"}) {
    const auto tokenizer = parse_sentencepiece(corpus_model(name + ".model"s), name);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("the boats")), "the boats") << name;
  }
}

// The ids of the Python package for "a boat" and the ligature U+FB01, which the rules spell out.
TEST(SentencePiece, NormalisesByTheModelsTable) {
  const auto tokenizer = parse_sentencepiece(corpus_model("bpe_rules.model"), "rules");
  EXPECT_EQ(tokenizer->encode("a boat \xef\xac\x81"), (Ids{7, 14, 26, 22, 35}));
  EXPECT_EQ(tokenizer->decode(Ids{7, 14, 26, 22, 35}), "a boat fi");
}

TEST(SentencePiece, SaysWhereTextIsNoUtf8) {
  const auto tokenizer = parse_sentencepiece(corpus_model("unigram.model"), "u");
  EXPECT_EQ(outcome([&] { (void)tokenizer->encode("a\xff"); }).message,
            "text: found \\xff at byte 1 (counted from 0), which is no UTF-8 character, allowed: "
            "UTF-8");
}

// One line, nothing on the terminal, no crash: cut at every byte, and with every byte changed. The
// models hold a table, whose links the library follows unchecked.
TEST(SentencePieceRefusal, SurvivesDamageAnywhere) {
  testing::internal::CaptureStderr();
  for (const char* name : {"unigram.model", "bpe_rules.model"}) {
    const std::string whole = corpus_model(name);
    ASSERT_GT(whole.size(), 500u);
    for (std::size_t place = 0; place < whole.size(); ++place) {
      std::string changed = whole;
      changed[place] = static_cast<char>(changed[place] ^ (1 << place % 8));
      for (const std::string& model : {whole.substr(0, place), changed}) {
        const auto result = outcome([&] {
          const auto tokenizer = parse_sentencepiece(model, "damaged");
          (void)tokenizer->decode(tokenizer->encode("the ﬁrst\0 boat"s));
        });
        ASSERT_EQ(result.message.find('\n'), std::string::npos) << place;
      }
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(SentencePieceRefusal, NamesWhatCannotBe) {
  const auto message = [](const std::string& model) {
    return outcome([&] { (void)parse_sentencepiece(model, "m"); }).message;
  };
  EXPECT_EQ(message(""), "m: pieces: found none, allowed: a sentencepiece model with pieces");
  EXPECT_EQ(message("\x0a\x05xy"),
            "m: byte 2: found 5 bytes to come where 2 are left, allowed: the fields of a "
            "sentencepiece model (a protocol buffer)");
  EXPECT_EQ(message("\x0b"),
            "m: byte 1: found a field of kind 3, allowed: the fields of a sentencepiece model (a "
            "protocol buffer)");
  EXPECT_EQ(
      message("\x0a\x03\x0a\x01\xff"),
      "m: piece 0: found '\\xff' of 1 bytes, allowed: pieces of 1 to 4096 bytes of UTF-8 with "
      "finite scores");
  const std::string table = "\x1a\x0c\x12\x0a\x04\x00\x00\x00\x00\x04\x00\x00zz"s;
  EXPECT_EQ(message("\x0a\x03\x0a\x01"
                    "a" +
                    table),
            "m: normalisation table: found a link that leads out of the trie, allowed: a table as "
            "sentencepiece writes it");
}

std::string varint(std::size_t value) {
  return {static_cast<char>(value % 128 + 128), static_cast<char>(value / 128)};
}

// A model of one piece, and a table of 256 units, all zero but those given, with one empty text.
std::string model_with_table(const std::vector<std::pair<std::size_t, std::uint32_t>>& units) {
  std::string trie(256 * 4, '\0');
  for (const auto& [index, bits] : units) trie.replace(index * 4, 4, word(bits));
  const std::string table = word(static_cast<std::uint32_t>(trie.size())) + trie + "\0"s;
  const std::string normaliser = "\x12" + varint(table.size()) + table;
  return "\x0a\x09\x0a\x05<unk>\x18\x02\x1a" + varint(normaliser.size()) + normaliser;
}

// Property (3) of check_sentencepiece_model. The root leads to unit 1, and from there the letter a
// to unit 0x60, which matches and leads to unit 1 again.
TEST(SentencePieceRefusal, FollowsTheLinksOfATable) {
  const std::uint32_t root = 1 << 10, letter = 'a' | 1 << 8 | 0x61 << 10, value = 1U << 31;
  const auto expect_found = [](const std::string& model, const std::string& found) {
    EXPECT_EQ(
        outcome([&] { (void)parse_sentencepiece(model, "m"); }).message,
        "m: normalisation table: found " + found + ", allowed: a table as sentencepiece writes it");
  };
  expect_found(model_with_table({}), "a path that is a circle");
  expect_found(model_with_table({{0, root}, {0x60, letter}, {1, value}}),
               "a path that is a circle");
  expect_found(model_with_table({{0, root}, {0x60, letter}, {1, value | 1}}),
               "a replacement beyond the texts");
  expect_found(model_with_table({{0, 256 << 10}}), "a link that leads out of the trie");
}

}  // namespace
}  // namespace dewpoint::text
