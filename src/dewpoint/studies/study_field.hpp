// One entry of a study file, with its name in full and its line, so that what is wrong with it can
// be said where it is found:
//
//     study.toml:7: refine.share: found 2; allowed: a number above 0, at most 1
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/studies/toml_tree.hpp"

namespace dewpoint::studies {

/// Of a title, a name, a file: more is no text that somebody wrote.
inline constexpr std::size_t kMostTextBytes = 4096;

/// Refers to a document that outlives it. Every reader throws Error{bad_value}.
class StudyField {
 public:
  /// The whole document.
  explicit StudyField(const TomlDocument& document);

  /// "place: name: message".
  [[noreturn]] void refuse(std::string_view message) const;
  /// "place: name: found ...; allowed: ...".
  [[noreturn]] void refuse_value(std::string_view allowed) const;

  [[nodiscard]] TomlNode::Kind kind() const { return node_->kind; }
  [[nodiscard]] bool is_table() const { return kind() == TomlNode::Kind::table; }
  [[nodiscard]] bool is_list() const { return kind() == TomlNode::Kind::list; }
  /// The name in the table it stands in, and in full: "n" and "grid.n".
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& full_name() const { return full_name_; }

  [[nodiscard]] std::string text(std::string_view allowed = "a text in quotes, not empty") const;
  [[nodiscard]] double number(std::string_view allowed = "a number") const;
  [[nodiscard]] std::uint64_t count(std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] bool flag() const;
  /// One of these, or an error with the nearest.
  [[nodiscard]] std::string one_of(const std::vector<std::string>& words) const;
  [[nodiscard]] std::vector<StudyField> list(std::string_view allowed) const;

  /// The entries of a table in the order of the file.
  [[nodiscard]] std::vector<StudyField> entries() const;
  /// An error with the nearest known name where a table has another.
  void know_only(const std::vector<std::string>& known) const;
  [[nodiscard]] std::optional<StudyField> find(std::string_view name) const;
  /// The same; an error where it is missing.
  [[nodiscard]] StudyField at(std::string_view name, std::string_view allowed) const;

 private:
  StudyField(const TomlDocument& document, const TomlNode& node, std::string name,
             std::string full_name);

  const TomlDocument* document_;
  const TomlNode* node_;
  std::string name_;
  std::string full_name_;
};

}  // namespace dewpoint::studies
