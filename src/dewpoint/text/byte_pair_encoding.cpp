#include "dewpoint/text/byte_pair_encoding.hpp"

#include <fmt/format.h>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/characters.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using checkpoint::Refusal;

std::uint64_t key(int left, int right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

BytePairEncoding::BytePairEncoding(Vocabulary vocabulary, const std::vector<Pair>& merges,
                                   BytePairOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  merges_.reserve(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const int joined = token(left + right, rank);
    merges_[key(token(left, rank), token(right, rank))] = {static_cast<double>(rank), joined};
  }
  if (!options_.unknown.empty()) {
    unknown_ = vocabulary_.find(options_.unknown);
    if (!unknown_) {
      throw Refusal{"unk_token", fmt::format("'{}'", excerpt(options_.unknown)),
                    "a token of the vocabulary"};
    }
  }
  if (options_.byte_fallback) read_bytes();
}

int BytePairEncoding::token(std::string_view text, std::size_t rank) const {
  if (const auto id = vocabulary_.find(text)) return *id;
  throw Refusal{fmt::format("merges[{}]", rank), fmt::format("'{}'", excerpt(text)),
                "merges of tokens of the vocabulary into one of its tokens"};
}

void BytePairEncoding::read_bytes() {
  for (int byte = 0; byte < 256; ++byte) {
    if (const auto id = vocabulary_.find(fmt::format("<0x{:02X}>", byte))) bytes_.push_back(*id);
  }
  if (bytes_.empty() || bytes_.size() == 256) return;
  throw Refusal{"byte_fallback", fmt::format("tokens for {} bytes", bytes_.size()),
                "tokens <0x00> to <0xFF> for all 256 or for none"};
}

void BytePairEncoding::append_word(std::string_view word, std::vector<int>& ids) const {
  if (options_.ignore_merges) {
    if (const auto whole = vocabulary_.find(word)) {
      ids.push_back(*whole);
      return;
    }
  }
  std::vector<int> tokens = characters(word);
  join_neighbours(tokens, [this](int left, int right) { return merge_of(left, right); });
  ids.insert(ids.end(), tokens.begin(), tokens.end());
}

std::vector<int> BytePairEncoding::characters(std::string_view word) const {
  std::vector<int> ids;
  bool after_unknown = false;
  for (std::size_t place = 0; place < word.size();) {
    const std::string_view character = word.substr(place, character_at(word, place).length);
    const auto id = vocabulary_.find(character);
    if (id) ids.push_back(*id);
    if (!id && !(after_unknown && options_.fuse_unknown)) append_unknown(character, ids);
    after_unknown = !id && bytes_.empty();
    place += character.size();
  }
  return ids;
}

void BytePairEncoding::append_unknown(std::string_view character, std::vector<int>& ids) const {
  if (!bytes_.empty()) {
    for (const char byte : character) ids.push_back(bytes_[static_cast<unsigned char>(byte)]);
    return;
  }
  if (!unknown_) {
    throw Error(Code::bad_value,
                fmt::format("text: found '{}', for which the tokenizer has no token, allowed: "
                            "characters of its vocabulary",
                            excerpt(character)));
  }
  ids.push_back(*unknown_);
}

std::optional<Merge> BytePairEncoding::merge_of(int left, int right) const {
  const auto found = merges_.find(key(left, right));
  if (found == merges_.end()) return std::nullopt;
  return found->second;
}

}  // namespace dewpoint::text
