#include "dewpoint/report/gnuplot.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"
#include "report/without_gnuplot.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::report {
namespace {

using test::read_bytes;
using test::ScratchFolder;

TEST(QuotedText, StaysOneGnuplotStringOnOneLine) {
  EXPECT_EQ(quoted_text("λ = 1"), "'λ = 1'");
  EXPECT_EQ(quoted_text("it's"), R"('it' . "'" . 's')");
  EXPECT_EQ(quoted_text("a\nb\tc\\"), "'a b c\\'");
  EXPECT_EQ(quoted_text(std::string_view("\0\x7f", 2)), "'  '");
  EXPECT_EQ(quoted_text("]]>]>"), "']] >]>'");
  EXPECT_EQ(quoted_text(""), "''");
}

TEST(QuotedText, ReplacesWhatIsNotUnicode) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(quoted_text("a\xff"), "'a" + replacement + "'");
  EXPECT_EQ(quoted_text("\xce"), "'" + replacement + "'");                    // cut short
  EXPECT_EQ(quoted_text("\xc0\xaf"), "'" + replacement + replacement + "'");  // overlong
  EXPECT_EQ(quoted_text("\xed\xa0\x80").substr(1, 3), replacement);           // surrogate
  EXPECT_EQ(quoted_text("\xef\xbf\xbf").substr(1, 3), replacement);           // U+FFFF
  EXPECT_EQ(quoted_text("\xf4\x90\x80\x80").substr(1, 3), replacement);       // above U+10FFFF
  EXPECT_EQ(quoted_text("露点 𝜆 é"), "'露点 𝜆 é'");
}

TEST(QuotedPath, IsAbsoluteSoThatItIsNoPipe) {
  EXPECT_EQ(quoted_path("|touch x").substr(0, 2), "'/");
  EXPECT_EQ(quoted_path("/tmp/it's"), R"('/tmp/it' . "'" . 's')");
  EXPECT_THROW(static_cast<void>(quoted_path("/tmp/a\nb")), Error);
}

TEST(RunGnuplot, RunsAScriptAndReturnsWhatWasWrongWithIt) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  EXPECT_EQ(run_gnuplot("set encoding utf8\n"), "");
  EXPECT_EQ(run_gnuplot("plot foo(\n"), "gnuplot says: line 0: invalid expression");
  EXPECT_EQ(run_gnuplot("exit status 3\n"), "gnuplot failed without a message");
}

TEST(RunGnuplot, KeepsEveryTextAsItIs) {
  DEWPOINT_SKIP_WITHOUT_GNUPLOT();
  const ScratchFolder folder;
  for (const std::string text : {"it's", "say \"hi\"", "`touch owned`", "@macro", "$0 %g #",
                                 "a\\nb\\", "_{x}^2", "'; exit", "''", "'", "a''b'"}) {
    const std::string script = "macro = 'expanded'\nset print " + quoted_path(folder / "out") +
                               "\nprint " + quoted_text(text) + "\n";
    EXPECT_EQ(run_gnuplot(script), "");
    EXPECT_EQ(read_bytes(folder / "out"), text + "\n");
  }
  EXPECT_FALSE(std::filesystem::exists("owned"));
}

TEST(RunGnuplot, SaysWhatToInstallWhenThereIsNone) {
  const test::EmptyPath nothing_installed;
  try {
    static_cast<void>(run_gnuplot(""));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::missing_tool);
    EXPECT_STREQ(error.what(),
                 "gnuplot is not installed or not on PATH, install package gnuplot-nox");
  }
}

}  // namespace
}  // namespace dewpoint::report
