#include "dewpoint/text/llama2c_tokenizer.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/merging.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using checkpoint::Refusal;

constexpr int kBeginning = 1, kEnd = 2, kFirstByte = 3;
constexpr std::size_t kFewestTokens = kFirstByte + 256;
// llama2.c starts its search for the best pair here and joins only what is better.
constexpr float kNeverJoined = -1e10F;

struct Pieces {
  Vocabulary vocabulary;
  std::vector<std::string> texts;
  std::vector<float> scores;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Pieces read() {
    const auto longest = static_cast<std::int32_t>(word("the longest piece"));
    Pieces pieces;
    while (offset_ < bytes_.size()) read_token(pieces, longest);
    if (pieces.texts.size() < kFewestTokens) {
      throw Refusal{"tokens", std::to_string(pieces.texts.size()),
                    fmt::format("at least {}: three special ones and the bytes", kFewestTokens)};
    }
    return pieces;
  }

 private:
  std::string_view take(std::size_t length, std::string_view what) {
    const std::size_t left = bytes_.size() - offset_;
    if (length > left) {
      throw Refusal{fmt::format("byte {}", offset_), fmt::format("{} bytes left", left),
                    fmt::format("{} bytes for {}", length, what)};
    }
    offset_ += length;
    return bytes_.substr(offset_ - length, length);
  }

  std::uint32_t word(std::string_view what) {
    std::uint32_t value = 0;
    const std::string_view taken = take(4, what);
    for (unsigned k = 0; k < 4; ++k) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(taken[k])) << (8 * k);
    }
    return value;
  }

  void read_token(Pieces& pieces, std::int32_t longest) {
    const std::string token = fmt::format("token {}", pieces.texts.size());
    if (pieces.texts.size() >= static_cast<std::size_t>(kIdLimit)) {
      throw Refusal{token, "one more", fmt::format("at most {} tokens", kIdLimit)};
    }
    const auto score = std::bit_cast<float>(word("a score"));
    if (!std::isfinite(score)) {
      throw Refusal{token, fmt::format("a score of {}", score), "finite scores"};
    }
    const auto length = static_cast<std::int32_t>(word("a length"));
    if (length < 0 || length > longest) {
      throw Refusal{token, fmt::format("a piece of {} bytes", length),
                    fmt::format("0 to {} bytes, the longest by the file's first number", longest)};
    }
    const std::string_view text = take(static_cast<std::size_t>(length), "a piece");
    const auto id = static_cast<int>(pieces.texts.size());
    check_byte_piece(id, text);
    // No text has an empty piece, so it may stand there more than once.
    if (!text.empty()) pieces.vocabulary.add(text, id, token);
    pieces.texts.emplace_back(text);
    pieces.scores.push_back(score);
  }

  static void check_byte_piece(int id, std::string_view text) {
    if (id < kFirstByte || static_cast<std::size_t>(id) >= kFewestTokens) return;
    const std::string expected = fmt::format("<0x{:02X}>", id - kFirstByte);
    if (text == expected) return;
    throw Refusal{fmt::format("token {}", id), fmt::format("'{}'", excerpt(text)), expected};
  }

  std::string_view bytes_;
  std::size_t offset_ = 0;
};

// What llama2.c takes for a character: a byte with the up to three continuations behind it, whether
// or not they are the ones it calls for.
std::size_t group_at(std::string_view text, std::size_t place) {
  std::size_t length = 1;
  while (length < 4 && place + length < text.size() &&
         (static_cast<unsigned char>(text[place + length]) & 0xc0U) == 0x80U) {
    ++length;
  }
  return length;
}

class Llama2cTokenizer : public Tokenizer {
 public:
  explicit Llama2cTokenizer(Pieces pieces) : pieces_(std::move(pieces)) {}

  std::string kind() const override { return "llama2.c"; }
  std::size_t size() const override { return pieces_.texts.size(); }
  std::optional<int> beginning() const override { return kBeginning; }
  std::optional<int> end() const override { return kEnd; }

  std::vector<int> encode(std::string_view text) const override {
    std::vector<int> ids;
    if (text.empty()) return ids;
    append_character(ids, " ");
    for (std::size_t place = 0; place < text.size();) {
      const std::size_t length = group_at(text, place);
      append_character(ids, text.substr(place, length));
      place += length;
    }
    join_neighbours(ids, [this](int left, int right) { return merge_of(left, right); });
    return ids;
  }

  std::string decode(std::span<const int> ids) const override {
    std::string text;
    bool at_beginning = true;
    for (const int id : ids) {
      const std::string bytes = bytes_of(id);
      text += bytes.substr(at_beginning && begins_with_blank(id) ? 1 : 0);
      at_beginning = id == kBeginning;
    }
    return text;
  }

 private:
  void append_character(std::vector<int>& ids, std::string_view character) const {
    if (const auto id = pieces_.vocabulary.find(character)) {
      ids.push_back(*id);
      return;
    }
    for (const char byte : character) ids.push_back(kFirstByte + static_cast<unsigned char>(byte));
  }

  std::optional<Merge> merge_of(int left, int right) const {
    const auto joined = pieces_.vocabulary.find(text(left) + text(right));
    if (!joined) return std::nullopt;
    const float score = pieces_.scores[static_cast<std::size_t>(*joined)];
    if (score <= kNeverJoined) return std::nullopt;
    return Merge{-score, *joined};
  }

  const std::string& text(int id) const { return pieces_.texts[static_cast<std::size_t>(id)]; }

  bool begins_with_blank(int id) const { return text(id).starts_with(' '); }

  std::string bytes_of(int id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= size()) refuse_id(id, size());
    if (id < kFirstByte || static_cast<std::size_t>(id) >= kFewestTokens) return text(id);
    return {static_cast<char>(id - kFirstByte)};
  }

  Pieces pieces_;
};

}  // namespace

std::unique_ptr<Tokenizer> parse_llama2c_tokenizer(std::string_view bytes, std::string_view name) {
  try {
    return std::make_unique<Llama2cTokenizer>(Reader(bytes).read());
  } catch (const Refusal& refusal) {
    throw checkpoint::to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::text
