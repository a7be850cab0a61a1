#include "dewpoint/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "dewpoint/checkpoint/foreign_file.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/gpt2_tokenizer.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "dewpoint/text/llama2c_tokenizer.hpp"
#include "dewpoint/text/sentencepiece_tokenizer.hpp"

namespace dewpoint::text {
namespace {

namespace fs = std::filesystem;
using checkpoint::ForeignFile;

constexpr const char* kAllowed =
    "tokenizer.json, tokenizer.model, vocab.json with merges.txt, one *.model, tokenizer.bin or "
    "token_mappings.json";

[[noreturn]] void refuse(const fs::path& path, std::string field, std::string found) {
  throw checkpoint::to_error(Code::unreadable_file, path.string(),
                             {std::move(field), std::move(found), kAllowed});
}

std::string content_of(const fs::path& path) { return ForeignFile(path, kAllowed).text(); }

std::unique_ptr<Tokenizer> open_gpt2(const fs::path& folder) {
  const fs::path vocabulary = folder / "vocab.json", merges = folder / "merges.txt";
  const std::string tokens = ForeignFile(vocabulary, "vocab.json beside merges.txt").text();
  const std::string ranks = ForeignFile(merges, "merges.txt beside vocab.json").text();
  return parse_gpt2_tokenizer({tokens, vocabulary.string()}, {ranks, merges.string()});
}

std::unique_ptr<Tokenizer> open_file(const fs::path& path) {
  const fs::path name = path.filename(), extension = path.extension();
  if (name == "vocab.json" || name == "merges.txt") return open_gpt2(path.parent_path());
  const std::string text = content_of(path);
  if (extension == ".json") return parse_json_tokenizer(text, path.string());
  if (extension == ".model") return parse_sentencepiece(text, path.string());
  if (extension == ".bin") return parse_llama2c_tokenizer(text, path.string());
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

fs::path file_in(const fs::path& folder) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  for (const char* name : {"tokenizer.json", "tokenizer.model"}) {
    if (has(name)) return folder / name;
  }
  if (has("vocab.json") && has("merges.txt")) return folder / "vocab.json";
  if (fs::path model = only_model_in(folder); !model.empty()) return model;
  for (const char* name : {"tokenizer.bin", "token_mappings.json"}) {
    if (has(name)) return folder / name;
  }
  refuse(folder, "folder", "no tokenizer");
}

/// The file that stands for the tokenizer at this path.
fs::path file_at(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? file_in(path) : path;
}

}  // namespace

std::unique_ptr<Tokenizer> open_tokenizer(const fs::path& path) { return open_file(file_at(path)); }

TokenizerFiles tokenizer_files(const fs::path& path) {
  const fs::path file = file_at(path), name = file.filename(), extension = file.extension();
  if (name == "vocab.json" || name == "merges.txt") {
    const fs::path folder = file.parent_path();
    return {{"vocab.json", content_of(folder / "vocab.json")},
            {"merges.txt", content_of(folder / "merges.txt")}};
  }
  if (name == "token_mappings.json") return {{name.string(), content_of(file)}};
  return {{"tokenizer" + extension.string(), content_of(file)}};
}

std::optional<std::string> tokenizer_file_in(const fs::path& folder, const TokenizerFiles& but) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool known =
        std::any_of(but.begin(), but.end(), [&](const auto& file) { return file.first == name; });
    const bool reads_as_one = entry.path().extension() == ".model" || name == "vocab.json" ||
                              name == "merges.txt" || name == "tokenizer.json" ||
                              name == "tokenizer.bin" || name == "token_mappings.json";
    if (reads_as_one && !known) return name;
  }
  return std::nullopt;
}

}  // namespace dewpoint::text
