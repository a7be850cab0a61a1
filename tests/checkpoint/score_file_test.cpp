// The reader of scores against texts and arrays built by hand, against random damage, and against
// what NumPy writes.
//
// Every value compared with == is exact: a file either holds a number or it does not.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/score_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <locale>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"
#include "support/matrices.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::outcome;
using test::Outcome;
using Rows = std::vector<std::vector<double>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Matrix<double> parse(std::string_view text, std::string_view name = "s.txt") {
  return parse_scores(std::as_bytes(std::span(text)), name);
}

Rows rows(const Matrix<double>& matrix) {
  Rows result;
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    result.emplace_back(matrix.row(i).begin(), matrix.row(i).end());
  }
  return result;
}

const Rows kOneQuery{{1, 2, 3}};
const Rows kTwoQueries{{1, 2, 3}, {4, 5, 6}};

// --- refusals ------------------------------------------------------------------------------------

void expect_refused(std::string_view text, const std::string& message) {
  const Outcome refused = outcome([&] { (void)parse(text); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_EQ(refused.message, "s.txt: " + message);
}

void expect_number_refused(std::string_view text, const std::string& place,
                           const std::string& found) {
  expect_refused(
      text, place + ": found " + found + ", allowed: finite decimal numbers such as -1.5 or 1e3");
}

TEST(ScoreTextRefusal, QuotesWhatIsNotANumberWithLineAndPlace) {
  for (const char* word : {"x", "1.5f", "0x1p3", "1e", "1e+", "--1", "++1", "+-1", "-+1", "1_000",
                           "1.2.3", "-", "+", ".", "1;2", "\"1\"", "None", "1/2"}) {
    expect_number_refused("1 2 3\n4 "s + word + " 6\n", "line 2, number 2", "'"s + word + "'");
  }
}

// Property (2) of parse_scores.
TEST(ScoreTextRefusal, QuotesNansAndInfinities) {
  for (const char* word : {"nan", "NaN", "-nan", "+nan", "nan(7)", "inf", "-Inf", "+infinity"}) {
    expect_number_refused("# head 0\n\n1 2 "s + word, "line 3, number 3", "'"s + word + "'");
  }
}

TEST(ScoreTextRefusal, SaysThatANumberIsNoDouble) {
  for (const char* word : {"1e400", "-1e400", "+1e309", "1e-400"}) {
    expect_number_refused("1 2 "s + word, "line 1, number 3",
                          "'"s + word + "', which no double can hold");
  }
}

TEST(ScoreTextRefusal, NamesAMissingNumber) {
  expect_number_refused(",1,2,3", "line 1, number 1", "nothing beside a comma");
  expect_number_refused("1,2,3\n4,,6", "line 2, number 2", "nothing beside a comma");
  expect_number_refused("1, , 3", "line 1, number 2", "nothing beside a comma");
  expect_number_refused("1,2,3,\n", "line 1, number 4", "nothing beside a comma");
  expect_number_refused("1,2,3,", "line 1, number 4", "nothing beside a comma");
  expect_number_refused("1,2,3, # three", "line 1, number 4", "nothing beside a comma");
}

TEST(ScoreTextRefusal, NamesALineOfAnotherLength) {
  expect_refused("# two\n1 2 3\n\n4 5\n",
                 "line 4: found 2 numbers, allowed: 3 numbers, as in line 2");
  expect_refused("1 2 3\n4 5 6 7", "line 2: found 4 numbers, allowed: 3 numbers, as in line 1");
  expect_refused("1 2 3\n4\n", "line 2: found 1 number, allowed: 3 numbers, as in line 1");
  expect_refused("1\n2\n3 4\n", "line 3: found 2 numbers, allowed: 1 number, as in line 1");
}

TEST(ScoreTextRefusal, SaysThatThereAreNoNumbers) {
  for (const char* text : {"", "\n", "  \t\r\n\n", "# only\n#words", "\xef\xbb\xbf", "\r"}) {
    expect_refused(text, "file: found no numbers, allowed: one line of scores per query");
  }
}

TEST(ScoreTextRefusal, NamesTooFewKeys) {
  expect_refused("7", "keys: found 1 per query, allowed: at least 3 keys");
  expect_refused("1\n2\n", "keys: found 2 per query, allowed: at least 3 keys");
  expect_refused("1 2\n3 4\n5 6\n", "keys: found 2 per query, allowed: at least 3 keys");
}

TEST(ScoreTextRefusal, EscapesWhatCannotBePrinted) {
  expect_number_refused("\x7f"s + "ELF\x02\x01\x01\0\0"s, "line 1, number 1",
                        "'\\x7fELF\\x02\\x01\\x01\\x00\\x00'");
  expect_number_refused("\xff\xfe\x31\0\x20\0"s, "line 1, number 1", "'\\xff\\xfe1\\x00'");
  expect_number_refused("1 2 \xe2\x88\x92\x33", "line 1, number 3", "'\\xe2\\x88\\x923'");
  expect_number_refused("1\v2\f3", "line 1, number 1", "'1\\x0b2\\x0c3'");
  expect_number_refused("PK\x03\x04", "line 1, number 1", "'PK\\x03\\x04'");
}

TEST(ScoreTextRefusal, NamesACarriageReturnInsideALine) {
  for (const char* text : {"1 2 3\r4 5 6\r", "1 2 3 \r\r\n"}) {
    expect_refused(
        text, "line 1: found a carriage return inside, allowed: lines that end with \\n or \\r\\n");
  }
}

TEST(ScoreTextRefusal, KeepsLongForeignTextShort) {
  const std::string word(1'000'000, '7');
  expect_number_refused("1 2\t" + word, "line 1, number 3",
                        "'" + std::string(48, '7') + "...', more than 2048 characters");
}

TEST(ScoreTextRefusal, StaysOnOneLineWhateverTheNameOfTheFile) {
  const Outcome refused = outcome([] { (void)parse("x", "été\n2.txt"); });
  EXPECT_EQ(refused.message.find("été\\x0a2.txt: line 1, number 1: found 'x'"), 0U);
}

// --- texts ---------------------------------------------------------------------------------------

// Property (1) of parse_scores.
TEST(ScoreText, HasOneQueryPerLineHoweverItIsLaidOut) {
  for (const char* text : {"1 2 3\n4 5 6\n", "1 2 3\n4 5 6", "1,2,3\n4,5,6\n", "1\t2\t3\n4\t5\t6\n",
                           "1 2 3\r\n4 5 6\r\n", "1 2 3\r\n4 5 6\r", " 1 ,\t2, 3 \n\n\n4,5 6\n\n",
                           "# head\n1 2 3 # first\n   # between\n4 5 6#last",
                           "\xef\xbb\xbf"
                           "1 2 3\n4 5 6\n",
                           "1 2 3#\r4 5\n4 5 6"}) {
    EXPECT_EQ(rows(parse(text)), kTwoQueries) << text;
  }
}

TEST(ScoreText, WithOneNumberOnEveryLineIsOneQuery) {
  for (const char* text : {"1\n2\n3\n", "1\n2\n3", "# a\n1\n\n2 # b\n 3 \r\n"}) {
    EXPECT_EQ(rows(parse(text)), kOneQuery) << text;
  }
  EXPECT_EQ(rows(parse("1 2 3")), kOneQuery);
}

TEST(ScoreText, SpellsNumbersAsProgramsDo) {
  const std::vector<std::pair<const char*, double>> words{
      {"1", 1},
      {"-1", -1},
      {"+1.5", 1.5},
      {"1e3", 1000},
      {"1E-3", 1e-3},
      {".5", 0.5},
      {"5.", 5},
      {"-0", -0.0},
      {"+.25e+1", 2.5},
      {"007", 7},
      {"4.9e-324", 0x1p-1074},
      {"0.1", 0.1},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()}};
  for (const auto& [word, value] : words) {
    const double read = parse("1 2 "s + word)(0, 2);
    EXPECT_EQ(read, value) << word;
    EXPECT_EQ(std::signbit(read), std::signbit(value)) << word;
  }
}

// The longest exact decimal of a double: 2^-1074 odd multiples have about 1077 characters.
TEST(ScoreText, HoldsAnyDoubleWrittenInFull) {
  const double least = std::numeric_limits<double>::denorm_min();
  const double odd = std::nextafter(std::numeric_limits<double>::min(), 0.0);
  const std::string text = fmt::format("{:.1074f} -{:.1074f} 0", least, odd);
  EXPECT_EQ(rows(parse(text)), (Rows{{least, -odd, 0.0}}));
}

class DecimalComma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(ScoreText, DoesNotDependOnTheLocale) {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
  EXPECT_EQ(rows(parse("1.5 2,5 -3.25")), (Rows{{1.5, 2, 5, -3.25}}));
  std::locale::global(before);
}

RC_GTEST_PROP(ScoreText, GivesBackTheDoublesThatWereWritten, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(3, 8);
  const auto lines = *rc::gen::inRange<std::size_t>(1, 5);
  const std::string separator = *rc::gen::element(" "s, "\t"s, ","s, " , "s, "   "s);
  const std::string ending = *rc::gen::element("\n"s, "\r\n"s, "\n# c\n"s, " # c\r\n\r\n"s);
  Rows expected;
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    expected.push_back(
        *rc::gen::container<std::vector<double>>(count, rc::gen::arbitrary<double>()));
    text += fmt::format("{}{}", fmt::join(expected.back(), separator), ending);
  }
  RC_ASSERT(rows(parse(text)) == expected);
}

// Property (3) of parse_scores. Anything thrown that is not an Error fails the property.
RC_GTEST_PROP(ScoreText, IsAMatrixOrAnErrorOfOneLine, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element(
      "1"s, "-2.5e3"s, "nan"s, " "s, ","s, "\t"s, "\n"s, "\r\n"s, "\r"s, "#"s, "\0"s, "\xff"s, "e"s,
      "\xef\xbb\xbf"s, "1 2 3\n"s, "4,5,6\n"s, "\x93NUMPY"s));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  try {
    const Matrix<double> scores = parse(text);
    RC_ASSERT(scores.rows() >= 1U && scores.cols() >= kFewestKeys);
    RC_ASSERT(std::all_of(scores.data(), scores.data() + scores.size(),
                          [](double v) { return std::isfinite(v); }));
  } catch (const Error& error) {
    RC_ASSERT(error.code() == Code::malformed_file);
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

// --- arrays --------------------------------------------------------------------------------------

std::string npy(std::string_view shape, const std::vector<double>& values) {
  const std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}\n", shape);
  std::string file = "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header;
  return file.append(reinterpret_cast<const char*>(values.data()), 8 * values.size());
}

TEST(ScoreArray, IsKnownByItsContentWhateverItsName) {
  for (const char* name : {"s.npy", "s.txt", "scores"}) {
    EXPECT_EQ(rows(parse(npy("(2, 3)", {1, 2, 3, 4, 5, 6}), name)), kTwoQueries);
    EXPECT_EQ(rows(parse(npy("(3,)", {1, 2, 3}), name)), kOneQuery);
  }
}

TEST(ScoreArray, NamesRowAndColumnOfANumberThatIsNotFinite) {
  expect_refused(npy("(2, 3)", {1, 2, 3, 4, 5, kNan}),
                 "data: found nan in row 1, column 2 (counted from 0), allowed: finite numbers");
  expect_refused(npy("(3,)", {1, -kInfinity, 3}),
                 "data: found -inf in row 0, column 1 (counted from 0), allowed: finite numbers");
}

TEST(ScoreArray, NamesAShapeThatIsNotOneOfScores) {
  const std::string allowed = "(queries, keys) or (keys,) with at least 3 keys";
  expect_refused(npy("(3, 2)", {1, 2, 3, 4, 5, 6}), "shape: found (3, 2), allowed: " + allowed);
  expect_refused(npy("(2,)", {1, 2}), "shape: found (1, 2), allowed: " + allowed);
  for (const char* shape : {"()", "(0,)", "(0, 3)", "(1, 1, 3)"}) {
    expect_refused(npy(shape, {1, 2, 3}), "shape: found "s + shape +
                                              ", allowed: (rows, columns) or (columns,), with at "
                                              "least one of each");
  }
}

TEST(ScoreArray, IsExpectedOfAFileThatIsCalledSo) {
  const Outcome refused = outcome([] { (void)parse("1 2 3\n", "s.npy"); });
  EXPECT_EQ(refused.code, Code::malformed_file);
  EXPECT_EQ(refused.message.find("s.npy: magic: found '1 2 3"), 0U) << refused.message;
}

// --- files on disk -------------------------------------------------------------------------------

TEST(ScoreFile, IsReadAsTextOrArray) {
  const test::ScratchFolder folder;
  test::write_bytes(folder / "s.txt",
                    "\xef\xbb\xbf"
                    "1 2 3\r\n4 5 6");
  test::write_bytes(folder / "s.npy", npy("(2, 3)", {1, 2, 3, 4, 5, 6}));
  test::write_bytes(folder / "array", npy("(3,)", {1, 2, 3}));
  EXPECT_EQ(rows(read_scores(folder / "s.txt")), kTwoQueries);
  EXPECT_EQ(rows(read_scores(folder / "s.npy")), kTwoQueries);
  EXPECT_EQ(rows(read_scores(folder / "array")), kOneQuery);
}

TEST(ScoreFile, IsNamedWhenItCannotBeRead) {
  const test::ScratchFolder folder;
  const auto expect = [](const fs::path& path, const std::string& found) {
    const Outcome refused = outcome([&] { (void)read_scores(path); });
    EXPECT_EQ(refused.code, Code::unreadable_file) << refused.message;
    EXPECT_EQ(refused.message,
              path.string() + ": " + found + ", allowed: a readable file of scores");
  };
  expect(folder / "absent.txt", "no such file");
  expect(folder / ".", "file: found a directory");
  expect("/dev/null", "file: found something that is not a regular file");
}

TEST(ScoreFile, IsNamedWhenItsContentIsWrong) {
  const test::ScratchFolder folder;
  const auto expect = [&](const std::string& name, const std::string& content,
                          const std::string& message) {
    test::write_bytes(folder / name, content);
    const Outcome refused = outcome([&] { (void)read_scores(folder / name); });
    EXPECT_EQ(refused.code, Code::malformed_file);
    EXPECT_EQ(refused.message.find((folder / name).string() + ": " + message), 0U)
        << refused.message;
  };
  expect("s.txt", "1 2 3\n4 inf 6", "line 2, number 2: found 'inf'");
  expect("empty.txt", "", "is empty");
  expect("mark.txt", "\xef\xbb\xbf", "file: found no numbers");
  expect("empty.npy", "", "is empty");
  expect("s.npy", npy("(3,)", {1, kNan, 3}), "data: found nan in row 0, column 1");
}

// Property (1) of read_scores: a comment of growing length moves every byte of what follows over
// the end of the first piece.
TEST(ScoreFile, DoesNotDependOnWhereAPieceEnds) {
  const test::ScratchFolder folder;
  const std::string end = "\r\n-1.25e+1, +2\t3 # c\r\n \r\n4 5 , 6\r\n";
  for (std::size_t cut = 0; cut <= end.size(); ++cut) {
    test::write_bytes(folder / "s.txt", "#" + std::string(kScoreFilePiece - 1 - cut, ' ') + end);
    EXPECT_EQ(rows(read_scores(folder / "s.txt")), (Rows{{-12.5, 2, 3}, {4, 5, 6}})) << cut;
  }
}

#ifndef __SANITIZE_ADDRESS__
std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// Property (2) of read_scores, on one line of 8 MB. Beyond twice the matrix we grant 1/64 for the
// blocks of the list (one pointer and one header of 16 bytes per 512), rounded up to 1/16, and 4
// MiB for the piece and the allocators.
TEST(ScoreFile, OfOneLongLineTakesTwiceTheMemoryOfItsMatrix) {
  const test::ScratchFolder folder;
  constexpr std::size_t keys = 4'000'000;
  {
    std::ofstream file(folder / "s.txt", std::ios::binary);
    for (std::size_t j = 0; j < keys; ++j) file << (j % 10) << ' ';
  }
  const std::size_t before = peak_memory();
  const Matrix<double> scores = read_scores(folder / "s.txt");
  const std::size_t grown = peak_memory() - before;
  EXPECT_EQ(scores.cols(), keys);
  EXPECT_EQ(scores(0, keys - 1), (keys - 1) % 10);
  EXPECT_LT(static_cast<double>(grown), 8.0 * keys * (2.0 + 1.0 / 16.0) + 0x1p22);
}
#endif

// --- queries and keys ----------------------------------------------------------------------------

class QueriesAndKeys : public testing::Test {
 protected:
  void write(const std::string& name, const Matrix<double>& matrix) const {
    test::write_bytes(folder_ / name, npy(fmt::format("({}, {})", matrix.rows(), matrix.cols()),
                                          {matrix.data(), matrix.data() + matrix.size()}));
  }
  [[nodiscard]] Matrix<double> read(double scale, std::uint64_t most = kMostScoreBytes) const {
    return read_query_key_scores(folder_ / "q.npy", folder_ / "k.npy", scale, most);
  }
  void expect_refused(double scale, Code code, const std::string& message) const {
    const Outcome refused = outcome([&] { (void)read(scale); });
    EXPECT_EQ(refused.code, code) << refused.message;
    EXPECT_EQ(refused.message, message);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  test::ScratchFolder folder_;
};

// Property (1) of read_query_key_scores; a long double has 11 bits more than needed.
TEST_F(QueriesAndKeys, GiveScaledInnerProducts) {
  constexpr std::size_t d = 37;
  const Matrix<double> q = test::normal_matrix(5, d, "scores/q");
  const Matrix<double> k = test::normal_matrix(11, d, "scores/k");
  write("q.npy", q);
  write("k.npy", k);
  const double scale = 1.0 / std::sqrt(static_cast<double>(d));
  const Matrix<double> scores = read(scale);
  ASSERT_EQ(scores.rows(), 5U);
  ASSERT_EQ(scores.cols(), 11U);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 11; ++j) {
      long double exact = 0.0L, size = 0.0L;
      for (std::size_t a = 0; a < d; ++a) {
        const long double product = static_cast<long double>(q(i, a)) * k(j, a);
        exact += product;
        size += std::abs(product);
      }
      EXPECT_NEAR(scores(i, j), static_cast<double>(scale * exact),
                  static_cast<double>(scale * size) * (d + 1) * 0x1p-53);
    }
  }
}

TEST_F(QueriesAndKeys, OfDifferentDimensionsAreRefused) {
  write("q.npy", Matrix<double>(2, 4));
  write("k.npy", Matrix<double>(3, 5));
  expect_refused(1.0, Code::malformed_file,
                 path("k.npy") + ": shape: found (3, 5), allowed: (keys, 4), as the queries have");
}

TEST_F(QueriesAndKeys, NeedThreeKeys) {
  write("q.npy", Matrix<double>(2, 4));
  write("k.npy", Matrix<double>(2, 4));
  expect_refused(1.0, Code::malformed_file,
                 path("k.npy") + ": shape: found (2, 4), allowed: at least 3 keys");
}

TEST_F(QueriesAndKeys, AreNamedWithRowAndColumnWhenNotFinite) {
  Matrix<double> q(2, 4);
  write("k.npy", Matrix<double>(3, 4));
  q(1, 2) = kNan;
  write("q.npy", q);
  expect_refused(1.0, Code::malformed_file,
                 path("q.npy") +
                     ": data: found nan in row 1, column 2 (counted from 0), allowed: finite "
                     "numbers");
}

// Property (2) of read_query_key_scores.
TEST_F(QueriesAndKeys, AreRefusedWhenAScoreOverflows) {
  Matrix<double> q(2, 1), k(3, 1);
  q(1, 0) = 1e200;
  k(2, 0) = -1e200;
  write("q.npy", q);
  write("k.npy", k);
  expect_refused(1.0, Code::malformed_file,
                 path("k.npy") +
                     ": data: found a score of -inf for query 1, key 2 (counted from 0), allowed: "
                     "queries and keys with finite scores");
}

TEST_F(QueriesAndKeys, NeedAPositiveScale) {
  write("q.npy", Matrix<double>(2, 4));
  write("k.npy", Matrix<double>(3, 4));
  for (const double scale : {0.0, -1.0, kNan, kInfinity}) {
    expect_refused(scale, Code::bad_value,
                   fmt::format("scale: {} is not a positive number", scale));
  }
}

// (6 scores + 5 rows of 4 numbers) of 8 bytes are 208 bytes.
TEST_F(QueriesAndKeys, AreRefusedBeforeTheyTakeMoreMemoryThanAllowed) {
  write("q.npy", Matrix<double>(2, 4));
  write("k.npy", Matrix<double>(3, 4));
  EXPECT_EQ(read(1.0, 208).size(), 6U);
  const Outcome refused = outcome([&] { (void)read(1.0, 207); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message,
            "scores: 2 queries and 3 keys of dimension 4 take 1.94e-07 GiB, not at most 1.93e-07 "
            "GiB");
}

TEST_F(QueriesAndKeys, OfTooManyScoresAreRefusedBeforeAnythingIsAllocated) {
  write("q.npy", Matrix<double>(30'000, 1));
  write("k.npy", Matrix<double>(30'000, 1));
  expect_refused(1.0, Code::bad_value,
                 "scores: 30000 queries and 30000 keys of dimension 1 take 6.71 GiB, not at most 4 "
                 "GiB");
}

TEST_F(QueriesAndKeys, MustBothBeThere) {
  write("q.npy", Matrix<double>(2, 4));
  expect_refused(1.0, Code::unreadable_file,
                 path("k.npy") + ": no such file, allowed: a readable .npy file");
}

// --- files written by NumPy now ------------------------------------------------------------------

class ScoresFromNumPy : public test::NumPyFiles {
 protected:
  [[nodiscard]] Rows read(const std::string& name) const {
    return rows(read_scores(folder_ / name));
  }
};

// repr() of a double is read back exactly; so is '%.17g', and '%.18e', which savetxt takes unasked.
TEST_F(ScoresFromNumPy, TextsAreTheArraysTheyWereWrittenFrom) {
  run(R"(
scores = np.random.default_rng(1).standard_normal((4, 5)) * 10.0 ** np.arange(-300, 300, 30).reshape(4, 5)
np.save('scores.npy', scores)
np.savetxt('blanks.txt', scores)
np.savetxt('commas.csv', scores, delimiter=',', fmt='%.17g', header='a head, with commas')
np.savetxt('tabs.tsv', scores, delimiter='\t', newline='\r\n', encoding='utf-8-sig')
with open('repr.txt', 'w') as file:
    for row in scores.tolist():
        print(*row, file=file)
np.save('column.npy', scores[0])
np.savetxt('column.txt', scores[0])
)");
  const Rows expected = read("scores.npy");
  ASSERT_EQ(expected.size(), 4U);
  for (const char* name : {"blanks.txt", "commas.csv", "tabs.tsv", "repr.txt"}) {
    EXPECT_EQ(read(name), expected) << name;
  }
  EXPECT_EQ(read("column.npy"), Rows{expected[0]});
  EXPECT_EQ(read("column.txt"), Rows{expected[0]});
}

TEST_F(ScoresFromNumPy, ArraysOfEveryFloatAreRead) {
  run(R"(
for kind in ['f2', 'f4', 'f8']:
    for order in 'CF':
        grid = np.array([[1, 2, 3], [4, 5, 6]], dtype=kind, order=order)
        np.save(f'{kind}{order}.npy', grid)
    np.save(f'{kind}.npy', np.array([1, 2, 3], dtype=kind))
)");
  for (const char* kind : {"f2", "f4", "f8"}) {
    EXPECT_EQ(read(kind + "C.npy"s), kTwoQueries);
    EXPECT_EQ(read(kind + "F.npy"s), kTwoQueries);
    EXPECT_EQ(read(kind + ".npy"s), kOneQuery);
  }
}

TEST_F(ScoresFromNumPy, NansAreNamedInTextAndArray) {
  run(R"(
scores = np.array([[1, 2, 3], [4, np.nan, -np.inf]])
np.savetxt('scores.txt', scores)
np.save('scores.npy', scores)
)");
  const auto message = [&](const std::string& name) {
    return outcome([&] { (void)read_scores(folder_ / name); }).message;
  };
  EXPECT_NE(message("scores.txt").find("line 2, number 2: found 'nan'"), std::string::npos);
  EXPECT_NE(message("scores.npy").find("nan in row 1, column 1"), std::string::npos);
}

// NumPy's own products, in the same double precision: both err by at most (d + 1) roundings of
// Σ|q k| ≤ d max|q| max|k|.
TEST_F(ScoresFromNumPy, QueriesAndKeysGiveTheSameScores) {
  run(R"(
generator = np.random.default_rng(2)
q, k = generator.uniform(-1, 1, (3, 8)), generator.uniform(-1, 1, (7, 8))
np.save('q.npy', q)
np.save('k.npy', np.asfortranarray(k))
np.save('s.npy', q @ k.T / np.sqrt(8))
)");
  const double scale = 1.0 / std::sqrt(8.0);
  const Matrix<double> ours = read_query_key_scores(folder_ / "q.npy", folder_ / "k.npy", scale);
  EXPECT_LT(test::largest_difference(ours, read_scores(folder_ / "s.npy")),
            2.0 * 9.0 * 0x1p-53 * scale * 8.0);
}

}  // namespace
}  // namespace dewpoint::checkpoint
