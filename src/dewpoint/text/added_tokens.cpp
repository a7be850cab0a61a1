#include "dewpoint/text/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {
namespace {

AddedToken read_added_token(const JsonField& field) {
  AddedToken token;
  token.content = field["content"].text();
  if (token.content.empty()) field["content"].refuse("a text that is not empty");
  token.id = read_id(field["id"].value(), field["id"].path());
  token.takes_blanks_before = field["lstrip"].flag_or(false);
  token.takes_blanks_behind = field["rstrip"].flag_or(false);
  token.normalized = field["normalized"].flag_or(!field["special"].flag_or(false));
  const JsonField single_word = field["single_word"];
  if (single_word.flag_or(false)) single_word.refuse("false");
  return token;
}

// The end of the blanks that begin at `place`.
std::size_t behind_blanks(std::string_view text, std::size_t place) {
  while (place < text.size()) {
    const Character character = character_at(text, place);
    if (!is_white_space(character.value)) break;
    place += character.length;
  }
  return place;
}

// The beginning of the blanks that end at `place`, not before `from`.
std::size_t before_blanks(std::string_view text, std::size_t from, std::size_t place) {
  std::size_t begin = place;
  while (begin > from) {
    std::size_t last = begin - 1;
    while (last > from && (static_cast<unsigned char>(text[last]) & 0xc0U) == 0x80U) --last;
    if (!is_white_space(character_at(text, last).value)) break;
    begin = last;
  }
  return begin;
}

}  // namespace

std::vector<AddedToken> read_added_tokens(const JsonField& field) {
  std::vector<AddedToken> tokens;
  if (field.is_null()) return tokens;
  for (const JsonField& token : field.list()) tokens.push_back(read_added_token(token));
  return tokens;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.content.size() > b.content.size();
  });
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    by_first_byte_[static_cast<unsigned char>(tokens_[k].content.front())].push_back(k);
  }
}

const AddedToken* AddedTokens::token_at(std::string_view text, std::size_t place) const {
  for (const std::size_t k : by_first_byte_[static_cast<unsigned char>(text[place])]) {
    if (text.substr(place).starts_with(tokens_[k].content)) return &tokens_[k];
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::split(std::string_view text) const {
  std::vector<TextPart> parts;
  std::size_t from = 0;
  for (std::size_t place = 0; place < text.size();) {
    const AddedToken* token = token_at(text, place);
    if (token == nullptr) {
      ++place;
      continue;
    }
    const std::size_t begin = token->takes_blanks_before ? before_blanks(text, from, place) : place;
    const std::size_t end = place + token->content.size();
    if (from < begin) parts.push_back({text.substr(from, begin - from), std::nullopt});
    parts.push_back({text.substr(place, token->content.size()), token->id});
    from = place = token->takes_blanks_behind ? behind_blanks(text, end) : end;
  }
  if (from < text.size()) parts.push_back({text.substr(from), std::nullopt});
  return parts;
}

}  // namespace dewpoint::text
