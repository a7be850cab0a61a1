// tokenizer.json and GPT-2's files against the ids that the Python package `tokenizers` 0.23.3
// gives for the same files: Tokenizer.from_str(json).encode(text, add_special_tokens=False).ids,
// and decode(ids, skip_special_tokens=False).
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/text/hugging_face_tokenizer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/text/gpt2_tokenizer.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "text/small_tokenizers.hpp"

namespace dewpoint::text {
namespace {

using test::Json;
using test::outcome;
using Ids = std::vector<int>;

const std::string kFerry = "It's 12345 boats,  and\n\n they'LL drift!";

std::unique_ptr<Tokenizer> parse(const Json& document) {
  return parse_json_tokenizer(document.dump(), "t.json");
}

std::string merges_text() {
  std::string text = "#version: 0.2\n";
  for (const std::string& merge : test::kByteMerges) text += merge + "\n";
  return text;
}

std::unique_ptr<Tokenizer> parse_gpt2(const std::string& merges) {
  return parse_gpt2_tokenizer({test::byte_vocabulary().dump(), "vocab.json"},
                              {merges, "merges.txt"});
}

void expect_gpt2_ids(const Tokenizer& tokenizer) {
  EXPECT_EQ(tokenizer.encode("the boat drifts"), (Ids{117, 260, 283, 117, 278, 103, 259}));
  EXPECT_EQ(tokenizer.encode(kFerry),
            (Ids{74, 117, 40, 116, 33,  50,  51, 52, 53, 54,  283, 259, 45,
                 33, 285, 11, 11,  265, 122, 40, 77, 77, 278, 271, 34}));
  EXPECT_EQ(tokenizer.encode("under<|endoftext|> the"), (Ids{263, 270, 0, 265}));
  EXPECT_EQ(tokenizer.encode("café 😀"), (Ids{100, 98, 103, 196, 170, 33, 241, 160, 153, 129}));
  EXPECT_EQ(tokenizer.encode(" old  "), (Ids{280, 33, 33}));
  EXPECT_EQ(tokenizer.encode(""), Ids{});
  EXPECT_EQ(tokenizer.size(), 293u);
}

// --- ids -----------------------------------------------------------------------------------------

// Property (1) of read_hugging_face_tokenizer, in this and the following.
TEST(TokenizerJson, GivesTheIdsOfTheByteLevelPackage) {
  const auto tokenizer = parse(test::gpt2_json());
  EXPECT_EQ(tokenizer->kind(), "tokenizer.json BPE");
  expect_gpt2_ids(*tokenizer);
}

TEST(TokenizerJson, PutsABlankInFrontOfEveryPieceWhereAskedTo) {
  Json document = test::gpt2_json();
  document["pre_tokenizer"] = test::byte_level(true, true);
  const auto tokenizer = parse(document);
  EXPECT_EQ(tokenizer->encode("the boat drifts"), (Ids{265, 283, 117, 278, 103, 259}));
  EXPECT_EQ(tokenizer->encode("under<|endoftext|> the"), (Ids{286, 0, 265}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("the boat")), " the boat");
}

TEST(TokenizerJson, SplitsByTheExpressionOfLlamaThree) {
  const auto tokenizer = parse(test::llama3_json());
  EXPECT_EQ(tokenizer->encode(kFerry),
            (Ids{74, 117, 40, 116, 33,  50,  51, 52, 53, 54,  283, 259, 45,
                 33, 285, 11, 11,  265, 122, 40, 77, 77, 278, 271, 34}));
  // Without ignore_merges the last word would be 33, 115, 98, 271, 99, 281, 102.
  EXPECT_EQ(tokenizer->encode("a raftbridge"), (Ids{98, 293}));
}

TEST(TokenizerJson, PutsBlanksLikeLlamaTwo) {
  const auto tokenizer = parse(test::llama2_json());
  EXPECT_EQ(tokenizer->encode("the boat drifts"), (Ids{292, 296, 278, 309, 264, 288}));
  EXPECT_EQ(tokenizer->encode(kFerry),
            (Ids{285, 76,  278, 42, 277, 285, 52,  53, 54, 55, 56,  296, 288, 47,
                 285, 289, 294, 13, 13,  292, 283, 42, 79, 79, 309, 300, 36}));
  EXPECT_EQ(tokenizer->encode("café 😀"),
            (Ids{285, 261, 259, 264, 198, 172, 285, 243, 162, 155, 131}));
  EXPECT_EQ(tokenizer->encode(" old  "), (Ids{285, 285, 305, 285, 285}));
  const Ids ids{292, 2, 285, 296, 278};
  EXPECT_EQ(tokenizer->encode("the</s> boat"), ids);
  EXPECT_EQ(tokenizer->decode(ids), "the</s>  boat");
}

TEST(TokenizerJson, PutsTheFirstBlankOnlyAtTheBeginningOfTheText) {
  const auto tokenizer = parse(test::metaspace_json("first", false));
  EXPECT_EQ(tokenizer->encode(" old  "), (Ids{285, 305, 285, 285}));
  EXPECT_EQ(tokenizer->encode("the</s> boat"), (Ids{292, 2, 296, 278}));
}

TEST(TokenizerJson, MakesOneUnknownTokenOfUnknownNeighbours) {
  Json document = test::metaspace_json("always", true);
  document["model"]["byte_fallback"] = false;
  document["decoder"] = document["pre_tokenizer"];
  const auto tokenizer = parse(document);
  const Ids ids{285, 0,   278, 0, 277, 285, 0, 296, 288, 0,
                285, 289, 294, 0, 292, 283, 0, 309, 300, 0};
  EXPECT_EQ(tokenizer->encode(kFerry), ids);
  EXPECT_EQ(tokenizer->decode(ids), "<unk>t<unk>s <unk> boats<unk>  and<unk> they<unk> drift<unk>");
}

TEST(TokenizerJson, CutsDigitsApart) {
  Json document = test::gpt2_json();
  const Json digits{{"type", "Digits"}, {"individual_digits", true}};
  document["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", Json::array({digits, test::byte_level(false, true)})}};
  document["model"]["vocab"]["12"] = 293;
  document["model"]["merges"].push_back("1 2");
  EXPECT_EQ(parse(document)->encode("12"), (Ids{50, 51}));
  document["pre_tokenizer"]["pretokenizers"][0]["individual_digits"] = false;
  EXPECT_EQ(parse(document)->encode("12"), Ids{293});
}

TEST(Gpt2Files, GiveTheSameIdsAsTheTokenizerJson) {
  const auto tokenizer = parse_gpt2(merges_text());
  EXPECT_EQ(tokenizer->kind(), "GPT-2 BPE");
  EXPECT_EQ(tokenizer->beginning(), 0);
  EXPECT_EQ(tokenizer->end(), 0);
  expect_gpt2_ids(*tokenizer);
}

// --- back to text --------------------------------------------------------------------------------

// Property (2): bytes that form no character stay as they are.
TEST(TokenizerJson, DecodesTokenByTokenIntoTheBytesOfACharacter) {
  for (const Json& document : {test::gpt2_json(), test::llama2_json()}) {
    const auto tokenizer = parse(document);
    const Ids ids = tokenizer->encode("a😀");
    ASSERT_GE(ids.size(), 4u);
    const std::string cut = tokenizer->decode(std::span(ids).first(ids.size() - 1));
    EXPECT_EQ(cut, "a\xf0\x9f\x98");
  }
}

TEST(TokenizerJson, ComesBackFromItsIds) {
  const std::vector<std::string> texts{"the boat", "Zwölf Boote\n\n\t 12!", "😀❤️ 你好",
                                       " old  ", std::string("\0\x01\x7f", 3)};
  for (const Json& document : {test::gpt2_json(), test::llama3_json(), test::llama2_json()}) {
    const auto tokenizer = parse(document);
    for (const std::string& text : texts) {
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    }
  }
}

// At the byte level the letters that stand for bytes are text like any other; where U+2581 stands
// for a blank, it comes back as one.
TEST(TokenizerJson, KnowsLettersForBytesFromBytes) {
  const auto bytes = parse(test::gpt2_json()), blanks = parse(test::llama2_json());
  EXPECT_EQ(bytes->decode(bytes->encode("▁ĠĊ")), "▁ĠĊ");
  EXPECT_EQ(blanks->decode(blanks->encode("a▁b")), "a b");
}

// --- special tokens ------------------------------------------------------------------------------

// Property (3).
TEST(TokenizerJson, NamesTheTokensThatBeginAndEndAText) {
  const auto blanks = parse(test::llama2_json()), bytes = parse(test::gpt2_json());
  EXPECT_EQ(blanks->beginning(), 1);
  EXPECT_EQ(blanks->end(), 2);
  EXPECT_EQ(bytes->beginning(), std::nullopt);
  EXPECT_EQ(bytes->end(), 0);
}

TEST(TokenizerJson, LetsSpecialTokensTakeTheBlanksBesideThem) {
  Json document = test::gpt2_json();
  document["added_tokens"][0]["lstrip"] = true;
  document["added_tokens"][0]["rstrip"] = true;
  EXPECT_EQ(parse(document)->encode("under \n<|endoftext|>\t  the"), (Ids{263, 270, 0, 117, 260}));
}

TEST(TokenizerJson, FindsTheLongestOfAddedTokens) {
  Json document = test::gpt2_json();
  document["added_tokens"].push_back(test::special_token(300, "<|end"));
  document["added_tokens"].push_back(test::special_token(301, "the boat"));
  const auto tokenizer = parse(document);
  EXPECT_EQ(tokenizer->encode("<|endoftext|><|end<|endthe boat"), (Ids{0, 300, 300, 301}));
  EXPECT_EQ(tokenizer->decode(Ids{301}), "the boat");
  EXPECT_EQ(tokenizer->size(), 302u);
}

// --- refusals ------------------------------------------------------------------------------------

void expect_refused(const Json& document, const std::string& message) {
  const auto refused = outcome([&] { (void)parse(document); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_EQ(refused.message, "t.json: " + message);
}

TEST(TokenizerJsonRefusal, NamesWhatItDoesNotKnow) {
  Json document = test::gpt2_json();
  document["normalizer"] = {{"type", "NFKC"}};
  expect_refused(document,
                 "normalizer.type: found \"NFKC\", allowed: the normalizers Sequence, Prepend, "
                 "Replace and NFC");
  document = test::gpt2_json();
  document["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  expect_refused(document,
                 "pre_tokenizer.type: found \"BertPreTokenizer\", allowed: the pre-tokenizers "
                 "Sequence, ByteLevel, Split, Digits and Metaspace");
  document = test::llama3_json();
  document["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed";
  expect_refused(
      document,
      "pre_tokenizer.pretokenizers[0].behavior: found \"Removed\", allowed: the behavior "
      "Isolated");
  document = test::gpt2_json();
  document["model"]["type"] = "Unigram";
  expect_refused(document, "model.type: found \"Unigram\", allowed: the model type BPE");
  document = test::gpt2_json();
  document["model"]["dropout"] = 0.1;
  expect_refused(document, "model.dropout: found 0.1, allowed: null: ids must not be random");
}

TEST(TokenizerJsonRefusal, KeepsIdsUniqueAndInRange) {
  Json document = test::gpt2_json();
  document["model"]["vocab"]["extra"] = 7;
  expect_refused(document,
                 "model.vocab: found id 7 for '\\xc4\\x86' and for 'extra', allowed: "
                 "every id once");
  for (const Json& id : {Json(-1), Json(1 << 24), Json(1.5), Json("7"), Json(nullptr)}) {
    document["model"]["vocab"]["extra"] = id;
    EXPECT_EQ(outcome([&] { (void)parse(document); }).code, Code::malformed_file);
  }
  document["model"]["vocab"]["extra"] = (1 << 24) - 1;
  EXPECT_EQ(parse(document)->size(), std::size_t{1} << 24);
}

TEST(TokenizerJsonRefusal, NamesTheMergeOfAnUnknownToken) {
  Json document = test::gpt2_json();
  document["model"]["merges"].push_back("q q");
  expect_refused(document,
                 "merges[36]: found 'qq', allowed: merges of tokens of the vocabulary into one of "
                 "its tokens");
  for (const Json& merge : {Json("q"), Json("a b c"), Json(3), Json::array({"a"})}) {
    document["model"]["merges"][36] = merge;
    EXPECT_NE(outcome([&] { (void)parse(document); }).message.find("merges[36]: found"),
              std::string::npos);
  }
}

TEST(TokenizerJsonRefusal, NamesAnAddedTokenThatContradictsTheVocabulary) {
  Json document = test::gpt2_json();
  document["added_tokens"][0]["id"] = 400;
  expect_refused(document,
                 "added_tokens: found '<|endoftext|>' with id 400, allowed: its id in the "
                 "vocabulary, 0");
  document["added_tokens"][0] = test::special_token(5, "<x>");
  EXPECT_EQ(outcome([&] { (void)parse(document); }).code, Code::malformed_file);
}

TEST(TokenizerJsonRefusal, SaysWhichCharacterHasNoToken) {
  Json document = test::gpt2_json();
  document["model"]["vocab"].erase("Z");
  const auto refused = outcome([&] { (void)parse(document)->encode("a Z"); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message,
            "text: found 'Z', for which the tokenizer has no token, allowed: characters of its "
            "vocabulary");
}

TEST(TokenizerJsonRefusal, SaysWhereTextMayChangeUnderComposition) {
  Json document = test::gpt2_json();
  document["normalizer"] = {{"type", "NFC"}};
  const auto tokenizer = parse(document);
  EXPECT_EQ(tokenizer->encode("café 😀❤️").size(), 16u);
  const auto refused = outcome([&] { (void)tokenizer->encode("cafe\xcc\x81"); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_NE(refused.message.find("byte 4 "), std::string::npos) << refused.message;
}

TEST(TokenizerJsonRefusal, SaysWhereTextIsNoUtf8) {
  const auto refused =
      outcome([&] { (void)parse(test::gpt2_json())->encode("caf\xc3\xa9 \xc3("); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message,
            "text: found \\xc3 at byte 6 (counted from 0), which is no UTF-8 character, allowed: "
            "UTF-8");
}

TEST(TokenizerJsonRefusal, KnowsItsOwnIdsOnly) {
  const auto tokenizer = parse(test::gpt2_json());
  for (const int id : {-1, 293, 1 << 30}) {
    EXPECT_EQ(outcome([&] { (void)tokenizer->decode(Ids{id}); }).code, Code::bad_value);
  }
}

// Every step multiplies a text; together they would fill any memory.
TEST(TokenizerJsonRefusal, DoesNotLetATextGrowWithoutBound) {
  Json document = test::gpt2_json();
  const Json twice{{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  document["normalizer"] = {{"type", "Sequence"}, {"normalizers", Json::array()}};
  for (int k = 0; k < 100; ++k) document["normalizer"]["normalizers"].push_back(twice);
  const auto refused = outcome([&] { (void)parse(document)->encode("a"); });
  EXPECT_EQ(refused.code, Code::bad_value);
  document = test::gpt2_json();
  const Json letters = test::byte_level(false, false);
  document["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", Json::array()}};
  for (int k = 0; k < 100; ++k) document["pre_tokenizer"]["pretokenizers"].push_back(letters);
  EXPECT_EQ(outcome([&] { (void)parse(document)->encode("é"); }).code, Code::bad_value);
}

TEST(TokenizerJsonRefusal, EndsInOneLineWhereverTheFileIsCut) {
  const std::string whole = test::llama2_json().dump();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto refused =
        outcome([&] { (void)parse_json_tokenizer(whole.substr(0, length), "t.json"); });
    ASSERT_EQ(refused.code, Code::malformed_file) << length;
    ASSERT_EQ(refused.message.find('\n'), std::string::npos);
  }
}

TEST(TokenizerJsonRefusal, RefusesAKeyThatStandsTwice) {
  const auto refused = outcome([&] {
    (void)parse_json_tokenizer(R"({"model": {"vocab": {"a": 0, "a": 1}, "merges": []}})", "t.json");
  });
  EXPECT_EQ(refused.code, Code::malformed_file);
  EXPECT_NE(refused.message.find("the key 'a' twice"), std::string::npos) << refused.message;
}

TEST(Gpt2FilesRefusal, NamesTheLineThatIsNoMerge) {
  for (const std::string line : {"onlyone", "a b c", " b", "a "}) {
    const auto refused = outcome([&] { (void)parse_gpt2(merges_text() + line + "\n"); });
    EXPECT_EQ(refused.code, Code::malformed_file);
    EXPECT_EQ(refused.message, "merges.txt: line 38: found '" + line +
                                   "', allowed: two tokens with a blank between them");
  }
}

}  // namespace
}  // namespace dewpoint::text
