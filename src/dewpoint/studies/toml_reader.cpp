// The only file that knows toml++, and guards it (toml_guard.hpp).
//
// toml++ 3.3 asserts, or with clang assumes, that the first letter of a table's name is one
// that names may have, and only then reports "[(a]" as an error
// (github.com/marzer/tomlplusplus/pull/301). Without assertions and assumptions it reports it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/toml_guard.hpp"
#include "dewpoint/studies/toml_tree.hpp"

namespace dewpoint::studies {
namespace {

using NodeKind = TomlNode::Kind;

constexpr std::size_t kLongestMessage = 160;

std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? excerpt(key) : fmt::format("{}.{}", path, excerpt(key));
}

TomlNode read_node(const toml::node& node, std::uint32_t line, const std::string& path);

TomlNode read_table(const toml::table& table, std::uint32_t line, const std::string& path) {
  using Entry = std::pair<const toml::key*, const toml::node*>;
  std::vector<Entry> entries;
  for (auto&& [key, value] : table) entries.emplace_back(&key, &value);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.first->source().begin < b.first->source().begin;
  });
  TomlNode result{.kind = NodeKind::table, .line = line};
  for (const auto& [key, value] : entries) {
    result.names.push_back(from_ascii(key->str()));
    result.items.push_back(
        read_node(*value, key->source().begin.line, below(path, result.names.back())));
  }
  return result;
}

TomlNode read_list(const toml::array& list, std::uint32_t line, const std::string& path) {
  TomlNode result{.kind = NodeKind::list, .line = line};
  result.items.reserve(list.size());
  for (auto&& item : list) {
    result.items.push_back(read_node(item, item.source().begin.line, path));
  }
  return result;
}

TomlNode read_text(const std::string& text, std::uint32_t line, const std::string& path) {
  if (std::any_of(text.begin(), text.end(), is_control)) {
    throw TomlTrouble{line,
                      fmt::format("{}: found '{}'; allowed: texts of one line, without tabs and "
                                  "control characters",
                                  path, excerpt(text))};
  }
  return {.kind = NodeKind::text, .line = line, .text = text};
}

TomlNode read_number(double number, std::uint32_t line, const std::string& path) {
  if (!std::isfinite(number)) {
    throw TomlTrouble{line, fmt::format("{}: found {}; allowed: finite numbers", path, number)};
  }
  return {.kind = NodeKind::number, .line = line, .number = number == 0.0 ? 0.0 : number};
}

TomlNode read_node(const toml::node& node, std::uint32_t line, const std::string& path) {
  if (const auto* table = node.as_table()) return read_table(*table, line, path);
  if (const auto* list = node.as_array()) return read_list(*list, line, path);
  if (const auto* text = node.as_string()) return read_text(from_ascii(text->get()), line, path);
  if (const auto* number = node.as_floating_point()) return read_number(number->get(), line, path);
  if (const auto* flag = node.as_boolean()) {
    return {.kind = NodeKind::flag, .line = line, .flag = flag->get()};
  }
  if (const auto* whole = node.as_integer()) {
    return {.kind = NodeKind::whole,
            .line = line,
            .whole = whole->get(),
            .number = static_cast<double>(whole->get())};
  }
  throw TomlTrouble{line, path +
                              ": found a date or a time; allowed: texts, numbers, true, false, "
                              "lists and tables"};
}

/// What toml++ says, on one line of bounded length.
std::string one_line(std::string_view description) {
  std::string result;
  for (const char c : description.substr(0, kLongestMessage)) result += is_control(c) ? ' ' : c;
  return description.size() > kLongestMessage ? result + "..." : result;
}

toml::table parse(std::string_view text) {
  const std::string ascii = to_ascii(text);
  try {
    return toml::parse(ascii);
  } catch (const toml::parse_error& error) {
    throw TomlTrouble{error.source().begin.line,
                      "not TOML: " + one_line(from_ascii(error.description()))};
  }
}

// ------------------------------------------------------------------------------------- overrides

[[noreturn]] void refuse_override(const std::string& text, const std::string& message) {
  throw Error(Code::bad_value, fmt::format("override '{}': {}", excerpt(text), message));
}

void mark(TomlNode& node, std::uint32_t override) {
  node.line = 0;
  node.override = override;
  for (TomlNode& item : node.items) mark(item, override);
}

/// A value of TOML or, where that fails, a word without its quotes.
TomlNode override_value(const std::string& text, std::size_t equals) {
  const std::string value = text.substr(equals + 1);
  toml::table parsed;
  try {
    parsed = parse("value = " + value);
  } catch (const TomlTrouble& trouble) {
    const bool bracket = std::string_view("[{\"'").find(value.front()) != std::string_view::npos;
    if (bracket) refuse_override(text, trouble.message + "; words in a list need quotes");
    return {.kind = NodeKind::text, .text = value};
  }
  try {
    return read_node(*parsed.get("value"), 0, excerpt(text.substr(0, equals)));
  } catch (const TomlTrouble& trouble) {
    refuse_override(text, trouble.message);
  }
}

TomlNode& descend(TomlNode& table, const std::string& text, std::string_view name) {
  if (name.empty()) refuse_override(text, "an empty key; allowed: key=value, as in replicas=4");
  if (table.kind != NodeKind::table) {
    refuse_override(
        text, fmt::format("nothing is called '{}' within a value that is no table", excerpt(name)));
  }
  if (TomlNode* found = table.find(name)) return *found;
  table.names.emplace_back(name);
  return table.items.emplace_back();
}

void apply_override(TomlDocument& document, std::uint32_t number) {
  const std::string& text = document.overrides[number - 1];
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) {
    refuse_override(text, "allowed: key=value, as in replicas=4 or grid.n=[64,128]");
  }
  if (std::any_of(text.begin(), text.end(), is_control) || text.size() > kMostTomlBytes) {
    refuse_override(text, "allowed: one line of text");
  }
  if (!is_utf8(text)) refuse_override(text, "allowed: text in UTF-8");
  const std::string_view path = std::string_view(text).substr(0, equals);
  TomlNode* node = &document.root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    node = &descend(*node, text, path.substr(begin, end - begin));
    if (node->line == 0) node->override = number;
    begin = end + 1;
  }
  *node = override_value(text, equals);
  mark(*node, number);
}

}  // namespace

// ------------------------------------------------------------------------------------- the tree

const TomlNode* TomlNode::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &items[static_cast<std::size_t>(found - names.begin())];
}

TomlNode* TomlNode::find(std::string_view name) {
  return const_cast<TomlNode*>(std::as_const(*this).find(name));
}

std::string TomlDocument::place(const TomlNode& node) const {
  if (node.override > 0) return fmt::format("override '{}'", excerpt(overrides[node.override - 1]));
  return fmt::format("{}:{}", name, node.line);
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::size_t end = std::min(text.size(), longest);
  const auto within_character = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;  // of UTF-8
  };
  while (end > 0 && end < text.size() && within_character(end)) --end;
  std::string result;
  for (const char c : text.substr(0, end)) {
    if (is_control(c)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return end < text.size() ? result + "..." : result;
}

TomlDocument read_toml(std::string_view text, const std::string& name,
                       const std::vector<std::string>& overrides) {
  if (text.size() > kMostTomlBytes) {
    throw Error(Code::malformed_file, fmt::format("{}: {} bytes; allowed: at most {}", name,
                                                  text.size(), kMostTomlBytes));
  }
  TomlDocument document{.name = name, .overrides = overrides, .root = {}};
  try {
    document.root = read_table(parse(text), 1, "");
  } catch (const TomlTrouble& trouble) {
    throw Error(Code::malformed_file,
                fmt::format("{}:{}: {}", name, trouble.line, trouble.message));
  }
  for (std::uint32_t i = 1; i <= overrides.size(); ++i) apply_override(document, i);
  return document;
}

}  // namespace dewpoint::studies
