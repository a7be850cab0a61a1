#include "dewpoint/text/hugging_face_tokenizer.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/text/byte_pair_tokenizer.hpp"
#include "dewpoint/text/json_field.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::Refusal;
using Pair = BytePairEncoding::Pair;

// --- the model -----------------------------------------------------------------------------------

Pair read_merge(const JsonField& field) {
  constexpr std::string_view allowed = R"("left right" or ["left", "right"])";
  if (field.value().is_array()) {
    const std::vector<JsonField> tokens = field.list();
    if (tokens.size() != 2) field.refuse(allowed);
    return {tokens[0].text(), tokens[1].text()};
  }
  if (!field.value().is_string()) field.refuse(allowed);
  const std::string text = field.text();
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) {
    field.refuse(allowed);
  }
  return {text.substr(0, blank), text.substr(blank + 1)};
}

std::vector<Pair> read_merges(const JsonField& field) {
  std::vector<Pair> merges;
  for (const JsonField& merge : field.list()) merges.push_back(read_merge(merge));
  return merges;
}

// What would change ids and is not done here.
void refuse_unknown_ways(const JsonField& model) {
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model[affix].text_or("").empty()) model[affix].refuse("null or an empty text");
  }
  const JsonField dropout = model["dropout"];
  if (!dropout.is_null() && dropout.value() != 0) dropout.refuse("null: ids must not be random");
}

BytePairEncoding read_model(const JsonField& model) {
  // Files of old leave the type out where it is BPE.
  if (model["type"].text_or("BPE") != "BPE") model["type"].refuse("the model type BPE");
  refuse_unknown_ways(model);
  BytePairOptions options{.unknown = model["unk_token"].text_or(""),
                          .fuse_unknown = model["fuse_unk"].flag_or(false),
                          .byte_fallback = model["byte_fallback"].flag_or(false),
                          .ignore_merges = model["ignore_merges"].flag_or(false)};
  const JsonField vocabulary = model["vocab"];
  return {read_vocabulary(vocabulary.value(), vocabulary.path()), read_merges(model["merges"]),
          std::move(options)};
}

// --- the tokens that begin and end a text --------------------------------------------------------

// The name of the special token that a post-processor puts before the text; empty where none.
std::string template_beginning(const JsonField& processor) {
  if (processor.is_null()) return {};
  const std::string type = processor.type();
  if (type == "Sequence") {
    for (const JsonField& step : processor["processors"].list()) {
      if (std::string name = template_beginning(step); !name.empty()) return name;
    }
  }
  if (type != "TemplateProcessing") return {};
  const std::vector<JsonField> parts = processor["single"].list();
  if (parts.empty()) return {};
  return parts.front()["SpecialToken"]["id"].text_or("");
}

std::optional<int> id_of(std::string_view name, const BytePairParts& parts) {
  for (const AddedToken& token : parts.added) {
    if (token.content == name) return token.id;
  }
  return std::nullopt;
}

std::optional<int> customary(std::initializer_list<std::string_view> names,
                             const BytePairParts& parts) {
  for (const std::string_view name : names) {
    if (const auto id = id_of(name, parts)) return id;
  }
  return std::nullopt;
}

void find_ends(const JsonField& processor, BytePairParts& parts) {
  const std::string beginning = template_beginning(processor);
  parts.beginning = beginning.empty() ? customary({"<s>", "<|begin_of_text|>", "<bos>"}, parts)
                                      : id_of(beginning, parts);
  if (!beginning.empty() && !parts.beginning) {
    processor.refuse(fmt::format("an added token for '{}'", checkpoint::excerpt(beginning)));
  }
  parts.end = customary({"</s>", "<|end_of_text|>", "<eos>", "<|endoftext|>"}, parts);
}

}  // namespace

std::unique_ptr<Tokenizer> read_hugging_face_tokenizer(const nlohmann::ordered_json& document) {
  const JsonField file(document, "");
  BytePairParts parts{.kind = "tokenizer.json BPE",
                      .model = read_model(file["model"]),
                      .added = read_added_tokens(file["added_tokens"]),
                      .normalizer = read_normalizer(file["normalizer"]),
                      .pre_tokenizer = read_pre_tokenizer(file["pre_tokenizer"]),
                      .decoder = read_token_decoder(file["decoder"]),
                      .beginning = std::nullopt,
                      .end = std::nullopt};
  find_ends(file["post_processor"], parts);
  return std::make_unique<BytePairTokenizer>(std::move(parts));
}

}  // namespace dewpoint::text
