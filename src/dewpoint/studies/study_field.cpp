#include "dewpoint/studies/study_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {
namespace {

using NodeKind = TomlNode::Kind;

std::string found_text(const TomlNode& node) {
  switch (node.kind) {
    case NodeKind::table:
      return "a table";
    case NodeKind::list:
      return fmt::format("a list of {}", node.items.size());
    case NodeKind::text:
      return fmt::format("'{}'", excerpt(node.text));
    case NodeKind::whole:
      return fmt::format("{}", node.whole);
    case NodeKind::number:
      return number_text(node.number);
    case NodeKind::flag:
      break;
  }
  return node.flag ? "true" : "false";
}

/// A whole number, 1e6 too; as text where TOML has none: its whole numbers end at 2^63 - 1.
std::optional<std::uint64_t> whole_number(const TomlNode& node) {
  if (node.kind == NodeKind::whole && node.whole >= 0)
    return static_cast<std::uint64_t>(node.whole);
  if (node.kind == NodeKind::number && node.number >= 0.0 && node.number <= 0x1p53 &&
      node.number == std::floor(node.number)) {
    return static_cast<std::uint64_t>(node.number);
  }
  if (node.kind != NodeKind::text) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, failure] = std::from_chars(node.text.data(), end, value);
  const bool beyond = value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (failure != std::errc{} || stop != end || !beyond) return std::nullopt;
  return value;
}

}  // namespace

StudyField::StudyField(const TomlDocument& document)
    : StudyField(document, document.root, "", "") {}

StudyField::StudyField(const TomlDocument& document, const TomlNode& node, std::string name,
                       std::string full_name)
    : document_(&document),
      node_(&node),
      name_(std::move(name)),
      full_name_(std::move(full_name)) {}

void StudyField::refuse(std::string_view message) const {
  throw Error(Code::bad_value,
              fmt::format("{}: {}: {}", document_->place(*node_), full_name_, message));
}

void StudyField::refuse_value(std::string_view allowed) const {
  refuse(fmt::format("found {}; allowed: {}", found_text(*node_), allowed));
}

// --------------------------------------------------------------------------------------- values

std::string StudyField::text(std::string_view allowed) const {
  if (kind() != NodeKind::text || node_->text.empty()) refuse_value(allowed);
  if (node_->text.size() > kMostTextBytes) {
    refuse(fmt::format("{} bytes; allowed: at most {}", node_->text.size(), kMostTextBytes));
  }
  return node_->text;
}

double StudyField::number(std::string_view allowed) const {
  if (kind() == NodeKind::number) return node_->number;
  if (kind() != NodeKind::whole) refuse_value(allowed);
  const bool exact =
      node_->number < 0x1p63 && static_cast<std::int64_t>(node_->number) == node_->whole;
  if (!exact) refuse_value("whole numbers up to 2^53, and those above that a double holds");
  return node_->number;
}

std::uint64_t StudyField::count(std::uint64_t least, std::uint64_t most) const {
  const auto value = whole_number(*node_);
  if (!value || *value < least || *value > most) {
    refuse_value(fmt::format("a whole number from {} to {}", least, most));
  }
  return *value;
}

bool StudyField::flag() const {
  if (kind() != NodeKind::flag) refuse_value("true or false");
  return node_->flag;
}

std::string StudyField::one_of(const std::vector<std::string>& words) const {
  const bool known =
      kind() == NodeKind::text && std::find(words.begin(), words.end(), node_->text) != words.end();
  if (!known) {
    const std::string word = kind() == NodeKind::text ? node_->text : "";
    refuse(fmt::format("found {}{}", found_text(*node_), instead_of(word, words)));
  }
  return node_->text;
}

std::vector<StudyField> StudyField::list(std::string_view allowed) const {
  if (!is_list()) refuse_value(allowed);
  std::vector<StudyField> items;
  items.reserve(node_->items.size());
  for (const TomlNode& item : node_->items) {
    items.push_back(StudyField(*document_, item, name_, full_name_));
  }
  return items;
}

// --------------------------------------------------------------------------------------- tables

std::vector<StudyField> StudyField::entries() const {
  if (!is_table()) refuse_value("a table");
  std::vector<StudyField> result;
  for (std::size_t i = 0; i < node_->items.size(); ++i) {
    const std::string name = excerpt(node_->names[i]);
    const std::string full_name =
        full_name_.empty() ? name : fmt::format("{}.{}", full_name_, name);
    result.push_back(StudyField(*document_, node_->items[i], node_->names[i], full_name));
  }
  return result;
}

void StudyField::know_only(const std::vector<std::string>& known) const {
  for (const StudyField& entry : entries()) {
    if (std::find(known.begin(), known.end(), entry.name()) != known.end()) continue;
    entry.refuse("unknown key" + instead_of(entry.name(), known));
  }
}

std::optional<StudyField> StudyField::find(std::string_view name) const {
  const TomlNode* item = node_->find(name);
  if (item == nullptr) return std::nullopt;
  const std::string full_name =
      full_name_.empty() ? std::string(name) : fmt::format("{}.{}", full_name_, name);
  return StudyField(*document_, *item, std::string(name), full_name);
}

StudyField StudyField::at(std::string_view name, std::string_view allowed) const {
  if (const auto found = find(name)) return *found;
  if (full_name_.empty()) {
    throw Error(Code::bad_value,
                fmt::format("{}: {}: missing; allowed: {}", document_->name, name, allowed));
  }
  refuse(fmt::format("{} is missing; allowed: {}", name, allowed));
}

}  // namespace dewpoint::studies
