#include "dewpoint/text/pattern_dialect.hpp"

#include <algorithm>
#include <cstddef>

namespace dewpoint::text {
namespace {

// The length of an escape; the braces of \p{L} and \x{2581} belong to it.
std::size_t escape_length(std::string_view rest) {
  if (rest.size() < 3 || rest[2] != '{' || std::string_view("pPx").find(rest[1]) > 2) {
    return std::min<std::size_t>(rest.size(), 2);
  }
  return std::min(rest.find('}'), rest.size() - 1) + 1;
}

// Letters between "(?" and the ":" or ")" that ends a list of options.
bool sets_other_options(std::string_view rest) {
  if (!rest.starts_with("(?")) return false;
  rest.remove_prefix(2);
  const std::size_t end = rest.find_first_of(":)");
  const std::string_view letters = rest.substr(0, end);
  const bool is_list = !letters.empty() && std::all_of(letters.begin(), letters.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '^';
  });
  return is_list && letters.find_first_not_of("i-") != std::string_view::npos;
}

// [:alpha:] and its like, the same in both.
std::size_t class_length(std::string_view rest) {
  if (!rest.starts_with("[:")) return 0;
  const std::size_t end = rest.find(":]", 2);
  return end == std::string_view::npos ? 0 : end + 2;
}

std::optional<std::string_view> foreign_inside_set(std::string_view rest) {
  if (rest.starts_with("&&")) return "&& in a set";
  if (rest.starts_with('[')) return "a set in a set";
  return std::nullopt;
}

std::optional<std::string_view> foreign_outside_set(std::string_view rest) {
  if (rest.starts_with("}+")) return "{..}+";
  if (sets_other_options(rest)) return "options other than (?i)";
  if (rest.starts_with("[]") || rest.starts_with("[^]")) return "] as the first of a set";
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> foreign_construct(std::string_view expression) {
  bool in_set = false;
  while (!expression.empty()) {
    std::size_t length = 1;
    if (expression.front() == '\\') {
      if (expression.starts_with("\\h") || expression.starts_with("\\H")) return "\\h";
      length = escape_length(expression);
    } else if (in_set && class_length(expression) > 0) {
      length = class_length(expression);
    } else {
      const auto found = in_set ? foreign_inside_set(expression) : foreign_outside_set(expression);
      if (found) return found;
      if (expression.front() == '[') in_set = true;
      if (expression.front() == ']') in_set = false;
    }
    expression.remove_prefix(length);
  }
  return std::nullopt;
}

}  // namespace dewpoint::text
