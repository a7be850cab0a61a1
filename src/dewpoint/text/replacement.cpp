#include "dewpoint/text/replacement.hpp"

#include <fmt/format.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint::text {
namespace {

// A text as an expression that matches it and nothing else.
std::string quoted(std::string_view text) {
  constexpr std::string_view kMeanings = "\\^$.|?*+()[]{}-&#";
  std::string expression;
  for (const char c : text) {
    if (kMeanings.find(c) != std::string_view::npos) expression += '\\';
    expression += c;
  }
  return expression;
}

}  // namespace

void expect_bounded(std::size_t bytes, std::size_t most) {
  if (bytes <= most) return;
  throw Error(
      Code::bad_value,
      fmt::format("text: the tokenizer makes {} bytes of it, allowed: at most {}", bytes, most));
}

Pattern read_pattern(const JsonField& field) {
  const JsonField text = field["String"], expression = field["Regex"];
  if (!text.is_null()) return {quoted(text.text()), text.path()};
  if (!expression.is_null()) return {expression.text(), expression.path()};
  field.refuse(R"({"String": ".."} or {"Regex": ".."})");
}

std::string replaced(std::string_view text, const std::vector<Span>& spans,
                     std::string_view content, std::size_t most) {
  std::size_t length = text.size() + spans.size() * content.size();
  for (const Span& span : spans) length -= span.end - span.begin;
  expect_bounded(length, most);
  std::string result;
  result.reserve(length);
  std::size_t from = 0;
  for (const Span& span : spans) {
    result.append(text, from, span.begin - from).append(content);
    from = span.end;
  }
  return result.append(text, from);
}

}  // namespace dewpoint::text
