// A TOML document as a tree that remembers where everything stands.
//
// Tables keep the order of the file: the axes of a grid are an ordered list, and a table of TOML is
// not. Texts of one line, finite numbers, yes and no, lists and tables are all there is; dates,
// infinities and what is not a number are refused while reading. Overrides are put into the tree as
// if they stood in the file, and remember that they did not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::studies {

struct TomlNode {
  enum class Kind { table, list, text, whole, number, flag };

  Kind kind = Kind::table;
  std::uint32_t line = 0;      // of its key or, in a list, its own
  std::uint32_t override = 0;  // 1, 2, ...: it comes from this override, and not from a line
  std::string text = {};
  std::int64_t whole = 0;
  double number = 0.0;  // of a whole one too
  bool flag = false;
  std::vector<TomlNode> items = {};     // of a list or a table
  std::vector<std::string> names = {};  // of the items of a table

  [[nodiscard]] const TomlNode* find(std::string_view name) const;
  [[nodiscard]] TomlNode* find(std::string_view name);
};

struct TomlDocument {
  std::string name;  // of the file
  std::vector<std::string> overrides;
  TomlNode root;

  /// "study.toml:12", or "override 'replicas=x'".
  [[nodiscard]] std::string place(const TomlNode& node) const;
};

/// Room for what the largest study file becomes when its ranges and defaults are written out.
inline constexpr std::size_t kMostTomlBytes = std::size_t{16} << 20;

/// Throws Error{malformed_file} with the line; Error{bad_value} for an override.
[[nodiscard]] TomlDocument read_toml(std::string_view text, const std::string& name,
                                     const std::vector<std::string>& overrides);

/// Foreign text as it may stand in a message: at most 60 bytes of it, on one line.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace dewpoint::studies
