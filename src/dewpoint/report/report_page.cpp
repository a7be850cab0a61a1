#include "dewpoint/report/report_page.hpp"

#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <vector>

#include "dewpoint/core/error.hpp"

namespace dewpoint::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kScript = "<script";
constexpr std::string_view kScriptEnd = "</script";
constexpr std::string_view kTitle = "<title>Dewpoint</title>";
constexpr const char* kGenerator = R"(<meta name="generator" content="Dewpoint">)";

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    if (letter == what) {
      result += by;
    } else {
      result += letter;
    }
  }
  return result;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// JSON has '<' in strings only, where it may be written as a number. Without it neither "</script>"
// nor "<!--" can stand in the element.
std::string script_text(const Json& data) { return replaced(dumped(data), '<', "\\u003c"); }

std::string title_text(const Json& data) {
  const std::string title = Json::parse(dumped(data.at("title"))).get<std::string>();  // UTF-8
  return replaced(replaced(title, '&', "&amp;"), '<', "&lt;");
}

// A part of a page: [from, until).
struct Part {
  std::size_t from;
  std::size_t until;
};

std::size_t place_of(std::string_view page, std::string_view what, std::size_t from) {
  const std::size_t place = page.find(what, from);
  if (place == std::string_view::npos) {
    throw std::logic_error("page template: a script element does not end");
  }
  return place;
}

bool holds_data(std::string_view attributes) {
  static const std::regex id(R"(\sid\s*=\s*["']?dewpoint-data(["'\s]|$))", std::regex::icase);
  return std::regex_search(attributes.begin(), attributes.end(), id);
}

// The content of every element with the id. Scripts are passed over as a whole: what they hold are
// no elements, whatever it looks like.
std::vector<Part> data_elements(std::string_view page) {
  std::vector<Part> found;
  std::size_t tag = page.find(kScript);
  while (tag != std::string_view::npos) {
    const std::size_t attributes = tag + kScript.size();
    const std::size_t end_of_tag = place_of(page, ">", attributes);
    const Part content{end_of_tag + 1, place_of(page, kScriptEnd, end_of_tag + 1)};
    if (holds_data(page.substr(attributes, end_of_tag - attributes))) found.push_back(content);
    tag = page.find(kScript, content.until);
  }
  return found;
}

Part data_element(std::string_view page) {
  const std::vector<Part> found = data_elements(page);
  if (found.size() == 1) return found.front();
  throw std::logic_error("page template: " + std::to_string(found.size()) +
                         " elements <script id=\"dewpoint-data\">, must be 1");
}

Part title_element(std::string_view page) {
  const std::size_t first = page.find(kTitle);
  if (first == std::string_view::npos || page.find(kTitle, first + 1) != std::string_view::npos) {
    throw std::logic_error("page template: must have one " + std::string(kTitle));
  }
  return {first, first + kTitle.size()};
}

}  // namespace

FileKind page_kind() { return marked_kind("a page of Dewpoint", "<!", kGenerator); }

std::string report_page(std::string_view page, const Json& data) {
  std::string text(page);
  const auto put = [&](const Part& part, const std::string& by) {
    text.replace(part.from, part.until - part.from, by);
  };
  put(title_element(text), kGenerator + std::string("<title>") + title_text(data) + "</title>");
  put(data_element(text), script_text(data));
  return text;
}

std::string report_page(const Json& data) {
  if (page_template().empty()) {
    throw Error(Code::missing_tool,
                "this Dewpoint was built without its page (DEWPOINT_WEB=OFF): build it with "
                "DEWPOINT_WEB=ON, which needs npm");
  }
  return report_page(page_template(), data);
}

}  // namespace dewpoint::report
