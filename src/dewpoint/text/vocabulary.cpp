#include "dewpoint/text/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/text/json_field.hpp"

namespace dewpoint::text {

using checkpoint::excerpt;
using checkpoint::Refusal;

void Vocabulary::add(std::string_view token, int id, std::string_view field) {
  if (ids_.contains(token)) {
    throw Refusal{std::string(field), fmt::format("the token '{}' twice", excerpt(token)),
                  "every token once"};
  }
  if (const std::string* other = this->token(id)) {
    throw Refusal{std::string(field),
                  fmt::format("id {} for '{}' and for '{}'", id, excerpt(*other), excerpt(token)),
                  "every id once"};
  }
  const std::string& kept = tokens_.emplace_back(token);
  ids_.emplace(kept, id);
  by_id_.emplace(id, &kept);
  size_ = std::max(size_, static_cast<std::size_t>(id) + 1);
}

std::optional<int> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* Vocabulary::token(int id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

int read_id(const nlohmann::ordered_json& value, std::string_view field) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() < kIdLimit) return value.get<int>();
  throw Refusal{std::string(field), in_short(value),
                fmt::format("an id, a whole number from 0 to {}", kIdLimit - 1)};
}

Vocabulary read_vocabulary(const nlohmann::ordered_json& object, std::string_view field) {
  if (!object.is_object() || object.empty()) {
    throw Refusal{std::string(field), in_short(object), "an object of tokens and their ids"};
  }
  Vocabulary vocabulary;
  for (const auto& [token, id] : object.items()) {
    vocabulary.add(token, read_id(id, fmt::format("{}['{}']", field, excerpt(token))), field);
  }
  return vocabulary;
}

std::string vocabulary_text(const std::vector<std::string>& tokens) {
  std::string text = "{";
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const char* before = id == 0 ? "\n" : ",\n";
    text += fmt::format("{}{}: {}", before, nlohmann::json(tokens[id]).dump(), id);
  }
  return text + "\n}";
}

const std::string& token_of(const Vocabulary& vocabulary, int id) {
  if (const std::string* token = vocabulary.token(id)) return *token;
  refuse_id(id, vocabulary.size());
}

void refuse_id(int id, std::size_t size) {
  throw Error(Code::bad_value,
              fmt::format("tokens: found id {}, allowed: ids of the tokenizer's {} tokens, "
                          "counted from 0",
                          id, size));
}

}  // namespace dewpoint::text
