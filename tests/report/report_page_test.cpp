#include "dewpoint/report/report_page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "dewpoint/core/error.hpp"
#include "report/svg_text.hpp"

namespace dewpoint::report {
namespace {

using Json = nlohmann::ordered_json;
using test::count;

const std::string kHead = "<!doctype html>\n<html><head><title>Dewpoint</title>\n";
const std::string kScript =
    "<script type=\"module\" crossorigin>document.getElementById(\"dewpoint-data\");</script>\n";
const std::string kOpening = "<script type=\"application/json\" id=\"dewpoint-data\">";
const std::string kFoot = "</body></html>\n";

std::string page_with(const std::string& opening, const std::string& script = kScript) {
  return kHead + script + "</head><body>" + opening + "{}</script>\n" + kFoot;
}

// What a browser takes for the content of the data element of a page of ours.
std::string content_of(const std::string& page, const std::string& opening = kOpening) {
  const std::size_t from = page.find(opening);
  EXPECT_NE(from, std::string::npos);
  const std::size_t begin = from + opening.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

std::string title_of(const std::string& page) {
  const std::size_t begin = page.find("<title>") + 7;
  return page.substr(begin, page.find("</title>") - begin);
}

TEST(ReportPage, PutsDataAndTitleIntoTheirPlacesAndChangesNothingElse) {
  const Json data{{"title", "Two words"}, {"figures", Json::array({1, 2.5})}};
  EXPECT_EQ(report_page(page_with(kOpening), data),
            "<!doctype html>\n<html><head><meta name=\"generator\" content=\"Dewpoint\">"
            "<title>Two words</title>\n" +
                kScript + "</head><body>" + kOpening +
                R"({"title":"Two words","figures":[1,2.5]})" + "</script>\n" + kFoot);
}

// Properties (1) and (2): texts that would end the element, open a comment in which the end of the
// element does not count, or end the string.
TEST(ReportPage, HoldsHostileTextsWithoutHarm) {
  for (const char* text :
       {"</script><script>alert(1)</script>", "</SCRIPT >", "<!--<script>", "-->", "]]>", "\"",
        "\\", "\\u003c", "'", "&lt;", "line\nline\r\t", "\u2028\u2029", "<title>Dewpoint</title>",
        "<script id=\"dewpoint-data\">", "x < y ≤ z"}) {
    const Json data{{"title", "quiet"}, {text, text}, {"deep", Json::array({Json{{"a", text}}})}};
    const std::string page = report_page(page_with(kOpening), data);
    const std::string content = content_of(page);
    EXPECT_EQ(Json::parse(content), data) << text;
    EXPECT_EQ(content.find('<'), std::string::npos) << text;
    EXPECT_EQ(count(page, "<script"), 2U) << text;
    EXPECT_EQ(count(page, "</script"), 2U) << text;
  }
}

TEST(ReportPage, EscapesTheTitle) {
  const Json data{{"title", "</title><script>alert(1)</script> &amp; \"x\""}};
  const std::string page = report_page(page_with(kOpening), data);
  EXPECT_EQ(title_of(page), "&lt;/title>&lt;script>alert(1)&lt;/script> &amp;amp; \"x\"");
  EXPECT_EQ(Json::parse(content_of(page)), data);
}

// A lone continuation byte, a sequence that breaks off, and a byte that is never UTF-8.
TEST(ReportPage, ReplacesBytesThatAreNotUtf8) {
  for (const char* bytes : {"\x80", "\xe2\x82", "\xff"}) {
    const std::string broken = std::string("a") + bytes + "<";
    const Json data{{"title", broken}, {broken, 1}, {"text", broken}};
    const std::string page = report_page(page_with(kOpening), data);
    EXPECT_EQ(title_of(page), "a\ufffd&lt;");
    EXPECT_EQ(Json::parse(content_of(page)),
              (Json{{"title", "a\ufffd<"}, {"a\ufffd<", 1}, {"text", "a\ufffd<"}}));
  }
}

TEST(ReportPage, GivesEveryNumberBackBitForBit) {
  const std::vector<double> numbers{0.1,  1.0 / 3,           -0.0, 5e-324, 1.7976931348623157e308,
                                    1e23, 9007199254740993.0};
  const Json data{{"title", ""}, {"numbers", numbers}};
  const Json back = Json::parse(content_of(report_page(page_with(kOpening), data)));
  const auto read = back.at("numbers").get<std::vector<double>>();
  EXPECT_EQ(read, numbers);
  EXPECT_TRUE(std::signbit(read[2]));
}

TEST(ReportPage, FindsTheElementHoweverItsTagIsWritten) {
  const Json data{{"title", "t"}};
  for (const std::string opening :
       {"<script id=\"dewpoint-data\" type=\"application/json\">", "<script id='dewpoint-data'>",
        "<script id=dewpoint-data>",
        "<script\n  type=\"application/json\"\n  id = \"dewpoint-data\"\n>",
        "<script id=dewpoint-data type=application/json>"}) {
    const std::string page = report_page(page_with(opening), data);
    EXPECT_EQ(content_of(page, opening), R"({"title":"t"})") << opening;
  }
}

// A bundler keeps strings of the source, and may write its script before the data or after them.
TEST(ReportPage, TakesNoTextOfAScriptForTheElement) {
  const Json data{{"title", "t"}};
  const std::string script =
      "<script type=\"module\">const a='<script id=\"dewpoint-data\">{}<\\/script>';</script>";
  for (const std::string& page :
       {page_with(kOpening, script), kHead + kOpening + "{}</script>" + script + kFoot}) {
    const std::string made = report_page(page, data);
    EXPECT_EQ(count(made, script), 1U);
    EXPECT_EQ(content_of(made), R"({"title":"t"})");
  }
}

TEST(ReportPage, RefusesATemplateWithoutItsPlaces) {
  const Json data{{"title", "t"}};
  const std::string good = page_with(kOpening);
  for (const std::string& page :
       {std::string(), kHead + kFoot, page_with("<script id=\"dewpoint\">"),
        page_with("<script data-id=\"dewpoint-data\">"),
        page_with("<script id=\"dewpoint-data-2\">"), good + kOpening + "</script>",
        kHead + kOpening + "{}", good + "<title>Dewpoint</title>",
        good.substr(good.find("</title>"))}) {
    EXPECT_THROW(static_cast<void>(report_page(page, data)), std::logic_error) << page;
  }
}

// Whichever way this build was made.
TEST(ReportPage, UsesTheTemplateOfTheBuildOrSaysThatThereIsNone) {
  const Json data{{"title", "A title of its own"}, {"figures", Json::array()}};
  if (page_template().empty()) {
    EXPECT_EQ(test::code_of([&] { static_cast<void>(report_page(data)); }), Code::missing_tool);
    return;
  }
  const std::string page = report_page(data);
  EXPECT_EQ(page, report_page(page_template(), data));
  EXPECT_EQ(title_of(page), "A title of its own");
  EXPECT_EQ(count(page, data.dump()), 1U);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

}  // namespace
}  // namespace dewpoint::report
