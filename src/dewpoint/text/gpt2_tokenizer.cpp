#include "dewpoint/text/gpt2_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/byte_pair_tokenizer.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using checkpoint::Refusal;

// Takes a line off the front, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

BytePairEncoding::Pair read_merge(std::string_view line, std::size_t number) {
  const std::size_t blank = line.find(' ');
  const bool sound = blank != std::string_view::npos && blank > 0 && blank + 1 < line.size() &&
                     line.find(' ', blank + 1) == std::string_view::npos;
  if (sound) return {std::string(line.substr(0, blank)), std::string(line.substr(blank + 1))};
  throw Refusal{fmt::format("line {}", number), fmt::format("'{}'", excerpt(line)),
                "two tokens with a blank between them"};
}

std::vector<BytePairEncoding::Pair> read_merges(std::string_view text) {
  std::vector<BytePairEncoding::Pair> merges;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    merges.push_back(read_merge(line, number));
  }
  return merges;
}

BytePairParts parts_of(BytePairEncoding model) {
  const auto special = model.vocabulary().find(kEndOfText);
  BytePairParts parts{.kind = "GPT-2 BPE",
                      .model = std::move(model),
                      .added = {},
                      .normalizer = [](std::string&, std::size_t) {},
                      .pre_tokenizer = gpt2_pre_tokenizer(),
                      .decoder = decode_byte_level,
                      .beginning = special,
                      .end = special};
  if (special) parts.added.push_back({.content = std::string(kEndOfText), .id = *special});
  return parts;
}

// Runs a step that reads one of the files.
template <class Step>
auto blaming(std::string_view name, Step step) {
  try {
    return step();
  } catch (const Refusal& refusal) {
    throw checkpoint::to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace

std::unique_ptr<Tokenizer> parse_gpt2_tokenizer(const NamedText& vocabulary,
                                                const NamedText& merges) {
  Vocabulary tokens = blaming(vocabulary.name, [&] {
    return read_vocabulary(checkpoint::parse_json(vocabulary.text), "tokens");
  });
  return blaming(merges.name, [&] {
    BytePairEncoding model(std::move(tokens), read_merges(merges.text), {});
    return std::make_unique<BytePairTokenizer>(parts_of(std::move(model)));
  });
}

}  // namespace dewpoint::text
