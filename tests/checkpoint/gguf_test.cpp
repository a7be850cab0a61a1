// The metadata of GGUF files: built byte by byte after the public specification.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/gguf.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "checkpoint/gguf_bytes.hpp"
#include "dewpoint/checkpoint/model_config.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::bytes_of;
using test::gguf;
using test::gguf_array;
using test::gguf_pair;
using test::gguf_string;
using test::gguf_value;
using test::outcome;
using test::Outcome;

GgufMetadata parse(const std::string& file) { return parse_gguf(std::as_bytes(std::span(file))); }

// The field of the refusal; "accepted" where there is none.
std::string refused_field(const std::string& file) {
  try {
    (void)parse(file);
  } catch (const Refusal& refusal) {
    return refusal.field;
  }
  return "accepted";
}

double number(const GgufMetadata& metadata, const std::string& key) {
  return std::get<double>(metadata.values.at(key));
}

TEST(Gguf, ReadsEveryType) {
  const std::vector<std::string> pairs{
      gguf_value<std::uint8_t>("a.u8", 0, 200),
      gguf_value<std::int8_t>("a.i8", 1, -100),
      gguf_value<std::uint16_t>("a.u16", 2, 60000),
      gguf_value<std::int16_t>("a.i16", 3, -30000),
      gguf_value<std::uint32_t>("a.u32", 4, 4000000000u),
      gguf_value<std::int32_t>("a.i32", 5, -2000000000),
      gguf_value<float>("a.f32", 6, 0.1f),
      gguf_value<std::uint8_t>("a.bool", 7, 1),
      gguf_string("a.string", "text"),
      gguf_array<std::int32_t>("a.array", 5, {3, -4}),
      gguf_value<std::uint64_t>("a.u64", 10, std::uint64_t{1} << 40),
      gguf_value<std::int64_t>("a.i64", 11, -(std::int64_t{1} << 40)),
      gguf_value<double>("a.f64", 12, 0.1)};
  for (const std::uint32_t version : {2u, 3u}) {
    const GgufMetadata metadata = parse(gguf(pairs, version, 77));
    EXPECT_EQ(metadata.version, version);
    EXPECT_EQ(metadata.tensors, 77u);
    EXPECT_EQ(metadata.values.size(), pairs.size());
    EXPECT_EQ(number(metadata, "a.u8"), 200.0);
    EXPECT_EQ(number(metadata, "a.i8"), -100.0);
    EXPECT_EQ(number(metadata, "a.u16"), 60000.0);
    EXPECT_EQ(number(metadata, "a.i16"), -30000.0);
    EXPECT_EQ(number(metadata, "a.u32"), 4e9);
    EXPECT_EQ(number(metadata, "a.i32"), -2e9);
    EXPECT_EQ(number(metadata, "a.f32"), static_cast<double>(0.1f));
    EXPECT_TRUE(std::get<bool>(metadata.values.at("a.bool")));
    EXPECT_EQ(std::get<std::string>(metadata.values.at("a.string")), "text");
    EXPECT_EQ(std::get<GgufArray>(metadata.values.at("a.array")).numbers,
              (std::vector<double>{3, -4}));
    EXPECT_EQ(number(metadata, "a.u64"), 0x1p40);
    EXPECT_EQ(number(metadata, "a.i64"), -0x1p40);
    EXPECT_EQ(number(metadata, "a.f64"), 0.1);
  }
}

// Property (4).
TEST(Gguf, NeverLooksBehindTheMetadata) {
  const std::string file = gguf({gguf_string("k", "v")});
  EXPECT_EQ(parse(file + std::string(100, '\xff')).values.size(), 1u);
}

TEST(Gguf, KeepsTypeAndLengthOfLongArraysAndOfTexts) {
  const auto array = [](const std::string& pair) {
    return std::get<GgufArray>(parse(gguf({pair, gguf_string("z", "after")})).values.at("k"));
  };
  const GgufArray kept =
      array(gguf_array<std::uint8_t>("k", 7, std::vector<std::uint8_t>(kGgufKeptElements, 1)));
  EXPECT_EQ(kept.numbers.size(), kGgufKeptElements);
  const GgufArray longer =
      array(gguf_array<float>("k", 6, std::vector<float>(kGgufKeptElements + 1, 1.0f)));
  EXPECT_EQ(longer.length, kGgufKeptElements + 1);
  EXPECT_EQ(longer.element, GgufType::f32);
  EXPECT_TRUE(longer.numbers.empty());

  const std::string texts = bytes_of<std::uint32_t>(8) + bytes_of<std::uint64_t>(2) +
                            bytes_of<std::uint64_t>(1) + "a" + bytes_of<std::uint64_t>(0);
  const GgufArray words = array(gguf_pair("k", 9, texts));
  EXPECT_EQ(words.element, GgufType::string);
  EXPECT_EQ(words.length, 2u);
}

// An array of arrays ... of no bytes, `depth` of them.
std::string nested(std::size_t depth) {
  std::string value;
  for (std::size_t level = 1; level < depth; ++level) {
    value += bytes_of<std::uint32_t>(9) + bytes_of<std::uint64_t>(1);
  }
  return gguf_pair("k", 9, value + bytes_of<std::uint32_t>(0) + bytes_of<std::uint64_t>(0));
}

TEST(Gguf, LimitsArraysInsideArrays) {
  EXPECT_EQ(refused_field(gguf({nested(kGgufArrayDepth)})), "accepted");
  EXPECT_EQ(refused_field(gguf({nested(kGgufArrayDepth + 1)})), "k");
  EXPECT_EQ(refused_field(gguf({nested(100000)})), "k");
}

TEST(Gguf, RefusesHeadersOfOtherKinds) {
  EXPECT_EQ(refused_field(""), "magic");
  EXPECT_EQ(refused_field("GGU"), "magic");
  EXPECT_EQ(refused_field("GGML" + std::string(40, '\0')), "magic");
  for (const std::uint32_t version : {0u, 1u, 4u, 0x02000000u, 0x03000000u}) {
    EXPECT_EQ(refused_field(gguf({}, version)), "version");
  }
}

// Property (2): counts are not believed.
TEST(Gguf, RefusesCountsBeyondTheBytes) {
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  const std::string head = "GGUF" + bytes_of<std::uint32_t>(3) + bytes_of<std::uint64_t>(0);
  EXPECT_EQ(refused_field(head + bytes_of(huge)), "number of keys");
  EXPECT_EQ(refused_field(head + bytes_of<std::uint64_t>(1)), "number of keys");
  EXPECT_EQ(refused_field(head + bytes_of<std::uint64_t>(1) + bytes_of(huge) + "key....."),
            "key length");
  const auto array = [&](std::uint32_t type, std::uint64_t length) {
    return refused_field(
        gguf({gguf_pair("k", 9, bytes_of(type) + bytes_of(length) + std::string(64, '\0'))}));
  };
  for (const std::uint32_t type : {0u, 3u, 6u, 8u, 9u, 12u}) {
    EXPECT_EQ(array(type, huge), "k length") << type;
    EXPECT_EQ(array(type, huge / 8 + 2), "k length") << type;
  }
  EXPECT_EQ(refused_field(gguf({gguf_pair("k", 8, bytes_of(huge))})), "k length");
}

TEST(Gguf, RefusesKeysTwiceEmptyOrTooLong) {
  const std::string one = gguf_value<std::uint8_t>("k", 0, 1);
  EXPECT_EQ(refused_field(gguf({one, one})), "k");
  EXPECT_EQ(refused_field(gguf({gguf_value<std::uint8_t>("", 0, 1), gguf_string("z", "text")})),
            "key");
  const std::string longest(kGgufKeyLength, 'k');
  EXPECT_EQ(refused_field(gguf({gguf_value<std::uint8_t>(longest, 0, 1)})), "accepted");
  EXPECT_EQ(refused_field(gguf({gguf_value<std::uint8_t>(longest + "k", 0, 1)})), "key");
}

TEST(Gguf, RefusesTypesAndBooleansThatThereAreNot) {
  EXPECT_EQ(refused_field(gguf({gguf_pair("k", 13, std::string(8, '\0'))})), "k type");
  EXPECT_EQ(refused_field(gguf({gguf_value<std::uint8_t>("k", 7, 2)})), "k");
  EXPECT_EQ(refused_field(gguf(
                {gguf_pair("k", 9, bytes_of<std::uint32_t>(99) + bytes_of<std::uint64_t>(0))})),
            "k element type");
}

// Property (1).
TEST(Gguf, AFileCutAnywhereIsRefused) {
  const std::string file = gguf({gguf_string("general.architecture", "llama"),
                                 gguf_array<std::int16_t>("numbers", 3, {1, 2, 3}), nested(3),
                                 gguf_value<double>("last", 12, 1.0)});
  EXPECT_EQ(refused_field(file), "accepted");
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_NE(refused_field(file.substr(0, length)), "accepted") << length;
  }
}

// Python's struct module is a second writer.
class GgufFromPython : public test::NumPyFiles {};

TEST_F(GgufFromPython, IsReadBack) {
  run(R"(
import struct
def text(s): return struct.pack('<Q', len(s)) + s.encode()
def pair(k, t, v): return text(k) + struct.pack('<I', t) + v
pairs = [pair('general.architecture', 8, text('qwen2')),
         pair('qwen2.block_count', 4, struct.pack('<I', 28)),
         pair('qwen2.embedding_length', 4, struct.pack('<I', 3584)),
         pair('qwen2.context_length', 4, struct.pack('<I', 32768)),
         pair('qwen2.attention.head_count', 4, struct.pack('<I', 28)),
         pair('qwen2.attention.head_count_kv', 4, struct.pack('<I', 4)),
         pair('qwen2.rope.freq_base', 6, struct.pack('<f', 1e6)),
         pair('tokenizer.ggml.tokens', 9, struct.pack('<IQ', 8, 3) + text('a') + text('') + text('b'))]
open('model.gguf', 'wb').write(b'GGUF' + struct.pack('<IQQ', 3, 0, len(pairs)) + b''.join(pairs))
)");
  const ModelConfig config = read_model_config(folder_ / "model.gguf");
  EXPECT_EQ(config.source, Source::gguf);
  EXPECT_EQ(config.model_type, "qwen2");
  EXPECT_EQ(config.layers, 28u);
  EXPECT_EQ(config.vocabulary, 3u);
  EXPECT_TRUE(config.attention_bias);
  EXPECT_EQ(config.attention.head_dimension, 128u);
  EXPECT_EQ(config.attention.rope.base, 1e6);
}

}  // namespace
}  // namespace dewpoint::checkpoint
