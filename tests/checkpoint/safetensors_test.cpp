// The safetensors reader against files built by hand, by Python and by other programs, and against
// damage.
//
// Every value compared here is exact: a file either holds a number or it does not.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/safetensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/foreign_file.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::outcome;
using test::Outcome;

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int k = 0; k < 8; ++k) bytes += static_cast<char>(value >> (8 * k) & 0xff);
  return bytes;
}

std::string file(const std::string& header, const std::string& data = "") {
  return little_endian(header.size()).append(header).append(data);
}

// One tensor "x".
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"("x": {"dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "data_offsets": )" +
         offsets + "}";
}

std::string single(const std::string& dtype, const std::string& shape, const std::string& offsets,
                   const std::string& data) {
  return file("{" + entry(dtype, shape, offsets) + "}", data);
}

SafetensorsContent parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "x.safetensors");
}

const Tensor& named(const SafetensorsContent& content, const std::string& name) {
  const auto it = std::find_if(content.tensors.begin(), content.tensors.end(),
                               [&](const Tensor& tensor) { return tensor.name == name; });
  if (it == content.tensors.end()) throw std::runtime_error("no tensor " + name);
  return *it;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
  return out;
}

void expect_refused(const std::string& bytes, const std::string& field, const std::string& found) {
  const Outcome refused = outcome([&] { (void)parse(bytes); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_TRUE(refused.message.starts_with("x.safetensors: " + field + ": found " + found))
      << refused.message;
  EXPECT_NE(refused.message.find(", allowed: "), std::string::npos) << refused.message;
  EXPECT_EQ(refused.message.find('\n'), std::string::npos) << refused.message;
}

// Two tensors and metadata, 16 bytes of data.
std::string small_file() {
  return file(
      R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "I32", "shape": [2], )"
      R"("data_offsets": [8, 16]}, "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}})",
      "\x00\x00\x80\x3f\x00\x00\x00\xc0\x01\x00\x00\x00\xff\xff\xff\xff"s);
}

// --- files that are read -------------------------------------------------------------------------

TEST(Safetensors, GivesTensorsAndMetadata) {
  const std::string bytes = small_file();
  const SafetensorsContent content = parse(bytes);
  ASSERT_EQ(content.tensors.size(), 2u);
  EXPECT_EQ(content.tensors[0].name, "b");
  EXPECT_EQ(content.tensors[1].type, ElementType::f32);
  EXPECT_EQ(content.tensors[1].shape, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(values(content.tensors[1]), (std::vector<double>{1.0, -2.0}));
  EXPECT_EQ(values(content.tensors[0]), (std::vector<double>{1.0, -1.0}));
  EXPECT_EQ(content.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
}

TEST(Safetensors, MayHoldNothing) {
  EXPECT_TRUE(parse(file("{}")).tensors.empty());
  EXPECT_TRUE(parse(file(R"({"__metadata__": {}})")).metadata.empty());
}

TEST(Safetensors, AcceptsBlanksAroundTheHeader) {
  EXPECT_TRUE(parse(file("  {}")).tensors.empty());
  EXPECT_TRUE(parse(file("{}   \n")).tensors.empty());
}

TEST(Safetensors, AcceptsASingleValueAndTensorsWithoutOne) {
  const std::string one = single("F32", "[]", "[0, 4]", "\x00\x00\x80\x3f"s);
  EXPECT_EQ(values(parse(one).tensors[0]), std::vector<double>{1.0});
  const std::string none = single("F64", "[3, 0]", "[0, 0]", "");
  EXPECT_EQ(parse(none).tensors[0].elements(), 0u);
}

TEST(Safetensors, AcceptsEmptyTensorsBetweenOthers) {
  const std::string bytes = file(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},)"
                                 R"("b": {"dtype": "U8", "shape": [0], "data_offsets": [1, 1]},)"
                                 R"("c": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
                                 "\x07\x08");
  EXPECT_EQ(values(named(parse(bytes), "c")), std::vector<double>{8.0});
}

TEST(Safetensors, ListsTypesItCannotReadWithTheirSizeChecked) {
  for (const auto& [dtype, size] :
       {std::pair{"F8_E4M3", 2}, {"F8_E5M2", 2}, {"C64", 16}, {"F4", 1}}) {
    const std::string offsets = "[0, " + std::to_string(size) + "]";
    const std::string data(static_cast<std::size_t>(size), '\0');
    const std::string bytes = single(dtype, "[2]", offsets, data);
    const Tensor tensor = parse(bytes).tensors.at(0);
    EXPECT_EQ(tensor.type, ElementType::other);
    EXPECT_EQ(tensor.foreign_type, dtype);
    expect_refused(single(dtype, "[4]", offsets, data), "'x'.data_offsets",
                   std::to_string(size) + " bytes");
  }
  expect_refused(single("F6_E2M3", "[3]", "[0, 2]", "ab"), "'x'.data_offsets", "2 bytes");
  EXPECT_EQ(parse(single("NEW_TYPE", "[5]", "[0, 3]", "abc")).tensors.at(0).foreign_type,
            "NEW_TYPE");
}

// --- files that are not --------------------------------------------------------------------------

TEST(SafetensorsRefusal, NamesTheLengthOfTheHeader) {
  expect_refused("", "header length", "a file of 0 bytes");
  expect_refused("1234567", "header length", "a file of 7 bytes");
  expect_refused(little_endian(3) + "{}", "header length", "3 bytes");
  expect_refused(little_endian(~std::uint64_t{0}) + "{}", "header length",
                 "18446744073709551615 bytes");
}

TEST(SafetensorsRefusal, BoundsTheHeaderAtAHundredMillionBytes) {
  std::string bytes = little_endian(100'000'001) + "{}";
  bytes.resize(8 + 100'000'001, ' ');
  expect_refused(bytes, "header length", "100000001 bytes");
}

TEST(SafetensorsRefusal, NamesTheByteOfAHeaderThatIsNotJson) {
  expect_refused(file("{\"x\": }"), "header, byte 6", "'}'");
  expect_refused(file("[]"), "header, byte 0", "'[]'");
  expect_refused(file(""), "header, byte 0", "the end");
  expect_refused(file("{} {}"), "header, byte 3", "'{}'");
  expect_refused(file("{\"x\": [[[1]]]}"), "header, byte 8", "one more");
}

TEST(SafetensorsRefusal, NamesAKeyThatStandsTwice) {
  const std::string x = entry("U8", "[1]", "[0, 1]");
  expect_refused(file("{" + x + "," + x + "}", "a"), "header, byte 118",
                 "an object with the key 'x' twice");
  const Outcome inner =
      outcome([] { (void)parse(file(R"({"x": {"dtype": "U8", "dtype": "U8"}})")); });
  EXPECT_NE(inner.message.find("'dtype' twice"), std::string::npos) << inner.message;
}

TEST(SafetensorsRefusal, NamesMetadataThatAreNotTexts) {
  expect_refused(file(R"({"__metadata__": 3})"), "__metadata__", "3");
  expect_refused(file(R"({"__metadata__": {"scale": 0.125}})"), "__metadata__", "0.125");
}

TEST(SafetensorsRefusal, NamesTheFieldOfATensor) {
  expect_refused(file(R"({"x": 3})"), "'x'", "3");
  expect_refused(file(R"({"x": {"dtype": "U8", "shape": []}})"), "'x'", "no data_offsets");
  expect_refused(file(R"({"x": {"dtype": "U8", "shape": [], "data_offsets": [0, 0], "y": 1}})"),
                 "'x'", "the key 'y'");
  expect_refused(file(R"({"x": {"dtype": 8, "shape": [], "data_offsets": [0, 0]}})"), "'x'.dtype",
                 "8");
  for (const char* shape : {"3", "[-1]", "[1.0]", "[\"1\"]", "{}", "null"})
    expect_refused(single("U8", shape, "[0, 1]", "a"), "'x'.shape", "");
  for (const char* offsets : {"[0]", "[0, 1, 1]", "[1, 0]", "[0, 2]", "[2, 2]"})
    expect_refused(single("U8", "[1]", offsets, "a"), "'x'.data_offsets", "[");
}

TEST(SafetensorsRefusal, NamesAShapeBeyondTheMachine) {
  expect_refused(single("F32", "[4294967296, 4294967296]", "[0, 4]", "abcd"), "'x'.shape",
                 "[4294967296, 4294967296]");
  expect_refused(single("F32", "[4611686018427387905]", "[0, 4]", "abcd"), "'x'.shape", "[46");
  expect_refused(single("U8", "[18446744073709551616]", "[0, 1]", "a"), "'x'.shape", "[1.8");
}

TEST(SafetensorsRefusal, NamesASizeThatIsNotThatOfTheShape) {
  expect_refused(single("F32", "[2]", "[0, 4]", "abcd"), "'x'.data_offsets", "4 bytes");
  expect_refused(single("F32", "[0, 9]", "[0, 4]", "abcd"), "'x'.data_offsets", "4 bytes");
}

TEST(SafetensorsRefusal, NamesOverlapsHolesAndWhatIsLeftOver) {
  const auto pair = [](const std::string& first, const std::string& second) {
    return file(R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": )" + first +
                    R"(}, "b": {"dtype": "U8", "shape": [2], "data_offsets": )" + second + "}}",
                "abcd");
  };
  EXPECT_EQ(parse(pair("[2, 4]", "[0, 2]")).tensors.size(), 2u);
  expect_refused(pair("[0, 2]", "[1, 3]"), "'b'.data_offsets", "a begin of 1");
  expect_refused(pair("[0, 2]", "[0, 2]"), "'b'.data_offsets", "a begin of 0");
  expect_refused(pair("[1, 3]", "[1, 3]"), "'a'.data_offsets", "a begin of 1");
  expect_refused(single("U8", "[1]", "[1, 2]", "ab"), "'x'.data_offsets", "a begin of 1");
  expect_refused(single("U8", "[1]", "[0, 1]", "ab"), "data", "2 bytes");
  expect_refused(file("{}", "a"), "data", "1 bytes");
}

TEST(SafetensorsRefusal, KeepsForeignTextShortAndOnOneLine) {
  const std::string name(1000, 'n');
  const Outcome refused = outcome([&] { (void)parse(file("{\"" + name + "\\n\": 3}")); });
  EXPECT_LT(refused.message.size(), 200u);
  expect_refused(file(R"({"a\nb": 3})"), "'a\\x0ab'", "3");
}

// --- property (3) --------------------------------------------------------------------------------

void expect_read_or_refused(const std::string& bytes) {
  const Outcome result = outcome([&] {
    for (const Tensor& tensor : parse(bytes).tensors) {
      if (tensor.type != ElementType::other) (void)values(tensor);
    }
  });
  EXPECT_TRUE(result.code == Code::stopped || result.code == Code::malformed_file);
  EXPECT_EQ(result.message.find('\n'), std::string::npos);
}

TEST(SafetensorsDamage, EveryBeginningOfAFileIsRefused) {
  const std::string bytes = small_file();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Outcome cut = outcome([&] { (void)parse(bytes.substr(0, length)); });
    EXPECT_EQ(cut.code, Code::malformed_file) << length;
  }
}

TEST(SafetensorsDamage, AnyBitMayBeTheOther) {
  const std::string good = small_file();
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[place] = static_cast<char>(bytes[place] ^ 1 << bit);
      expect_read_or_refused(bytes);
    }
  }
}

TEST(SafetensorsDamage, RandomBytesAreRefused) {
  const Stream stream = test::stream("SafetensorsDamage/RandomBytesAreRefused");
  for (std::uint64_t k = 0; k < 2000; ++k) {
    std::string bytes(k % 200, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(stream.bits(200 * k + i)[0]);
    EXPECT_EQ(outcome([&] { (void)parse(bytes); }).code, Code::malformed_file);
  }
}

// --- files of other programs ---------------------------------------------------------------------

class PythonSafetensors : public test::NumPyFiles {
 protected:
  // Writes arrays as the format's description says, the header padded or not.
  static constexpr const char* kWriter =
      "import json, struct\n"
      "def write(path, arrays, types, pad):\n"
      "    header, data = {}, b''\n"
      "    for name, array in arrays.items():\n"
      "        raw = np.ascontiguousarray(array).tobytes()\n"
      "        header[name] = {'dtype': types[name], 'shape': list(array.shape),\n"
      "                        'data_offsets': [len(data), len(data) + len(raw)]}\n"
      "        data += raw\n"
      "    text = json.dumps(header).encode()\n"
      "    text += b' ' * ((-len(text)) % 8 + pad)\n"
      "    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)\n";
};

// 3.140625 is a bf16: 0x4049. Each pad shifts all tensors by a byte.
TEST_F(PythonSafetensors, AreReadAtAnyAlignment) {
  run(std::string(kWriter) +
      "x = np.arange(6).reshape(2, 3)\n"
      "arrays = {'f8': x / 4, 'f4': (-x / 4).astype('f4'), 'f2': (x / 8).astype('f2'),\n"
      "          'bf': np.full((2, 3), 0x4049, 'u2'), 'i8': x - 2**40, 'b': x % 2 == 0}\n"
      "types = dict(f8='F64', f4='F32', f2='F16', bf='BF16', i8='I64', b='BOOL')\n"
      "for pad in range(8): write(f'{pad}.safetensors', arrays, types, pad)\n");
  for (int pad = 0; pad < 8; ++pad) {
    const std::string bytes = test::read_bytes(folder_ / (std::to_string(pad) + ".safetensors"));
    const SafetensorsContent content = parse(bytes);
    ASSERT_EQ(content.tensors.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
      const auto x = static_cast<double>(i);
      EXPECT_EQ(values(named(content, "f8"))[i], x / 4);
      EXPECT_EQ(values(named(content, "f4"))[i], -x / 4);
      EXPECT_EQ(values(named(content, "f2"))[i], x / 8);
      EXPECT_EQ(values(named(content, "bf"))[i], 3.140625);
      EXPECT_EQ(values(named(content, "i8"))[i], x - std::ldexp(1.0, 40));
      EXPECT_EQ(values(named(content, "b"))[i], i % 2 == 0 ? 1.0 : 0.0);
    }
  }
}

// A GPT-2 of 4 layers, width 64, 53 tokens and 512 positions, saved by Hugging Face's own writer.
// The sum is NumPy's, of numpy.frombuffer at the offsets that json.loads found in the header; two
// orders of adding 64 numbers, all positive, differ by less than 64 roundings of their sum.
TEST(SafetensorsOfOthers, ARealCheckpointIsRead) {
  const fs::path path = fs::path(DEWPOINT_DATA) / "capp-gpt2" / "model.safetensors";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto file = std::make_shared<const ForeignFile>(path, "a checkpoint");
  const SafetensorsContent content = parse_safetensors(file, path.string());
  EXPECT_EQ(content.metadata.at("format"), "pt");
  EXPECT_EQ(content.tensors.size(), 52u);
  EXPECT_EQ(shape_text(named(content, "transformer.wpe.weight").shape), "[512, 64]");

  constexpr double expected = 74.98382937908173;
  const std::vector<double> weights = values(named(content, "transformer.ln_f.weight"));
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), expected,
              64 * 0x1p-53 * expected);
}

}  // namespace
}  // namespace dewpoint::checkpoint
