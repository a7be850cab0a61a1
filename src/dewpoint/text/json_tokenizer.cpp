#include "dewpoint/text/json_tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/hugging_face_tokenizer.hpp"
#include "dewpoint/text/json_field.hpp"
#include "dewpoint/text/word_tokenizer.hpp"

namespace dewpoint::text {
namespace {

std::unique_ptr<Tokenizer> read(const nlohmann::ordered_json& document) {
  const JsonField file(document, "");
  if (!file["model"].is_null()) return read_hugging_face_tokenizer(document);
  if (!file["token2id"].is_null()) return read_word_tokenizer(document);
  file.refuse(R"(a tokenizer.json (with "model") or a list of words (with "token2id"))");
}

}  // namespace

std::unique_ptr<Tokenizer> parse_json_tokenizer(std::string_view text, std::string_view name) {
  try {
    return read(checkpoint::parse_json(text));
  } catch (const checkpoint::Refusal& refusal) {
    throw checkpoint::to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::text
