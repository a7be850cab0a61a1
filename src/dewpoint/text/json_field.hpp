// Fields of a foreign JSON object, each read with its type or refused by its path.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::text {

/// A JSON value as it may stand in a message.
[[nodiscard]] std::string in_short(const nlohmann::ordered_json& value);

/// The object that other fields are read from, and its path in the file ("model.vocab").
class JsonField {
 public:
  JsonField(const nlohmann::ordered_json& value, std::string path);

  [[nodiscard]] const nlohmann::ordered_json& value() const { return value_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// A field, JSON's null where it is not there.
  [[nodiscard]] JsonField operator[](std::string_view name) const;
  [[nodiscard]] bool is_null() const;

  /// Throw Refusal where the field is of another type, or not there and without a default.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_or(std::string_view absent) const;
  [[nodiscard]] bool flag_or(bool absent) const;
  /// A whole number from 0 to `most`.
  [[nodiscard]] int count_or(int absent, int most) const;
  [[nodiscard]] std::vector<JsonField> list() const;
  /// The text of the field "type".
  [[nodiscard]] std::string type() const;

  [[noreturn]] void refuse(std::string_view allowed) const;

 private:
  const nlohmann::ordered_json& value_;
  std::string path_;
};

}  // namespace dewpoint::text
