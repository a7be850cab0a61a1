#include "dewpoint/text/token_decoder.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "dewpoint/text/byte_alphabet.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/replacement.hpp"

namespace dewpoint::text {
namespace {

constexpr int kMostStripped = 1024;

void fuse(std::vector<std::string>& tokens, std::size_t) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens.assign(1, std::move(all));
}

void put_blanks_between(std::vector<std::string>& tokens, std::size_t) {
  for (std::size_t k = 1; k < tokens.size(); ++k) tokens[k].insert(tokens[k].begin(), ' ');
}

// The byte of a token such as <0xE2>.
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned value = 0;
  const char* end = token.data() + 5;
  if (std::from_chars(token.data() + 3, end, value, 16).ptr != end) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(value));
}

// Bytes that follow each other are one token from here on.
void join_bytes(std::vector<std::string>& tokens, std::size_t) {
  std::vector<std::string> joined;
  bool after_byte = false;
  for (std::string& token : tokens) {
    const auto byte = byte_of(token);
    if (byte && after_byte) {
      joined.back() += *byte;
    } else {
      joined.push_back(byte ? std::string(1, *byte) : std::move(token));
    }
    after_byte = byte.has_value();
  }
  tokens = std::move(joined);
}

TokenDecoder read_strip(const JsonField& field) {
  const std::string content = field["content"].text();
  if (content.empty() || character_at(content, 0).length != content.size()) {
    field["content"].refuse("one character");
  }
  const int start = field["start"].count_or(0, kMostStripped);
  const int stop = field["stop"].count_or(0, kMostStripped);
  return [content, start, stop](std::vector<std::string>& tokens, std::size_t) {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (int k = 0; k < start && rest.starts_with(content); ++k) {
        rest.remove_prefix(content.size());
      }
      for (int k = 0; k < stop && rest.ends_with(content); ++k) rest.remove_suffix(content.size());
      token = std::string(rest);
    }
  };
}

TokenDecoder read_replace(const JsonField& field) {
  return [pattern = read_pattern(field["pattern"]), content = field["content"].text()](
             std::vector<std::string>& tokens, std::size_t most) {
    for (std::string& token : tokens) {
      // Bytes that form no character are beyond any expression.
      if (first_malformed(token) == token.size()) {
        token = replaced(token, pattern.matches(token), content, most);
      }
      expect_bounded(token.size(), most);
      most -= token.size();
    }
  };
}

TokenDecoder read_metaspace(const JsonField& field) {
  const std::string blank = field["replacement"].text_or("\u2581");
  if (blank.empty()) field["replacement"].refuse("one character");
  const bool in_front = field["add_prefix_space"].flag_or(true);
  const bool drop = field["prepend_scheme"].text_or(in_front ? "always" : "never") != "never";
  return [blank, drop](std::vector<std::string>& tokens, std::size_t) {
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      std::string text;
      std::string_view rest = tokens[k];
      while (!rest.empty()) {
        const bool is_blank = rest.starts_with(blank);
        if (!is_blank) text += rest.front();
        if (is_blank && !(drop && k == 0)) text += ' ';
        rest.remove_prefix(is_blank ? blank.size() : 1);
      }
      tokens[k] = std::move(text);
    }
  };
}

TokenDecoder read_sequence(const JsonField& field) {
  std::vector<TokenDecoder> steps;
  for (const JsonField& step : field["decoders"].list()) steps.push_back(read_token_decoder(step));
  return [steps = std::move(steps)](std::vector<std::string>& tokens, std::size_t most) {
    for (const TokenDecoder& step : steps) step(tokens, most);
  };
}

}  // namespace

void decode_byte_level(std::vector<std::string>& tokens, std::size_t most) {
  for (std::string& token : tokens) token = bytes_of_letters(token);
  fuse(tokens, most);
}

TokenDecoder read_token_decoder(const JsonField& field) {
  if (field.is_null()) return put_blanks_between;
  const std::string type = field.type();
  if (type == "Sequence") return read_sequence(field);
  if (type == "ByteLevel") return decode_byte_level;
  if (type == "ByteFallback") return join_bytes;
  if (type == "Fuse") return fuse;
  if (type == "Strip") return read_strip(field);
  if (type == "Replace") return read_replace(field);
  if (type == "Metaspace") return read_metaspace(field);
  field["type"].refuse(
      "the decoders Sequence, ByteLevel, ByteFallback, Fuse, Strip, Replace and Metaspace");
}

}  // namespace dewpoint::text
