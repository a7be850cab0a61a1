// What is a table's own: the smallest ones, columns that stay columns, and the words of whoever
// asks. Everything that a table shares with scores is tested in score_file_test.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/number_table.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using namespace std::string_literals;
using test::outcome;
using test::Outcome;
using Rows = std::vector<std::vector<double>>;

NumberTable parse(std::string_view text, const TableWords& words = {}) {
  return parse_number_table(std::as_bytes(std::span(text)), "t.txt", words);
}

Rows rows(const NumberTable& table) {
  Rows result;
  for (std::size_t i = 0; i < table.numbers.rows(); ++i) {
    result.emplace_back(table.numbers.row(i).begin(), table.numbers.row(i).end());
  }
  return result;
}

// Property (1) of parse_number_table: a row per line, also where each line has one number.
TEST(NumberTable, HasARowPerLine) {
  EXPECT_EQ(rows(parse("7")), (Rows{{7}}));
  EXPECT_EQ(rows(parse("1\n2\n")), (Rows{{1}, {2}}));
  EXPECT_EQ(rows(parse("1 2")), (Rows{{1, 2}}));
  EXPECT_EQ(rows(parse("# a\n1,2\n\n3\t4 # b\r\n")), (Rows{{1, 2}, {3, 4}}));
}

TEST(NumberTable, KnowsWhetherItWasText) {
  const std::string header = "{'descr': '<u1', 'fortran_order': False, 'shape': (2, 1), }\n";
  const std::string array =
      "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header + "\x05\x06";
  EXPECT_TRUE(parse("5\n6").is_text);
  EXPECT_FALSE(parse(array).is_text);
  EXPECT_EQ(rows(parse(array)), rows(parse("5\n6")));
}

TEST(NumberTable, SpeaksOfItsNumbersAsItsUserDoes) {
  const auto message = [](const TableWords& words) {
    const Outcome refused = outcome([&] { (void)parse("", words); });
    EXPECT_EQ(refused.code, Code::malformed_file);
    return refused.message;
  };
  EXPECT_EQ(message({}), "t.txt: file: found no numbers, allowed: one line of numbers per row");
  EXPECT_EQ(message({.numbers = "probabilities", .row = "token"}),
            "t.txt: file: found no numbers, allowed: one line of probabilities per token");
  const test::ScratchFolder folder;
  const Outcome absent = outcome(
      [&] { (void)read_number_table(folder / "t", {.numbers = "probabilities", .row = "token"}); });
  EXPECT_EQ(absent.code, Code::unreadable_file);
  EXPECT_EQ(absent.message,
            (folder / "t").string() + ": no such file, allowed: a readable file of probabilities");
}

TEST(NumberTable, IsRectangular) {
  const Outcome refused = outcome([] { (void)parse("1\n2 3\n"); });
  EXPECT_EQ(refused.code, Code::malformed_file);
  EXPECT_EQ(refused.message, "t.txt: line 2: found 2 numbers, allowed: 1 number, as in line 1");
}

}  // namespace
}  // namespace dewpoint::checkpoint
