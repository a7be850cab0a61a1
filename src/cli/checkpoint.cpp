// dewpoint checkpoint: a model by itself. `generate` continues a text with the most probable
// tokens, `export` writes the model as a Hugging Face folder. Both show that the forward pass
// behind `dewpoint heads` is the model's own; neither is meant for serving.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/model_text.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/models/decoder.hpp"
#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::cli {
namespace {

struct GenerateVerb {
  std::string checkpoint;
  std::string tokenizer;
  std::string prompt;
  std::size_t steps = 200;
  int threads = 0;
};

template <class Visitor>
void describe(Visitor& visit, GenerateVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe_checkpoint(visit, q.checkpoint);
  visit("tokenizer", q.tokenizer, file("tokenizer"), "its file",
        otherwise("beside the checkpoint"));
  visit("prompt", q.prompt, "how the text begins");
  visit("steps", q.steps, in(1.0, 1e5), "tokens to add");
  describe_threads(visit, q.threads);
}

struct ExportVerb {
  std::string checkpoint;
  std::string folder;
  bool force = false;
};

template <class Visitor>
void describe(Visitor& visit, ExportVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe_checkpoint(visit, q.checkpoint);
  visit("output", q.folder, letter('o'), required, file("folder"),
        "folder for config.json and model.safetensors");
  describe_force(visit, q.force);
}

std::filesystem::path tokenizer_path(const GenerateVerb& o) {
  if (!o.tokenizer.empty()) return o.tokenizer;
  const std::filesystem::path path = o.checkpoint;
  if (std::filesystem::is_directory(path)) return path;
  return path.has_parent_path() ? path.parent_path() : ".";
}

Answer generate_answer(const GenerateVerb& o) {
  const models::Decoder decoder = models::Decoder::open(o.checkpoint);
  const auto tokenizer = text::open_tokenizer(tokenizer_path(o));
  std::vector<int> prompt;
  if (tokenizer->beginning()) prompt.push_back(*tokenizer->beginning());
  const std::vector<int> said = tokenizer->encode(o.prompt);
  if (!o.prompt.empty()) prompt.insert(prompt.end(), said.begin(), said.end());
  if (prompt.empty()) {
    throw Error(Code::bad_value,
                "prompt: this tokenizer has no token to begin with; give --prompt");
  }
  const std::size_t begins = tokenizer->beginning() ? 1 : 0;
  ProgressLine progress("generate");
  std::vector<int> all = prompt;
  const std::vector<int> more = decoder.generate(prompt, o.steps, tokenizer->beginning(),
                                                 {o.threads, stop_token(), progress.callback()});
  all.insert(all.end(), more.begin(), more.end());
  const std::string text = tokenizer->decode(std::span(all).subspan(begins));
  return {
      {{"answer", "checkpoint generate"}, {"version", version()}, {"tokens", all}, {"text", text}},
      text + "\n"};
}

Answer export_answer(const ExportVerb& o) {
  models::Decoder::open(o.checkpoint).save({o.folder, o.force});
  return {{{"answer", "checkpoint export"}, {"version", version()}, {"model", o.folder}},
          fmt::format("model   {}\n", o.folder)};
}

}  // namespace

Verb checkpoint_verb() {
  return group_of("checkpoint", "A model by itself: generate, export", true);
}

Verb checkpoint_generate_verb() {
  return verb_of<GenerateVerb>(
      "checkpoint generate", "Continue a text with the most probable tokens",
      "dewpoint checkpoint generate model.bin --prompt 'Once upon a time'", generate_answer);
}

Verb checkpoint_export_verb() {
  return verb_of<ExportVerb>("checkpoint export", "Write a model as a Hugging Face folder",
                             "dewpoint checkpoint export model.bin -o model", export_answer);
}

}  // namespace dewpoint::cli
