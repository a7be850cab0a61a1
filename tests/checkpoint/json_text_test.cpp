// The door for foreign JSON: what comes through, and how the rest is turned away.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/json_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::checkpoint {
namespace {

using namespace std::string_literals;
using Json = nlohmann::ordered_json;

// The refusal of a text; all its fields empty where it is accepted.
Refusal refusal_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    (void)parse_json(text, limits);
  } catch (const Refusal& refusal) {
    return refusal;
  }
  return {};
}

void expect_refused_at(const std::string& text, std::size_t byte, const std::string& found) {
  const Refusal refusal = refusal_of(text);
  EXPECT_EQ(refusal.field, "byte " + std::to_string(byte)) << text;
  EXPECT_NE(refusal.found.find(found), std::string::npos) << refusal.found;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

// --- what comes through --------------------------------------------------------------------------

// Property (2).
TEST(ParseJson, KeepsValuesAndTheOrderOfKeys) {
  const Json json = parse_json(
      R"( {"z": 1, "a": [true, null, -2, 1.5e3, 18446744073709551615], "b": {"ü": "\u00e9\n"}} )");
  EXPECT_EQ(json.dump(),
            R"({"z":1,"a":[true,null,-2,1500.0,18446744073709551615],"b":{"ü":"é\n"}})");
}

TEST(ParseJson, AcceptsAnyValueAtTheTop) {
  EXPECT_EQ(parse_json("3"), 3);
  EXPECT_EQ(parse_json("\"\""), "");
  EXPECT_EQ(parse_json("[]"), Json::array());
  EXPECT_EQ(parse_json("{}"), Json::object());
  EXPECT_TRUE(parse_json("null").is_null());
}

TEST(ParseJson, AcceptsOneKeyInTwoObjects) {
  EXPECT_EQ(parse_json(R"({"a": {"x": 1}, "b": [{"x": 2}, {"x": 3}]})")["b"][1]["x"], 3);
}

// Property (5): with a walk over the keys for each key this would be 5e9 comparisons.
TEST(ParseJson, TakesAVocabularyInItsStride) {
  std::string text = "{";
  for (int k = 0; k < 100'000; ++k) {
    text.append("\"token").append(std::to_string(k)).append("\":").append(std::to_string(k));
    text += ',';
  }
  text.back() = '}';
  EXPECT_EQ(parse_json(text).size(), 100'000u);
}

// --- what does not -------------------------------------------------------------------------------

TEST(ParseJson, NamesTheByteOfAnError) {
  expect_refused_at("", 0, "the end");
  expect_refused_at("{\"a\": 1", 7, "the end");
  expect_refused_at("{\"a\" 1}", 5, "'1}'");
  expect_refused_at("[1, 2,]", 6, "']'");
  expect_refused_at("[1] 2", 4, "'2'");
  expect_refused_at("[1, // one\n2]", 4, "'//");
  expect_refused_at("{'a': 1}", 1, "''a'");
}

// Property (3).
TEST(ParseJson, RefusesNumbersThatAreNotFinite) {
  expect_refused_at("[NaN]", 1, "'NaN]'");
  expect_refused_at("[Infinity]", 1, "'Infinity]'");
  expect_refused_at("[-Infinity]", 1, "'-Infinity]'");
  expect_refused_at("[1e400]", 1, "'1e400]'");
}

// Property (4).
TEST(ParseJson, RefusesTextThatIsNotUtf8) {
  for (const std::string& bad : {"\xff"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s}) {
    EXPECT_NE(refusal_of("[\"" + bad + "\"]").field, "");
    EXPECT_NE(refusal_of("{\"" + bad + "\": 1}").field, "");
  }
  EXPECT_NE(refusal_of(R"(["\ud800"])").field, "");
}

// Property (2).
TEST(ParseJson, NamesAKeyThatStandsTwice) {
  expect_refused_at(R"({"a": 1, "a": 1})", 15, "'a' twice");
  expect_refused_at(R"({"b": [{"x": 1, "y": 2, "x": 3}]})", 30, "'x' twice");
  expect_refused_at("{\"a\": 1, \"\\u0061\": 2}", 20, "'a' twice");
}

TEST(ParseJson, RefusesAZeroInsteadOfTakingItForTheEnd) {
  expect_refused_at("{}\0{}"s, 2, "\\x00");
  expect_refused_at("[\"a\0b\"]"s, 3, "\\x00");
}

TEST(ParseJson, BoundsDepthSizeAndTheNumberOfValues) {
  EXPECT_EQ(refusal_of(nested(64)).field, "");
  EXPECT_EQ(refusal_of(nested(65)).field, "byte 64");
  EXPECT_EQ(refusal_of(nested(1'000'000)).field, "byte 64");
  EXPECT_EQ(refusal_of("[1, 2]", {.bytes = 6}).field, "");
  EXPECT_EQ(refusal_of("[1, 2]", {.bytes = 5}).field, "byte 5");
  EXPECT_EQ(refusal_of("[1, 2]", {.values = 3}).field, "");
  EXPECT_NE(refusal_of("[1, 2]", {.values = 2}).allowed.find("2 values"), std::string::npos);
}

// Property (1): every cut of a text, and damage at random.
TEST(ParseJson, RefusesEveryBeginningOfAnObject) {
  const std::string text = R"({"a": [1, -2.5e-3, "x\u00e9"], "b": {"c": null, "d": true}})";
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(refusal_of(text.substr(0, length)).field, "") << length;
}

TEST(ParseJson, SurvivesRandomBytes) {
  const std::string letters = "{}[]\",:0123456789.eE+-truefalsn\\u \xc3\xa9\xff";
  const Stream stream = test::stream("ParseJson/SurvivesRandomBytes");
  for (std::uint64_t k = 0; k < 20'000; ++k) {
    std::string text(1 + k % 24, ' ');
    for (std::size_t i = 0; i < text.size(); ++i)
      text[i] = letters[stream.bits(24 * k + i)[0] % letters.size()];
    const Refusal refusal = refusal_of(text);
    EXPECT_EQ(refusal.field.empty(), refusal.allowed.empty());
  }
}

// --- files ---------------------------------------------------------------------------------------

TEST(ReadJson, NamesTheFile) {
  const test::ScratchFolder folder;
  test::write_bytes(folder / "good.json", "{\"a\": 1}");
  test::write_bytes(folder / "bad.json", "{\"a\": }");
  EXPECT_EQ(read_json(folder / "good.json")["a"], 1);
  const auto bad = test::outcome([&] { (void)read_json(folder / "bad.json"); });
  EXPECT_EQ(bad.code, Code::malformed_file);
  EXPECT_NE(bad.message.find("bad.json: byte 6: found '}', allowed: JSON"), std::string::npos)
      << bad.message;
  const auto missing = test::outcome([&] { (void)read_json(folder / "missing.json"); });
  EXPECT_EQ(missing.code, Code::unreadable_file);
}

}  // namespace
}  // namespace dewpoint::checkpoint
