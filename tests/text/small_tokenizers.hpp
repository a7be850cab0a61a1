// Small tokenizers of the shapes that real models have, trained on sentences about boats.
//
// The merges were learned by the Python package `tokenizers` 0.23.3. A vocabulary is the special
// tokens, then the alphabet, then what the merges make, in this order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dewpoint/text/byte_alphabet.hpp"

namespace dewpoint::test {

using Json = nlohmann::ordered_json;

inline const std::vector<std::string> kByteMerges{
    "Ġ t",     "r i",   "t s",     "h e",      "a n",      "e r",   "u n",   "Ġ b",   "Ġt he",
    "o a",     "c o",   "d g",     "d ri",     "d er",     "f t",   "f er",  "l d",   "o ld",
    "Ġ an",    "Ġ un",  "Ġ co",    "Ġ dri",    "Ġ fer",    "Ġ old", "ri dg", "un ts", "Ġb oa",
    "Ġb ridg", "Ġan d", "Ġun der", "Ġco unts", "Ġbridg e", "l l",   "v e",   "w e",   "a r"};

inline const std::vector<std::string> kBlankMerges{
    "▁ t", "r i",  "t s", "▁ a",  "▁ b", "h e", "▁t he", "e r",  "n d",  "o a",   "▁b oa", "c o",
    "d g", "d ri", "f t", "f er", "l d", "m a", "n ts",  "o ld", "u nd", "u nts", "▁ co",  "▁ dri"};

inline void add_merged(Json& vocabulary, const std::vector<std::string>& merges) {
  for (std::string merge : merges) {
    merge.erase(merge.find(' '), 1);
    if (!vocabulary.contains(merge)) vocabulary[merge] = vocabulary.size();
  }
}

inline Json special_token(int id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// Letters for bytes and <|endoftext|>, as GPT-2 has them.
inline Json byte_vocabulary() {
  Json vocabulary{{"<|endoftext|>", 0}};
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(static_cast<unsigned char>(byte)));
    vocabulary[text::letters_of_bytes(bytes)] = byte + 1;
  }
  add_merged(vocabulary, kByteMerges);
  return vocabulary;
}

/// Tokens for bytes, lower-case letters and sentencepiece's blank, as Llama 2 has them.
inline Json blank_vocabulary() {
  Json vocabulary{{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[fmt::format("<0x{:02X}>", byte)] = byte + 3;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    vocabulary[std::string(1, letter)] = vocabulary.size();
  }
  vocabulary["▁"] = vocabulary.size();
  add_merged(vocabulary, kBlankMerges);
  return vocabulary;
}

inline Json byte_level(bool blank_in_front, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", blank_in_front},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

inline Json gpt2_json() {
  return {{"version", "1.0"},
          {"added_tokens", Json::array({special_token(0, "<|endoftext|>")})},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level(false, true)},
          {"post_processor", nullptr},
          {"decoder", byte_level(false, true)},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", byte_vocabulary()},
            {"merges", kByteMerges}}}};
}

/// The expression of Llama 3, a word that no merge makes, and merges as pairs.
inline Json llama3_json() {
  Json document = gpt2_json();
  const char* expression =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const Json split{{"type", "Split"},
                   {"pattern", {{"Regex", expression}}},
                   {"behavior", "Isolated"},
                   {"invert", false}};
  document["pre_tokenizer"] = {{"type", "Sequence"},
                               {"pretokenizers", Json::array({split, byte_level(false, false)})}};
  Json& model = document["model"];
  model["ignore_merges"] = true;
  model["vocab"]["Ġraftbridge"] = model["vocab"].size();
  Json pairs = Json::array();
  for (const std::string& merge : kByteMerges) {
    const std::size_t blank = merge.find(' ');
    pairs.push_back(Json::array({merge.substr(0, blank), merge.substr(blank + 1)}));
  }
  model["merges"] = pairs;
  return document;
}

inline Json blank_decoder() {
  return {{"type", "Sequence"},
          {"decoders",
           Json::array({{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
                        {{"type", "ByteFallback"}},
                        {{"type", "Fuse"}},
                        {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}})}};
}

/// Blanks by Prepend and Replace, unknown characters by their bytes, <s> in front.
inline Json llama2_json() {
  const Json prepend{{"type", "Prepend"}, {"prepend", "▁"}};
  const Json replace{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  const Json beginning{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const Json sequence{{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  return {{"added_tokens", Json::array({special_token(0, "<unk>"), special_token(1, "<s>"),
                                        special_token(2, "</s>")})},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", Json::array({prepend, replace})}}},
          {"pre_tokenizer", nullptr},
          {"post_processor",
           {{"type", "TemplateProcessing"}, {"single", Json::array({beginning, sequence})}}},
          {"decoder", blank_decoder()},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", blank_vocabulary()},
            {"merges", kBlankMerges}}}};
}

inline Json metaspace_json(const std::string& scheme, bool split) {
  Json document = llama2_json();
  document["normalizer"] = nullptr;
  document["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", split}};
  return document;
}

}  // namespace dewpoint::test
