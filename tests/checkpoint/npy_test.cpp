// The .npy reader against bytes built by hand, against random damage, and against NumPy itself.
//
// Every value compared here is exact: a file either holds a number or it does not.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/npy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::outcome;
using test::Outcome;

// --- files built by hand -------------------------------------------------------------------------

// A file of the given version around a header, whose length is written as the version asks.
std::string npy(std::string_view header, std::string_view data, char major = 1) {
  std::string file = "\x93NUMPY"s + major + '\0';
  const int length_width = major == 1 ? 2 : 4;
  for (int k = 0; k < length_width; ++k) {
    file += static_cast<char>(header.size() >> (8 * k) & 0xff);
  }
  return file.append(header).append(data);
}

// A header as NumPy writes it, with the value of each key in Python's own text.
std::string header(std::string_view descr, std::string_view order, std::string_view shape) {
  std::string text = "{'descr': ";
  text.append(descr).append(", 'fortran_order': ").append(order);
  return text.append(", 'shape': ").append(shape).append(", }      \n");
}

std::string header_of_shape(std::string_view shape) { return header("'<f8'", "False", shape); }
std::string header_of_descr(std::string_view descr) { return header(descr, "False", "(1, 1)"); }

template <class T>
std::string encode(const std::vector<T>& values, std::endian order = std::endian::little) {
  std::string data;
  for (const T& value : values) {
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
    data.append(raw.data(), raw.size());
  }
  return data;
}

const std::string kOneNumber = encode<double>({1.5});
const std::string kSixNumbers = encode<double>({1, 2, 3, 4, 5, 6});

Matrix<double> parse(std::string_view file) {
  return parse_npy_matrix(std::as_bytes(std::span(file)), "q.npy");
}

std::vector<double> elements(const Matrix<double>& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

// --- refusals ------------------------------------------------------------------------------------

// The message names the file, then `field`, then what was found, then what is allowed, in one line.
void expect_names(const Outcome& outcome, std::string_view name, const std::string& field,
                  std::string_view found, std::string_view allowed) {
  const std::string& text = outcome.message;
  EXPECT_EQ(text.find(std::string(name) + ": " + field + ": found "), 0u) << text;
  const std::size_t middle = text.find(", allowed: ");
  ASSERT_NE(middle, std::string::npos) << text;
  EXPECT_NE(text.substr(0, middle).find(found), std::string::npos) << text;
  EXPECT_NE(text.substr(middle).find(allowed), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

void expect_refused(std::string_view file, const std::string& field, std::string_view found,
                    std::string_view allowed) {
  const Outcome refused = outcome([&] { (void)parse(file); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  expect_names(refused, "q.npy", field, found, allowed);
}

void expect_header_refused(std::string_view text, const std::string& field, std::string_view found,
                           std::string_view allowed) {
  expect_refused(npy(text, kOneNumber), field, found, allowed);
}

TEST(NpyRefusal, NamesAWrongMagicString) {
  expect_refused("", "magic", "''", "'\\x93NUMPY'");
  expect_refused("\x93NUM", "magic", "'\\x93NUM'", "'\\x93NUMPY'");
  expect_refused("hello, world", "magic", "'hello,'", "'\\x93NUMPY'");
}

TEST(NpyRefusal, SaysThatAnArchiveIsNotAnArray) {
  expect_refused("PK\x03\x04 and so on", "magic", "(a ZIP archive, perhaps a .npz)", "NUMPY");
}

TEST(NpyRefusal, NamesAnUnknownVersion) {
  const std::string header_text = header_of_shape("(1, 1)");
  expect_refused(npy(header_text, kOneNumber, 4), "version", "4.0", "1.0, 2.0, 3.0");
  expect_refused(npy(header_text, kOneNumber, 0), "version", "0.0", "1.0, 2.0, 3.0");
  std::string minor = npy(header_text, kOneNumber);
  minor[7] = 1;
  expect_refused(minor, "version", "1.1", "1.0, 2.0, 3.0");
}

TEST(NpyRefusal, NamesTheFieldInWhichTheFileEnds) {
  const std::string file = npy(header_of_shape("(1, 1)"), kOneNumber, 2);
  expect_refused(file.substr(0, 7), "version", "after 1 of 2 bytes", "complete");
  expect_refused(file.substr(0, 11), "header length", "after 3 of 4 bytes", "complete");
}

TEST(NpyRefusal, NamesAHeaderLengthBeyondTheFile) {
  expect_refused("\x93NUMPY\x01\x00\xff\xff{}"s, "header length", "65535 bytes",
                 "the 2 bytes left");
  expect_refused("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s, "header length", "4294967295 bytes",
                 "the 2 bytes left");
}

TEST(NpyRefusal, NamesAMissingKey) {
  expect_header_refused("{'fortran_order': False, 'shape': (1, 1)}", "header", "no key 'descr'",
                        "'descr', 'fortran_order' and 'shape'");
  expect_header_refused("{'descr': '<f8', 'shape': (1, 1)}", "header", "no key 'fortran_order'",
                        "once each");
  expect_header_refused("{'descr': '<f8', 'fortran_order': False}", "header", "no key 'shape'",
                        "once each");
  expect_header_refused("{}", "header", "no key 'descr'", "once each");
}

TEST(NpyRefusal, NamesAnUnknownKey) {
  expect_header_refused("{'descr': '<f8', 'colour': 3}", "header", "the key 'colour'", "'descr'");
  expect_header_refused("{'de\nscr': '<f8'}", "header", "the key 'de\\x0ascr'", "'descr'");
}

TEST(NpyRefusal, NamesADuplicateKey) {
  expect_header_refused("{'descr': '<f8', 'descr': '<f8'}", "header", "'descr' twice", "once each");
  expect_header_refused("{'shape': (1, 1), 'shape': (1, 1)}", "header", "'shape' twice",
                        "once each");
  expect_header_refused("{'fortran_order': True, 'fortran_order': True}", "header",
                        "'fortran_order' twice", "once each");
}

TEST(NpyRefusal, QuotesTheHeaderWhereItStopsBeingADictionary) {
  expect_header_refused("", "header", "the end of the header", "'{'");
  expect_header_refused("['descr']", "header", "'['descr']'", "'{'");
  expect_header_refused("{descr: 1}", "header", "'descr: 1}'", "a quoted key");
  expect_header_refused("{,}", "header", "',}'", "a quoted key");
  expect_header_refused("{'descr", "header", "''descr'", "a closing quote");
  expect_header_refused("{'descr\"", "header", "''descr\"'", "a closing quote");
  expect_header_refused("{'descr' '<f8'}", "header", "''<f8'}'", "':' after a key");
  expect_header_refused("{'descr': '<f8' 'shape'", "header", "''shape''", "',' or '}'");
  expect_header_refused("{'descr': '<f8',", "header", "the end of the header", "a quoted key");
  expect_header_refused(header_of_shape("(1, 1)") + "x", "header", "'x'", "only spaces");
}

TEST(NpyRefusal, KeepsLongForeignTextShort) {
  const Outcome refused =
      outcome([] { (void)parse(npy("{'" + std::string(60000, 'k') + "': 1}", "")); });
  expect_names(refused, "q.npy", "header", "kkk...", "'descr'");
  EXPECT_LT(refused.message.size(), 300u);
}

TEST(NpyRefusal, NamesPythonObjects) {
  expect_header_refused(header_of_descr("'|O'"), "descr", "'|O' (Python objects", "f2, f4, f8");
  expect_header_refused(header_of_descr("'O'"), "descr", "'O'", "f2, f4, f8");
}

TEST(NpyRefusal, NamesStructuredTypes) {
  expect_header_refused(header_of_descr("[('x', '<f8')]"), "descr", "[('x', '<f8')]", "f2, f4, f8");
  expect_header_refused(header_of_descr("('<f8', (2,))"), "descr", "a structured type", "f8");
}

TEST(NpyRefusal, NamesTypesThatHoldNoRealNumbers) {
  expect_header_refused(header_of_descr("'|b1'"), "descr", "'|b1' (booleans)", "f8");
  expect_header_refused(header_of_descr("'<c16'"), "descr", "'<c16' (complex numbers)", "f8");
  expect_header_refused(header_of_descr("'<U8'"), "descr", "'<U8' (strings)", "f8");
  expect_header_refused(header_of_descr("'|S8'"), "descr", "'|S8' (strings)", "f8");
  expect_header_refused(header_of_descr("'|V2'"), "descr", "'|V2' (raw bytes)", "f8");
  expect_header_refused(header_of_descr("'<M8[s]'"), "descr", "'<M8[s]' (times)", "f8");
}

TEST(NpyRefusal, NamesWidthsAndByteOrdersItDoesNotKnow) {
  for (const char* descr : {"<f16", "<f1", "<i3", "<u16", "|f8", "=f8", "f8", "!f8", "<", "", "<f"})
    expect_header_refused(header_of_descr("'"s + descr + "'"), "descr", "'"s + descr + "'", "'<'");
  expect_header_refused(header_of_descr("8"), "descr", "'8, ", "f2, f4, f8");
  expect_header_refused(header_of_descr(R"('\x3cf8')"), "descr", R"('\x3cf8')", "f2, f4, f8");
}

TEST(NpyRefusal, NamesAnOrderThatIsNotABoolean) {
  for (const char* order : {"0", "true", "'False'", "None"})
    expect_header_refused(header("'<f8'", order, "(1, 1)"), "fortran_order", order,
                          "True or False");
  expect_header_refused(header("'<f8'", "Falsehood", "(1, 1)"), "header", "'hood", "',' or '}'");
}

TEST(NpyRefusal, NamesAShapeThatIsNotAMatrix) {
  for (const char* shape : {"()", "(1,)", "(1)", "(1, 1, 1)", "(1, 1, 1, 1,)"})
    expect_header_refused(header_of_shape(shape), "shape", shape, "(rows, columns)");
}

TEST(NpyRefusal, NamesAShapeWithoutRowsOrColumns) {
  for (const char* shape : {"(0, 1)", "(1, 0)", "(0, 0)"})
    expect_refused(npy(header_of_shape(shape), ""), "shape", shape, "both at least 1");
}

TEST(NpyRefusal, NamesExtentsThatAreNotDecimalNumbers) {
  for (const char* extent :
       {"-1", "+1", "0x1", "1.0", "1e3", "01", "None", "'1'", "1_0", ",", "(1)"})
    expect_header_refused(header_of_shape("("s + extent + ", 1)"), "shape", "", "");
  expect_header_refused(header_of_shape("(-1, 1)"), "shape", "'-1, 1)", "decimal numbers");
  expect_header_refused(header_of_shape("(1L, 1L)"), "shape", "'L, 1L)", "',' or ')'");
  expect_header_refused(header_of_shape("[1, 1]"), "shape", "'[1, 1]", "(rows, columns)");
  expect_header_refused("{'shape': (1", "shape", "the end of the header", "',' or ')'");
}

TEST(NpyRefusal, NamesExtentsBeyondTheMachine) {
  expect_header_refused(header_of_shape("(18446744073709551616, 1)"), "shape",
                        "'18446744073709551616, 1)", "up to 18446744073709551615");
}

// Property (3). Products that wrap around to the 8 bytes present must not pass for them, and
// products that do not wrap must not be allocated: 2^60 bytes would throw something else.
TEST(NpyRefusal, NamesASizeBeyondTheMachineBeforeAllocatingIt) {
  for (const char* shape : {"(4294967296, 4294967296)", "(18446744073709551615, 2)",
                            "(2305843009213693953, 1)", "(1, 2305843009213693953)"})
    expect_header_refused(header_of_shape(shape), "shape", shape, "at most 2305843009213693951");
  expect_header_refused(header_of_shape("(1073741824, 134217728)"), "data", "8 bytes",
                        "1152921504606846976 bytes");
}

TEST(NpyRefusal, NamesDataShorterOrLongerThanTheShape) {
  const std::string header_text = header_of_shape("(2, 3)");
  for (std::size_t size : {0, 1, 40, 47})
    expect_refused(npy(header_text, kSixNumbers.substr(0, size)), "data",
                   std::to_string(size) + " bytes",
                   "48 bytes, for shape (2, 3) of 8-byte elements");
  expect_refused(npy(header_text, kSixNumbers + "x"), "data", "49 bytes", "48 bytes");
}

// Property (2). The place is the one in the matrix, in either order of storage.
TEST(NpyRefusal, NamesRowAndColumnOfANumberThatIsNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused(npy(header_of_shape("(2, 3)"), encode<double>({1, 2, 3, nan, 5, 6})), "data",
                 "nan in row 1, column 0", "finite");
  expect_refused(npy(header("'<f8'", "True", "(2, 3)"), encode<double>({1, 2, 3, -infinity, 5, 6})),
                 "data", "-inf in row 1, column 1", "finite");
  expect_refused(npy(header("'<f2'", "False", "(1, 2)"), encode<std::uint16_t>({0, 0x7c00})),
                 "data", "inf in row 0, column 1", "finite");
  expect_refused(npy(header("'<f2'", "False", "(1, 1)"), encode<std::uint16_t>({0xfc01})), "data",
                 "nan in row 0, column 0", "finite");
  expect_refused(npy(header("'>f4'", "False", "(1, 1)"), "\x7f\x80\x00\x00"s), "data",
                 "inf in row 0, column 0", "finite");
}

TEST(NpyRefusal, StaysOnOneLineWhateverTheNameOfTheFile) {
  const Outcome refused = outcome([] { (void)parse_npy_matrix({}, "données\n2.npy"); });
  expect_names(refused, "données\\x0a2.npy", "magic", "''", "NUMPY");
}

// --- values --------------------------------------------------------------------------------------

template <class T>
struct Type {
  const char* code;
  using Number = T;
};

// Calls check(Type<T>{"f4"}) and so on for every type that C++ can write; halves come apart.
template <class Check>
void for_each_type(Check check) {
  check(Type<float>{"f4"});
  check(Type<double>{"f8"});
  check(Type<std::int8_t>{"i1"});
  check(Type<std::int16_t>{"i2"});
  check(Type<std::int32_t>{"i4"});
  check(Type<std::int64_t>{"i8"});
  check(Type<std::uint8_t>{"u1"});
  check(Type<std::uint16_t>{"u2"});
  check(Type<std::uint32_t>{"u4"});
  check(Type<std::uint64_t>{"u8"});
}

std::string quoted_descr(std::endian order, std::string_view code) {
  return (order == std::endian::little ? "'<"s : "'>"s).append(code).append("'");
}

// Property (1).
TEST(NpyValues, AreTheArrayInEveryTypeAndByteOrder) {
  for_each_type([](auto type) {
    using T = typename decltype(type)::Number;
    using Limits = std::numeric_limits<T>;
    const std::vector<T> values{0, 1, Limits::lowest(), Limits::max(), Limits::min(), 100};
    const std::vector<double> expected(values.begin(), values.end());
    for (std::endian order : {std::endian::little, std::endian::big}) {
      const std::string text = header(quoted_descr(order, type.code), "False", "(2, 3)");
      const Matrix<double> matrix = parse(npy(text, encode(values, order)));
      EXPECT_EQ(matrix.rows(), 2u);
      EXPECT_EQ(matrix.cols(), 3u);
      EXPECT_EQ(elements(matrix), expected) << text;
    }
  });
}

TEST(NpyValues, OfOneByteNeedNoByteOrder) {
  EXPECT_EQ(elements(parse(npy(header("'|i1'", "False", "(1, 2)"), "\x80\x7f"))),
            (std::vector<double>{-128, 127}));
  EXPECT_EQ(elements(parse(npy(header("'|u1'", "False", "(1, 2)"), "\x80\x7f"))),
            (std::vector<double>{128, 127}));
}

// Property (1): the same six numbers, rows first and columns first.
TEST(NpyValues, FollowTheOrderOfStorage) {
  EXPECT_EQ(elements(parse(npy(header("'<f8'", "False", "(2, 3)"), kSixNumbers))),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(elements(parse(npy(header("'<f8'", "True", "(2, 3)"), kSixNumbers))),
            (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

// One, the largest, the smallest normal, the largest and smallest subnormal, the nearest to 1/3.
TEST(NpyValues, OfHalfPrecisionAreExact) {
  const std::vector<std::uint16_t> bits{0x3c00, 0x7bff, 0x0400, 0x03ff,
                                        0x0001, 0x3555, 0xc000, 0x8001};
  const std::vector<double> expected{1.0,     65504.0,        0x1p-14, 0x1p-14 - 0x1p-24,
                                     0x1p-24, 0.333251953125, -2.0,    -0x1p-24};
  for (std::endian order : {std::endian::little, std::endian::big}) {
    const std::string text = header(quoted_descr(order, "f2"), "False", "(2, 4)");
    EXPECT_EQ(elements(parse(npy(text, encode(bits, order)))), expected);
  }
}

TEST(NpyValues, KeepTheSignOfZero) {
  const Matrix<double> matrix =
      parse(npy(header("'<f2'", "False", "(1, 2)"), encode<std::uint16_t>({0x0000, 0x8000})));
  EXPECT_FALSE(std::signbit(matrix(0, 0)));
  EXPECT_TRUE(std::signbit(matrix(0, 1)));
}

// The double nearest to 2^53 + 1 is 2^53 (ties to even); to 2^64 − 1 it is 2^64.
TEST(NpyValues, OfLongIntegersGoToTheNearestDouble) {
  const auto long_ones =
      encode<std::int64_t>({(std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53) - 3});
  EXPECT_EQ(elements(parse(npy(header("'<i8'", "False", "(2, 1)"), long_ones))),
            (std::vector<double>{0x1p53, -0x1p53 - 4}));
  const auto largest = encode<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(parse(npy(header("'<u8'", "False", "(1, 1)"), largest))(0, 0), 0x1p64);
}

TEST(NpyValues, DoNotDependOnAlignment) {
  const std::string file = npy(header("'<f8'", "False", "(2, 3)"), kSixNumbers);
  for (std::size_t offset = 0; offset < 8; ++offset) {
    const std::string shifted = std::string(offset, '.') + file;
    EXPECT_EQ(elements(parse(std::string_view(shifted).substr(offset))),
              (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(NpyHeader, MayBeSpelledInAnyWayPythonWould) {
  for (const char* text : {
           "{'descr':'<f8','fortran_order':False,'shape':(1,1)}",
           "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (1, 1)}",
           "{'shape': (1, 1,), 'fortran_order': True, 'descr': '<f8',}",
           "  {\n'fortran_order' :\tFalse ,\r\n 'descr' : \"<f8\" , 'shape' : ( 1 , 1 , ) , } \n\n",
       })
    EXPECT_EQ(elements(parse(npy(text, kOneNumber))), std::vector<double>{1.5}) << text;
}

TEST(NpyHeader, IsTheSameInEveryVersion) {
  for (char major : {'\1', '\2', '\3'})
    EXPECT_EQ(parse(npy(header_of_shape("(1, 1)"), kOneNumber, major))(0, 0), 1.5);
}

TEST(NpyHeader, MayBeLongerThanVersionOneCanSay) {
  const std::string padded = header_of_shape("(1, 1)") + std::string(70000, ' ') + '\n';
  EXPECT_EQ(parse(npy(padded, kOneNumber, 2))(0, 0), 1.5);
}

// --- random files --------------------------------------------------------------------------------

// A valid file of random type, order, version and shape; bytes below 64 are finite in every type.
std::string random_file() {
  const auto rows = *rc::gen::inRange<std::size_t>(1, 5);
  const auto cols = *rc::gen::inRange<std::size_t>(1, 5);
  const std::string code = *rc::gen::element("f2"s, "f4"s, "f8"s, "i1"s, "i4"s, "u2"s, "u8"s);
  const std::string order = *rc::gen::element("False"s, "True"s);
  const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
  const std::size_t size = rows * cols * static_cast<std::size_t>(code[1] - '0');
  const auto data = *rc::gen::container<std::string>(size, rc::gen::inRange<char>(0, 64));
  return npy(header("'<" + code + "'", order, shape), data, *rc::gen::element<char>(1, 2, 3));
}

// One wound: a byte overwritten, a piece cut out, a piece of header put in, or the end lost.
void damage(std::string& file) {
  const auto at = *rc::gen::inRange<std::size_t>(0, file.size() + 1);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      if (at < file.size()) file[at] = *rc::gen::arbitrary<char>();
      break;
    case 1:
      file.erase(at, *rc::gen::inRange<std::size_t>(1, 8));
      break;
    case 2:
      file.insert(at, *rc::gen::element("'"s, "{"s, "}"s, "("s, ")"s, ","s, ":"s, "9999999999"s,
                                        "'shape': "s, "<f8"s, "|O"s, "True"s, "\0"s));
      break;
    default:
      file.resize(at);
  }
}

bool is_matrix_of_finite_numbers(const Matrix<double>& matrix) {
  const auto values = elements(matrix);
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

RC_GTEST_PROP(NpyDamage, LeavesAValidFileReadable, ()) {
  RC_ASSERT(is_matrix_of_finite_numbers(parse(random_file())));
}

// Property (4). Anything thrown that is not an Error fails the property.
RC_GTEST_PROP(NpyDamage, GivesAMatrixOrAnErrorOfOneLine, ()) {
  std::string file = random_file();
  const int wounds = *rc::gen::inRange(1, 6);
  for (int k = 0; k < wounds; ++k) damage(file);
  try {
    RC_ASSERT(is_matrix_of_finite_numbers(parse(file)));
  } catch (const Error& error) {
    RC_ASSERT(error.code() == Code::malformed_file);
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

TEST(NpyDamage, IsNoticedWhereverAFileIsCutShort) {
  const std::string file = npy(header_of_shape("(2, 3)"), kSixNumbers);
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_THROW((void)parse(std::string_view(file).substr(0, size)), Error) << size;
}

// --- files on disk -------------------------------------------------------------------------------

void expect_unreadable(const fs::path& path, std::string_view found) {
  const Outcome refused = outcome([&] { (void)read_npy_matrix(path); });
  EXPECT_EQ(refused.code, Code::unreadable_file);
  expect_names(refused, path.string(), "file", found, "a readable .npy file");
}

TEST(NpyFile, IsReadWhole) {
  const test::ScratchFolder directory;
  test::write_bytes(directory / "q.npy", npy(header_of_shape("(2, 3)"), kSixNumbers));
  EXPECT_EQ(elements(read_npy_matrix(directory / "q.npy")),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(NpyFile, IsNamedWhenItsContentIsWrong) {
  const test::ScratchFolder directory;
  const auto refusal_of = [&](std::string_view content) {
    test::write_bytes(directory / "q.npy", std::string(content));
    return outcome([&] { (void)read_npy_matrix(directory / "q.npy"); });
  };
  const std::string file = (directory / "q.npy").string();
  const Outcome refused = refusal_of("NUM"), empty = refusal_of("");
  EXPECT_EQ(refused.code, Code::malformed_file);
  expect_names(refused, file, "magic", "'NUM'", "NUMPY");
  EXPECT_EQ(empty.code, Code::malformed_file);
  EXPECT_EQ(empty.message, file + ": is empty, allowed: '\\x93NUMPY'");
}

TEST(NpyFile, IsNamedWhenItIsNotThere) {
  const test::ScratchFolder directory;
  const Outcome refused = outcome([&] { (void)read_npy_matrix(directory / "absent.npy"); });
  EXPECT_EQ(refused.code, Code::unreadable_file);
  EXPECT_EQ(refused.message,
            (directory / "absent.npy").string() + ": no such file, allowed: a readable .npy file");
}

TEST(NpyFile, IsNotADirectoryOrADevice) {
  const test::ScratchFolder directory;
  expect_unreadable(directory / ".", "a directory");
  expect_unreadable("/dev/null", "not a regular file");
}

// Root may read everything: become nobody for a while.
class OrdinaryUser {
 public:
  OrdinaryUser() { change(65534); }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() { change(0); }

 private:
  static void change(uid_t user) {
    if (getuid() != 0) return;
    EXPECT_EQ(seteuid(user), 0);
  }
};

TEST(NpyFile, IsNamedWhenItMayNotBeRead) {
  const test::ScratchFolder directory;
  test::write_bytes(directory / "q.npy", npy(header_of_shape("(2, 3)"), kSixNumbers));
  fs::permissions(directory / "q.npy", fs::perms::none);
  const OrdinaryUser nobody;
  expect_unreadable(directory / "q.npy", "Permission denied");
}

// Written by NumPy 1.24 and committed, so these run without Python too. Values g = −2..3 row by
// row.
TEST(NpyCorpus, HoldsWhatNumPyWrote) {
  const fs::path corpus = DEWPOINT_NPY_CORPUS;
  EXPECT_EQ(elements(read_npy_matrix(corpus / "f4_c_v1.npy")),
            (std::vector<double>{-0.5, -0.25, 0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(elements(read_npy_matrix(corpus / "f2_fortran_v1.npy")),
            (std::vector<double>{1, -2, 65504, 0x1p-24, 0x1p-14, -0.0}));
  EXPECT_EQ(elements(read_npy_matrix(corpus / "f8_big_endian_fortran_v2.npy")),
            (std::vector<double>{-2 / 3., -1 / 3., 0, 1 / 3., 2 / 3., 1}));
  EXPECT_EQ(elements(read_npy_matrix(corpus / "i8_v3.npy")),
            (std::vector<double>{-0x2p40, -0x1p40, 0, 0x1p40, 0x2p40, 0x3p40}));
  EXPECT_EQ(elements(read_npy_matrix(corpus / "u1_v1.npy")),
            (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

// --- files written by NumPy now ------------------------------------------------------------------

class NpyFromNumPy : public test::NumPyFiles {
 protected:
  // Runs `body` with save(name, array, version).
  void run(const std::string& body) const {
    NumPyFiles::run(
        "def save(name, array, version=(1, 0)):\n"
        "    with open(name, 'wb') as file:\n"
        "        np.lib.format.write_array(file, array, version=version)\n" +
        body);
  }
  [[nodiscard]] Matrix<double> read(const std::string& name) const {
    return read_npy_matrix(folder_ / name);
  }
};

// Property (1): element (i, j) of a 3 x 4 array is 4 i + j + 1.
TEST_F(NpyFromNumPy, EveryTypeOrderAndVersionIsRead) {
  run(R"(
grid = np.arange(1, 13).reshape(3, 4)
for kind in ['f2', 'f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8']:
    for order in '<>':
        for layout in 'CF':
            for version in [1, 2, 3]:
                array = np.array(grid, dtype=order + kind, order=layout)
                endian = {'<': 'little', '>': 'big'}[order]
                save(f'{kind}-{endian}-{layout}-{version}.npy', array, (version, 0))
)");
  const std::vector<double> expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const char* kind : {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
    for (const char* endian : {"little", "big"})
      for (const char* layout : {"C", "F"})
        for (const char* version : {"1", "2", "3"}) {
          const std::string name = kind + "-"s + endian + "-" + layout + "-" + version + ".npy";
          const Matrix<double> matrix = read(name);
          EXPECT_EQ(matrix.rows(), 3u) << name;
          EXPECT_EQ(elements(matrix), expected) << name;
        }
}

// 63488 = 2 x 31 x 1024 patterns: all but those whose exponent says infinite or NaN.
TEST_F(NpyFromNumPy, EveryFiniteHalfIsTheSameDouble) {
  run(R"(
halves = np.arange(65536, dtype=np.uint16).view(np.float16)
halves = halves[np.isfinite(halves)].reshape(-1, 1024)
save('half.npy', halves)
save('double.npy', halves.astype(np.float64))
)");
  const std::vector<double> halves = elements(read("half.npy"));
  EXPECT_EQ(halves.size(), 63488u);
  EXPECT_EQ(halves, elements(read("double.npy")));
}

TEST_F(NpyFromNumPy, LongIntegersAreRoundedAsNumPyRounds) {
  run(R"(
steps = np.arange(-50, 50).reshape(10, 10)
signed = 2**53 + steps
unsigned = (2**63 + 40 * steps.astype(object)).astype('u8')
for name, array in [('signed', signed), ('unsigned', unsigned)]:
    save(f'{name}.npy', array)
    save(f'{name}-double.npy', array.astype(np.float64))
)");
  EXPECT_EQ(elements(read("signed.npy")), elements(read("signed-double.npy")));
  EXPECT_EQ(elements(read("unsigned.npy")), elements(read("unsigned-double.npy")));
}

TEST_F(NpyFromNumPy, ArraysOfOtherThingsAreRefused) {
  run(R"(
save('object.npy', np.array([[None, 1]], dtype=object))
save('bool.npy', np.ones((1, 1), dtype=bool))
save('complex.npy', np.ones((1, 1), dtype=complex))
save('string.npy', np.array([['a']]))
save('record.npy', np.zeros((1, 1), dtype=[('x', 'f8'), ('é', 'i4')]), (3, 0))
save('time.npy', np.zeros((1, 1), dtype='M8[s]'))
save('vector.npy', np.ones(3))
save('scalar.npy', np.array(1.0))
save('tensor.npy', np.ones((2, 3, 4)))
save('empty.npy', np.ones((0, 4)))
save('nan.npy', np.array([[0, 1], [2, np.nan]]))
np.savez('archive.npz', np.ones((1, 1)))
)");
  const auto expect = [&](const char* name, const char* field, const char* found) {
    const Outcome refused = outcome([&] { (void)read(name); });
    EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
    expect_names(refused, (folder_ / name).string(), field, found, "");
  };
  expect("object.npy", "descr", "'|O' (Python objects");
  expect("bool.npy", "descr", "'|b1' (booleans)");
  expect("complex.npy", "descr", "'<c16' (complex numbers)");
  expect("string.npy", "descr", "'<U1' (strings)");
  expect("record.npy", "descr", "(a structured type)");
  expect("time.npy", "descr", "'<M8[s]' (times)");
  expect("vector.npy", "shape", "(3,)");
  expect("scalar.npy", "shape", "()");
  expect("tensor.npy", "shape", "(2, 3, 4)");
  expect("empty.npy", "shape", "(0, 4)");
  expect("nan.npy", "data", "nan in row 1, column 1");
  expect("archive.npz", "magic", "a ZIP archive");
}

}  // namespace
}  // namespace dewpoint::checkpoint
