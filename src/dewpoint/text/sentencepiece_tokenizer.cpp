#include "dewpoint/text/sentencepiece_tokenizer.hpp"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <exception>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/sentencepiece_guard.hpp"
#include "dewpoint/text/vocabulary.hpp"

namespace dewpoint::text {
namespace {

using sentencepiece::SentencePieceProcessor;
using sentencepiece::util::Status;

std::optional<int> if_defined(int id) {
  if (id < 0) return std::nullopt;
  return id;
}

// The library answers with a status; a trie it cannot build, or no memory, it throws.
template <class Action>
void demand(Action action, Code code, std::string_view name, std::string_view what) {
  std::string complaint;
  try {
    const Status status = action();
    if (status.ok()) return;
    complaint = status.ToString();
  } catch (const std::exception& thrown) {
    complaint = thrown.what();
  }
  throw Error(code, fmt::format("{}: sentencepiece cannot {}: found '{}', allowed: models and "
                                "texts that its library takes",
                                name, what, checkpoint::excerpt(complaint)));
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view model, std::string_view name) {
    demand([&] { return processor_.LoadFromSerializedProto(model); }, Code::malformed_file, name,
           "load the model");
  }

  std::string kind() const override { return "sentencepiece"; }
  std::size_t size() const override { return static_cast<std::size_t>(processor_.GetPieceSize()); }
  std::optional<int> beginning() const override { return if_defined(processor_.bos_id()); }
  std::optional<int> end() const override { return if_defined(processor_.eos_id()); }

  std::vector<int> encode(std::string_view text) const override {
    expect_utf8(text);
    std::vector<int> ids;
    demand([&] { return processor_.Encode(text, &ids); }, Code::bad_value, "text", "encode it");
    return ids;
  }

  std::string decode(std::span<const int> ids) const override {
    for (const int id : ids) {
      if (id < 0 || id >= processor_.GetPieceSize()) refuse_id(id, size());
    }
    std::string text;
    const std::vector<int> copy(ids.begin(), ids.end());
    demand([&] { return processor_.Decode(copy, &text); }, Code::bad_value, "tokens",
           "decode them");
    return text;
  }

 private:
  SentencePieceProcessor processor_;
};

}  // namespace

std::unique_ptr<Tokenizer> parse_sentencepiece(std::string_view model, std::string_view name) {
  try {
    check_sentencepiece_model(model);
  } catch (const checkpoint::Refusal& refusal) {
    throw checkpoint::to_error(Code::malformed_file, name, refusal);
  }
  return std::make_unique<SentencePieceTokenizer>(model, name);
}

}  // namespace dewpoint::text
