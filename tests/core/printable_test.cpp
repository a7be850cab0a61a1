#include "dewpoint/core/printable.hpp"

#include <gtest/gtest.h>

namespace dewpoint {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "phase map", "β_dew ± 0.1, n → ∞", "日本語", "😀", "a\\x1b"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_page(text), text);
  }
}

TEST(Printable, ShowsWhatATerminalWouldDo) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("a\nb\tc\rd\x7f"), "a\\x0ab\\x09c\\x0dd\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J");  // CSI as one character
  EXPECT_EQ(printable("\u202etxt.exe\u2066\u2028"), "\\u202etxt.exe\\u2066\\u2028");
}

// A terminal that reads Latin-1 takes 0x9b for CSI.
TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(printable("\xce"), "\\xce");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");
}

TEST(Printable, PagesKeepLinesAndColours) {
  EXPECT_EQ(printable_page("a\n\t\x1b[1;31mb\x1b[0m\n"), "a\n\t\x1b[1;31mb\x1b[0m\n");
  EXPECT_EQ(printable_page("\x1b[2J\x1b]0;title\x07\x1b[1;3"),
            "\\x1b[2J\\x1b]0;title\\x07\\x1b[1;3");
}

}  // namespace
}  // namespace dewpoint
