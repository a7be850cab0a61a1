#include "dewpoint/checkpoint/tensor_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/foreign_file.hpp"
#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/npy_array.hpp"
#include "dewpoint/checkpoint/npz.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/safetensors.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr const char* kAllowed = "a .safetensors, .npz or .npy file, or an index of shards";

// What one file or several contribute.
struct Parts {
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
  std::vector<std::shared_ptr<const void>> storage;
};

[[noreturn]] void refuse(const fs::path& path, const Refusal& refusal) {
  throw to_error(Code::malformed_file, path.string(), refusal);
}

// --- single files --------------------------------------------------------------------------------

enum class Format { safetensors, npz, npy, index };

// The extension decides, so that a damaged file is judged as what it should be; without one that we
// know, the first bytes do.
Format format_of(const fs::path& path, std::string_view front) {
  const fs::path extension = path.extension();
  if (extension == ".json") return Format::index;
  if (extension == ".npz") return Format::npz;
  if (extension == ".npy") return Format::npy;
  if (extension == ".safetensors") return Format::safetensors;
  if (front.starts_with("PK")) return Format::npz;
  return front.starts_with("\x93NUMPY") ? Format::npy : Format::safetensors;
}

using FilePointer = std::shared_ptr<const ForeignFile>;

Parts read_safetensors(const FilePointer& file, const fs::path& path) {
  SafetensorsContent content = parse_safetensors(file, path.string());
  return {std::move(content.tensors), std::move(content.metadata), {}};
}

Parts read_npz(const FilePointer& file, const fs::path& path) {
  NpzContent content = parse_npz(file, path.string());
  return {std::move(content.tensors), {}, std::move(content.storage)};
}

Parts read_npy(const FilePointer& file, const fs::path& path) {
  NpyArray array = parse_npy_array(file, path.string());
  array.tensor.name = "array";
  return {{std::move(array.tensor)}, {}, {std::move(array.storage)}};
}

// --- shards --------------------------------------------------------------------------------------

// A shard lies beside its index: a name that leads elsewhere could make us read any file.
void check_shard_name(const fs::path& index, const std::string& name) {
  const bool plain = !name.empty() && name != "." && name != ".." &&
                     name.find_first_of("/\\") == std::string::npos;
  if (plain) return;
  refuse(index, {"weight_map", fmt::format("the file '{}'", excerpt(name)),
                 "names of files in the same folder"});
}

using WeightMap = std::map<std::string, std::string>;  // tensor to shard

WeightMap weight_map_of(const fs::path& index, std::string_view text) {
  Json json;
  try {
    json = parse_json(text);
  } catch (const Refusal& refusal) {
    refuse(index, refusal);
  }
  const auto found = json.is_object() ? json.find("weight_map") : json.end();
  if (found == json.end() || !found->is_object() || found->empty()) {
    refuse(index, {"weight_map", "none", "an object of tensors' names and their files"});
  }
  WeightMap weights;
  for (const auto& [tensor, shard] : found->items()) {
    if (!shard.is_string()) {
      refuse(index, {"weight_map", excerpt(shard.dump()), "the name of a file"});
    }
    check_shard_name(index, shard.get_ref<const std::string&>());
    weights.emplace(tensor, shard.get_ref<const std::string&>());
  }
  return weights;
}

void append(Parts& all, Parts part) {
  std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(all.tensors));
  std::move(part.storage.begin(), part.storage.end(), std::back_inserter(all.storage));
  all.metadata.merge(part.metadata);
}

// Every tensor of the index must be in the shard it names, and in no other.
Parts read_shards(const fs::path& index, std::string_view text) {
  const WeightMap weights = weight_map_of(index, text);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : weights) shards.insert(shard);

  Parts all;
  std::map<std::string, std::string> homes;
  for (const std::string& shard : shards) {
    const fs::path path = index.parent_path() / shard;
    Parts part =
        read_safetensors(std::make_shared<const ForeignFile>(path, "a shard of the model"), path);
    for (const Tensor& tensor : part.tensors) {
      const auto [home, first] = homes.emplace(tensor.name, shard);
      if (first) continue;
      refuse(index, {fmt::format("'{}'", excerpt(tensor.name)),
                     fmt::format("it in '{}' and '{}'", excerpt(home->second), excerpt(shard)),
                     "one shard"});
    }
    append(all, std::move(part));
  }
  for (const auto& [tensor, shard] : weights) {
    const auto home = homes.find(tensor);
    if (home != homes.end() && home->second == shard) continue;
    refuse(index, {fmt::format("'{}'", excerpt(tensor)),
                   fmt::format("no such tensor in '{}'", excerpt(shard)), "what weight_map says"});
  }
  return all;
}

// --- the door ------------------------------------------------------------------------------------

// The file that a folder stands for.
fs::path file_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  for (const char* name : {kSingleFile, kIndexFile}) {
    if (fs::exists(path / name, ignored)) return path / name;
  }
  throw to_error(
      Code::unreadable_file, path.string(),
      {"folder", "neither", fmt::format("a folder with {} or {}", kSingleFile, kIndexFile)});
}

Parts read_parts(const fs::path& path) {
  const auto file = std::make_shared<const ForeignFile>(path, kAllowed);
  switch (format_of(path, ByteSource(file).text(0, 8))) {
    case Format::index:
      return read_shards(path, file->text());
    case Format::npz:
      return read_npz(file, path);
    case Format::npy:
      return read_npy(file, path);
    case Format::safetensors:
      break;
  }
  return read_safetensors(file, path);
}

bool earlier(const Tensor& a, const Tensor& b) { return a.name < b.name; }

}  // namespace

TensorArchive TensorArchive::open(const fs::path& path) {
  Parts parts = read_parts(file_of(path));
  std::sort(parts.tensors.begin(), parts.tensors.end(), earlier);
  TensorArchive archive;
  archive.name_ = path.string();
  archive.tensors_ = std::move(parts.tensors);
  archive.metadata_ = std::move(parts.metadata);
  archive.storage_ = std::move(parts.storage);
  return archive;
}

const Tensor* TensorArchive::find(const std::string& name) const {
  const auto it =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const Tensor& tensor, const std::string& n) { return tensor.name < n; });
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

const Tensor& TensorArchive::at(const std::string& name) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
  const auto nearest = nearest_word(name, names);
  throw to_error(Code::malformed_file, name_,
                 {fmt::format("tensor '{}'", excerpt(name)), "no such tensor",
                  nearest ? fmt::format("for instance '{}'", excerpt(*nearest))
                          : fmt::format("one of its {} tensors", names.size())});
}

}  // namespace dewpoint::checkpoint
