#include "dewpoint/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "dewpoint/checkpoint/mapped_file.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/gpt2_tokenizer.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "dewpoint/text/llama2c_tokenizer.hpp"
#include "dewpoint/text/sentencepiece_tokenizer.hpp"

namespace dewpoint::text {
namespace {

namespace fs = std::filesystem;
using checkpoint::MappedFile;

constexpr const char* kAllowed =
    "tokenizer.json, tokenizer.model, vocab.json with merges.txt, one *.model, tokenizer.bin or "
    "token_mappings.json";

[[noreturn]] void refuse(const fs::path& path, std::string field, std::string found) {
  throw checkpoint::to_error(Code::unreadable_file, path.string(),
                             {std::move(field), std::move(found), kAllowed});
}

std::unique_ptr<Tokenizer> open_gpt2(const fs::path& folder) {
  const fs::path vocabulary = folder / "vocab.json", merges = folder / "merges.txt";
  const MappedFile tokens(vocabulary, "vocab.json beside merges.txt");
  const MappedFile ranks(merges, "merges.txt beside vocab.json");
  return parse_gpt2_tokenizer({tokens.text(), vocabulary.string()},
                              {ranks.text(), merges.string()});
}

std::unique_ptr<Tokenizer> open_file(const fs::path& path) {
  const fs::path name = path.filename(), extension = path.extension();
  if (name == "vocab.json" || name == "merges.txt") return open_gpt2(path.parent_path());
  const MappedFile file(path, kAllowed);
  if (extension == ".json") return parse_json_tokenizer(file.text(), path.string());
  if (extension == ".model") return parse_sentencepiece(file.text(), path.string());
  if (extension == ".bin") return parse_llama2c_tokenizer(file.text(), path.string());
  refuse(path, "name", fmt::format("'{}'", checkpoint::excerpt(name.string())));
}

std::vector<fs::path> models_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".model") found.push_back(entry.path());
  }
  if (error) refuse(folder, "folder", error.message());
  return found;
}

// Empty where there is none.
fs::path only_model_in(const fs::path& folder) {
  const std::vector<fs::path> found = models_in(folder);
  if (found.size() > 1) refuse(folder, "folder", fmt::format("{} files *.model", found.size()));
  return found.empty() ? fs::path() : found.front();
}

std::unique_ptr<Tokenizer> open_folder(const fs::path& folder) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  for (const char* name : {"tokenizer.json", "tokenizer.model"}) {
    if (has(name)) return open_file(folder / name);
  }
  if (has("vocab.json") && has("merges.txt")) return open_gpt2(folder);
  if (const fs::path model = only_model_in(folder); !model.empty()) return open_file(model);
  for (const char* name : {"tokenizer.bin", "token_mappings.json"}) {
    if (has(name)) return open_file(folder / name);
  }
  refuse(folder, "folder", "no tokenizer");
}

}  // namespace

std::unique_ptr<Tokenizer> open_tokenizer(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? open_folder(path) : open_file(path);
}

}  // namespace dewpoint::text
