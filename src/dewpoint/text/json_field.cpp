#include "dewpoint/text/json_field.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::text {

using Json = nlohmann::ordered_json;

std::string in_short(const Json& value) {
  if (value.is_null()) return "nothing";
  if (value.is_object()) return fmt::format("an object of {} fields", value.size());
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  return checkpoint::excerpt(value.dump());
}

JsonField::JsonField(const Json& value, std::string path) : value_(value), path_(std::move(path)) {}

JsonField JsonField::operator[](std::string_view name) const {
  static const Json nothing;
  std::string path = path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  if (value_.is_null()) return {nothing, std::move(path)};
  if (!value_.is_object()) refuse("an object");
  const auto found = value_.find(name);
  return {found == value_.end() ? nothing : *found, std::move(path)};
}

bool JsonField::is_null() const { return value_.is_null(); }

std::string JsonField::text() const {
  if (!value_.is_string()) refuse("a text");
  return value_.get<std::string>();
}

std::string JsonField::text_or(std::string_view absent) const {
  return is_null() ? std::string(absent) : text();
}

bool JsonField::flag_or(bool absent) const {
  if (is_null()) return absent;
  if (!value_.is_boolean()) refuse("true or false");
  return value_.get<bool>();
}

int JsonField::count_or(int absent, int most) const {
  if (is_null()) return absent;
  if (!value_.is_number_unsigned() ||
      value_.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    refuse(fmt::format("a whole number from 0 to {}", most));
  }
  return value_.get<int>();
}

std::vector<JsonField> JsonField::list() const {
  if (!value_.is_array()) refuse("a list");
  std::vector<JsonField> items;
  for (const Json& item : value_)
    items.emplace_back(item, fmt::format("{}[{}]", path_, items.size()));
  return items;
}

std::string JsonField::type() const { return (*this)["type"].text(); }

void JsonField::refuse(std::string_view allowed) const {
  throw checkpoint::Refusal{path_.empty() ? "file" : path_, in_short(value_), std::string(allowed)};
}

}  // namespace dewpoint::text
