#include "dewpoint/text/byte_pair_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/replacement.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using checkpoint::Refusal;

constexpr const char* kField = "added_tokens";

// An added token that the model knows must have the model's id, and no id of another.
void expect_agreement(const Vocabulary& model, const AddedToken& token) {
  const auto id = model.find(token.content);
  const std::string* other = model.token(token.id);
  if (id ? *id == token.id : other == nullptr) return;
  throw Refusal{kField, fmt::format("'{}' with id {}", excerpt(token.content), token.id),
                id ? fmt::format("its id in the vocabulary, {}", *id)
                   : fmt::format("an id that is not that of '{}'", excerpt(*other))};
}

}  // namespace

BytePairTokenizer::BytePairTokenizer(BytePairParts parts) : parts_(std::move(parts)) {
  std::vector<AddedToken> in_text, normalized;
  for (AddedToken token : parts_.added) {
    expect_agreement(parts_.model.vocabulary(), token);
    if (!parts_.model.vocabulary().find(token.content)) {
      added_.add(token.content, token.id, kField);
    }
    if (!token.normalized) {
      in_text.push_back(std::move(token));
      continue;
    }
    normalize(token);
    if (!token.content.empty()) normalized.push_back(std::move(token));
  }
  in_text_ = AddedTokens(std::move(in_text));
  normalized_ = AddedTokens(std::move(normalized));
}

void BytePairTokenizer::normalize(AddedToken& token) const {
  const std::string content = token.content;
  try {
    parts_.normalizer(token.content, most_bytes(content.size()));
  } catch (const Error&) {
    throw Refusal{kField, fmt::format("'{}'", excerpt(content)),
                  "tokens that the normalizer can take, or with \"normalized\": false"};
  }
}

std::size_t BytePairTokenizer::size() const {
  return std::max(parts_.model.vocabulary().size(), added_.size());
}

std::vector<int> BytePairTokenizer::encode(std::string_view text) const {
  expect_utf8(text);
  std::vector<int> ids;
  for (const TextPart& part : in_text_.split(text)) {
    if (part.token) {
      ids.push_back(*part.token);
    } else {
      append_plain(part.text, part.text.data() == text.data(), ids);
    }
  }
  return ids;
}

void BytePairTokenizer::append_plain(std::string_view text, bool begins_text,
                                     std::vector<int>& ids) const {
  std::string normal(text);
  const std::size_t most = most_bytes(text.size());
  parts_.normalizer(normal, most);
  for (const TextPart& part : normalized_.split(normal)) {
    if (part.token) {
      ids.push_back(*part.token);
      continue;
    }
    const bool begins = begins_text && part.text.data() == normal.data();
    for (const Word& word : parts_.pre_tokenizer({{std::string(part.text), begins}}, most)) {
      parts_.model.append_word(word.text, ids);
    }
  }
}

std::string BytePairTokenizer::decode(std::span<const int> ids) const {
  std::vector<std::string> tokens;
  std::size_t bytes = ids.size();
  for (const int id : ids) {
    const std::string* token = added_.token(id);
    if (token == nullptr) token = parts_.model.vocabulary().token(id);
    if (token == nullptr) refuse_id(id, size());
    bytes += token->size();
    tokens.push_back(*token);
  }
  parts_.decoder(tokens, most_bytes(bytes));
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

}  // namespace dewpoint::text
