// Tokens and their ids, both ways.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dewpoint::text {

/// Ids need not be dense, but no two tokens share one, no two ids a token, and every id is below
/// this.
inline constexpr int kIdLimit = 1 << 24;

class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  /// Throws Refusal with the field where the token or the id is there already.
  void add(std::string_view token, int id, std::string_view field);
  [[nodiscard]] std::optional<int> find(std::string_view token) const;
  /// Null where no token has the id.
  [[nodiscard]] const std::string* token(int id) const;
  /// The largest id plus one.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::deque<std::string> tokens_;  // does not move what the maps point to
  std::unordered_map<std::string_view, int> ids_;
  std::unordered_map<int, const std::string*> by_id_;
  std::size_t size_ = 0;
};

/// A JSON number as an id. Throws Refusal with the field.
[[nodiscard]] int read_id(const nlohmann::ordered_json& value, std::string_view field);

/// A JSON object {"token": id, ..}. Throws Refusal with the field.
[[nodiscard]] Vocabulary read_vocabulary(const nlohmann::ordered_json& object,
                                         std::string_view field);

/// The inverse: the object's text, with ids by place, a token to a line.
///
///   Domain      tokens are UTF-8, no two equal.
[[nodiscard]] std::string vocabulary_text(const std::vector<std::string>& tokens);

/// The token of an id that somebody wants decoded. Throws Error{bad_value} where there is none.
[[nodiscard]] const std::string& token_of(const Vocabulary& vocabulary, int id);
/// The line for an id that no token has.
[[noreturn]] void refuse_id(int id, std::size_t size);

}  // namespace dewpoint::text
