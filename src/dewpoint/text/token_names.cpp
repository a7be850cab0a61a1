#include "dewpoint/text/token_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <unordered_set>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/characters.hpp"

namespace dewpoint::text {
namespace {

constexpr std::string_view kVisibleBlank = "\u2581";

// The lines and paragraphs of Unicode end in characters of their own.
bool is_printable(const Character& character) {
  const char32_t value = character.value;
  return character.length > 0 && value >= 0x20 && (value < 0x7f || value > 0x9f) &&
         value != 0x2028 && value != 0x2029;
}

// Empty where no token has one of the ids.
std::string decoded(const Tokenizer& tokenizer, std::span<const int> ids) {
  try {
    return tokenizer.decode(ids);
  } catch (const Error&) {
    return {};
  }
}

// The first token with a text.
int first_with_text(const Tokenizer& tokenizer) {
  const int count = static_cast<int>(tokenizer.size());
  int id = 0;
  while (id + 1 < count && decoded(tokenizer, std::array{id}).empty()) ++id;
  return id;
}

}  // namespace

std::string visible(std::string_view bytes) {
  std::string result;
  for (std::size_t place = 0; place < bytes.size();) {
    const Character character = character_at(bytes, place);
    if (bytes[place] == ' ') {
      result += kVisibleBlank;
    } else if (is_printable(character)) {
      result += bytes.substr(place, character.length);
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[place]));
    }
    place += is_printable(character) ? character.length : 1;
  }
  return result;
}

std::vector<std::string> token_names(const std::vector<std::string>& tokens,
                                     const std::vector<std::uint64_t>& counts) {
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::unordered_set<std::string_view> taken;
  std::vector<std::string> names(tokens.size());
  for (const std::size_t id : order) {
    std::string& name = names[id];
    name = visible(tokens[id]);
    while (name.empty() || taken.contains(name)) name += fmt::format("#{}", id);
    taken.insert(name);
  }
  return names;
}

// A token is decoded behind another one: alone, it may lose the blank in front of it. A tokenizer
// of words has no blanks in its tokens but puts them between.
std::vector<std::string> token_bytes(const Tokenizer& tokenizer) {
  const int count = static_cast<int>(tokenizer.size());
  const bool words = tokenizer.kind() == "words";
  const int first = first_with_text(tokenizer);
  const std::string before = decoded(tokenizer, std::array{first});
  std::vector<std::string> tokens;
  for (int id = 0; id < count; ++id) {
    const std::string both = decoded(tokenizer, std::array{first, id});
    const bool behind = !words && both.starts_with(before);
    tokens.push_back(behind ? both.substr(before.size()) : decoded(tokenizer, std::array{id}));
  }
  return tokens;
}

}  // namespace dewpoint::text
