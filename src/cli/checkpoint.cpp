// dewpoint checkpoint: a model by itself. `generate` continues a text with the most probable
// tokens, `export` writes the model as a Hugging Face folder. Both show that the forward pass
// behind `dewpoint heads` is the model's own; neither is meant for serving.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/number_options.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/models/decoder.hpp"
#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::cli {
namespace {

struct GenerateOptions {
  CommonOptions common;
  std::string checkpoint;
  std::string tokenizer;
  std::string prompt;
  std::size_t steps = 200;
};

struct ExportOptions {
  std::string checkpoint;
  std::string folder;
  bool force = false;
};

std::filesystem::path tokenizer_path(const GenerateOptions& o) {
  if (!o.tokenizer.empty()) return o.tokenizer;
  const std::filesystem::path path = o.checkpoint;
  if (std::filesystem::is_directory(path)) return path;
  return path.has_parent_path() ? path.parent_path() : ".";
}

int run_generate(const GenerateOptions& o) {
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
  const std::vector<int> more =
      decoder.generate(prompt, o.steps, tokenizer->beginning(),
                       {o.common.threads, stop_token(), progress.callback()});
  all.insert(all.end(), more.begin(), more.end());
  const std::string text = tokenizer->decode(std::span(all).subspan(begins));
  print(
      {{{"answer", "checkpoint generate"}, {"version", version()}, {"tokens", all}, {"text", text}},
       text + "\n"},
      o.common.json);
  return 0;
}

void add_generate(Program& program, CLI::App& checkpoint) {
  CLI::App* verb =
      checkpoint.add_subcommand("generate", "Continue a text with the most probable tokens");
  const auto o = std::make_shared<GenerateOptions>();
  verb->add_option("checkpoint", o->checkpoint, "Folder with config.json, or llama2.c .bin")
      ->required();
  verb->add_option("--tokenizer", o->tokenizer, "Its file; default: beside the checkpoint");
  verb->add_option("--prompt", o->prompt, "How the text begins");
  verb->add_option("--steps", o->steps, "Tokens to add")
      ->transform(whole_number(question::in(1.0, 1e5)))
      ->capture_default_str();
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint checkpoint generate model.bin --prompt 'Once upon a time'");
  verb->callback([&program, o] { program.action = [o] { return run_generate(*o); }; });
}

void add_export(Program& program, CLI::App& checkpoint) {
  CLI::App* verb = checkpoint.add_subcommand("export", "Write a model as a Hugging Face folder");
  const auto o = std::make_shared<ExportOptions>();
  verb->add_option("checkpoint", o->checkpoint, "Folder with config.json, or llama2.c .bin")
      ->required();
  verb->add_option("-o,--output", o->folder, "Folder for config.json and model.safetensors")
      ->required();
  add_force(*verb, o->force);
  add_example(*verb, "dewpoint checkpoint export model.bin -o model");
  verb->callback([&program, o] {
    program.action = [o] {
      models::Decoder::open(o->checkpoint).save({o->folder, o->force});
      fmt::print("model   {}\n", o->folder);
      return 0;
    };
  });
}

}  // namespace

void add_checkpoint(Program& program) {
  CLI::App* checkpoint =
      program.app.add_subcommand("checkpoint", "A model by itself: generate, export");
  checkpoint->group("");  // not among the verbs that are shown
  checkpoint->require_subcommand(1, 1);
  add_generate(program, *checkpoint);
  add_export(program, *checkpoint);
}

}  // namespace dewpoint::cli
