// Arrays of any shape against NumPy, and against damage. The header's grammar is tested with the
// matrices of npy_test.cpp, which share it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/npy_array.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"

namespace dewpoint::checkpoint {
namespace {

using namespace std::string_literals;
using test::outcome;
using test::Outcome;

NpyArray parse(const std::string& bytes) {
  return parse_npy_array(std::as_bytes(std::span(bytes)), "x.npy");
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
  return out;
}

// A file of version 1.0 in the order of C.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                const std::string& fortran = "False") {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return "\x93NUMPY\x01"s + '\0' + static_cast<char>(header.size() & 0xff) +
         static_cast<char>(header.size() >> 8) + header + data;
}

void expect_refused(const std::string& bytes, const std::string& field, const std::string& found) {
  const Outcome refused = outcome([&] { (void)parse(bytes); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_TRUE(refused.message.starts_with("x.npy: " + field + ": found " + found))
      << refused.message;
}

// --- by hand -------------------------------------------------------------------------------------

TEST(NpyArray, MayBeOneValueOrNone) {
  EXPECT_EQ(values(parse(npy("|u1", "()", "\x07")).tensor), std::vector<double>{7.0});
  EXPECT_EQ(parse(npy("<f8", "(3, 0, 2)", "")).tensor.elements(), 0u);
  EXPECT_EQ(parse(npy("<f8", "(18446744073709551615, 0)", "", "True")).tensor.elements(), 0u);
}

// Property (2).
TEST(NpyArray, IsAViewOfTheFileWhereItCanBe) {
  const std::string plain = npy("<i2", "(2,)", "\x01\x00\x02\x00"s);
  const NpyArray view = parse(plain);
  EXPECT_EQ(view.storage, nullptr);
  EXPECT_EQ(reinterpret_cast<const char*>(view.tensor.bytes.data()),
            plain.data() + plain.size() - 4);
  EXPECT_NE(parse(npy(">i2", "(2,)", "\x00\x01\x00\x02"s)).storage, nullptr);
}

TEST(NpyArray, ListsTypesThatAreNotNumbersWithTheirBytes) {
  const std::string raw = npy("|V2", "(2,)", "abcd");
  NpyArray array = parse(raw);
  EXPECT_EQ(array.tensor.type, ElementType::other);
  EXPECT_EQ(array.tensor.foreign_type, "V2");
  EXPECT_EQ(parse(npy("<V2", "(2,)", "abcd")).tensor.foreign_type, "V2");
  EXPECT_EQ(parse(npy("<M8[us]", "()", "12345678")).tensor.foreign_type, "M8[us]");
  EXPECT_EQ(parse(npy("<c8", "()", "12345678")).tensor.bytes.size(), 8u);
  EXPECT_EQ(parse(npy("<U0", "(7,)", "", "True")).tensor.elements(), 7u);
}

TEST(NpyArrayRefusal, NamesTypesThatCannotBeListed) {
  for (const char* descr : {"|O", "O", "", "<", "<f", "|f4", "=f4", ">U2", ">c8", "<x4", "<U2[s]",
                            "<U99999999999", "<V-1"})
    expect_refused(npy(descr, "(1,)", "abcdefgh"), "descr", "'"s + descr + "'");
}

TEST(NpyArrayRefusal, NamesSizesThatDoNotFit) {
  expect_refused(npy("<f4", "(2,)", "1234567"), "data", "7 bytes");
  expect_refused(npy("<f4", "(4294967296, 4294967296)", ""), "shape", "(4294967296");
  expect_refused(npy("<f8", "(2305843009213693952,)", ""), "shape", "(23");
  expect_refused(npy("<U0", "(4294967296, 4294967296)", ""), "shape", "(4294967296");
  std::string many = "(";
  for (int k = 0; k < 65; ++k) many += "1, ";
  expect_refused(npy("|u1", many + ")", "a"), "shape", "65 extents");
}

// Property (3).
TEST(NpyArrayDamage, EveryBeginningIsRefused) {
  const std::string bytes = npy("<f4", "(1, 2)", "abcdefgh");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(outcome([&] { (void)parse(bytes.substr(0, length)); }).code, Code::malformed_file);
}

TEST(NpyArrayDamage, AnyBitMayBeTheOther) {
  const std::string good = npy(">f4", "(1, 2)", "abcdefgh", "True");
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[place] = static_cast<char>(bytes[place] ^ 1 << bit);
      const Outcome result = outcome([&] { (void)parse(bytes); });
      EXPECT_TRUE(result.code == Code::stopped || result.code == Code::malformed_file);
    }
  }
}

// --- by NumPy ------------------------------------------------------------------------------------

using ArraysOfNumPy = test::NumPyFiles;

// Property (1): NumPy writes each array with the bytes that ours must have. The extents go beyond
// one tile of the transposition, and beyond two axes.
TEST_F(ArraysOfNumPy, HaveTheBytesThatNumPySays) {
  run("shapes = [(), (5,), (1, 1), (3, 4), (70, 33), (2, 3, 4), (33, 2, 3, 35), (2, 1, 3, 1, 2)]\n"
      "types = ['f2', 'f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'b1']\n"
      "names = []\n"
      "for s in shapes:\n"
      "    for t in types:\n"
      "        for order in '<>':\n"
      "            for layout in 'CF':\n"
      "                x = np.random.default_rng(1).integers(0, 100, s)\n"
      "                x = np.asarray(x, dtype=order + t, order=layout)\n"
      "                name = f'{len(names)}'\n"
      "                np.save(name + '.npy', x)\n"
      "                open(name + '.raw', 'wb').write(x.astype('<' + t).tobytes('C'))\n"
      "                names.append(name)\n"
      "open('count', 'w').write(str(len(names)))\n");
  const int count = std::stoi(test::read_bytes(folder_ / "count"));
  ASSERT_EQ(count, 8 * 12 * 2 * 2);
  for (int k = 0; k < count; ++k) {
    const std::string file = test::read_bytes(folder_ / (std::to_string(k) + ".npy"));
    const std::string expected = test::read_bytes(folder_ / (std::to_string(k) + ".raw"));
    const NpyArray array = parse(file);
    const std::string found(reinterpret_cast<const char*>(array.tensor.bytes.data()),
                            array.tensor.bytes.size());
    EXPECT_EQ(found, expected) << file.substr(0, 100);
    EXPECT_EQ(array.tensor.elements() * size_of(array.tensor.type), expected.size());
  }
}

TEST_F(ArraysOfNumPy, MayBeTexts) {
  run("np.save('u.npy', np.array('{\"scale\": \"\\u03b2\"}'))\n"
      "np.save('s.npy', np.array(b'{}'))\n"
      "np.save('b.npy', np.frombuffer(b'{ }', 'u1'))\n"
      "np.save('f.npy', np.asfortranarray(np.array([['a', 'bc'], ['d', 'e']])))\n");
  const auto text = [&](const char* name) {
    const std::string file = test::read_bytes(folder_ / name);
    return text_of(parse(file).tensor);
  };
  EXPECT_EQ(text("u.npy"), "{\"scale\": \"\xce\xb2\"}");
  EXPECT_EQ(text("s.npy"), "{}");
  EXPECT_EQ(text("b.npy"), "{ }");
  EXPECT_EQ(text("f.npy"), std::nullopt);
}

TEST_F(ArraysOfNumPy, OfObjectsAreRefused) {
  run("np.save('o.npy', np.array([1, 'a'], dtype=object))\n"
      "np.save('r.npy', np.zeros(2, dtype=[('a', 'f4')]))\n");
  expect_refused(test::read_bytes(folder_ / "o.npy"), "descr", "'|O' (Python objects");
  expect_refused(test::read_bytes(folder_ / "r.npy"), "descr", "'[('a'");
}

}  // namespace
}  // namespace dewpoint::checkpoint
