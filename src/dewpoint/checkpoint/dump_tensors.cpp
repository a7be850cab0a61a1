#include "dewpoint/checkpoint/dump_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetadata = "metadata";
constexpr const char* kAllowedNames =
    "layers.{l}.q and layers.{l}.k, blocks.{l}.attn.hook_rot_q and hook_rot_k, or q and k";

Error malformed(const std::string& file, std::string field, std::string found,
                std::string allowed) {
  return to_error(Code::malformed_file, file,
                  {std::move(field), std::move(found), std::move(allowed)});
}

// --- names ---------------------------------------------------------------------------------------

enum class Naming { own, transformer_lens, bare };

struct Place {
  Naming naming;
  std::size_t layer;
  std::string_view part;  // "q", "k", "v", "sink", or "rot_q", "rot_k"
};

// "12" and neither "012" nor "+12": every layer has one name. Longer ones are no layer's.
std::optional<std::size_t> plain_number(std::string_view digits) {
  constexpr std::size_t most_digits = 6;
  std::size_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, number);
  const bool padded = digits.size() > 1 && digits.front() == '0';
  if (failure != std::errc{} || stop != end || padded || digits.size() > most_digits) return {};
  return number;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The place of "<prefix><layer><middle><part>".
std::optional<Place> numbered_place(Naming naming, std::string_view name, std::string_view prefix,
                                    std::string_view middle) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || !name.substr(dot).starts_with(middle)) return {};
  const std::optional<std::size_t> layer = plain_number(name.substr(0, dot));
  if (!layer) return {};
  return Place{naming, *layer, name.substr(dot + middle.size())};
}

std::optional<Place> place_of(std::string_view name) {
  if (one_of(name, {"q", "k", "v", "sink"})) return Place{Naming::bare, 0, name};
  const auto own = numbered_place(Naming::own, name, "layers.", ".");
  if (own && one_of(own->part, {"q", "k", "v", "sink"})) return own;
  const auto hook = numbered_place(Naming::transformer_lens, name, "blocks.", ".attn.hook_");
  if (hook && one_of(hook->part, {"q", "k", "v", "rot_q", "rot_k"})) return hook;
  return {};
}

std::string name_of(Naming naming, std::size_t layer, std::string_view part) {
  if (naming == Naming::bare) return std::string(part);
  if (naming == Naming::own) return fmt::format("layers.{}.{}", layer, part);
  return fmt::format("blocks.{}.attn.hook_{}", layer, part);
}

// --- layers --------------------------------------------------------------------------------------

using Parts = std::map<std::string, const DumpPiece*, std::less<>>;

// The pieces of all layers by what they are.
struct Sorted {
  std::optional<Naming> naming;
  std::string first_name;
  std::map<std::size_t, Parts> layers;
};

Sorted sorted_pieces(const std::vector<DumpPiece>& pieces, const std::string& name) {
  Sorted sorted;
  for (const DumpPiece& piece : pieces) {
    const std::optional<Place> place = place_of(piece.name);
    if (!place) continue;
    if (!sorted.naming) {
      sorted.naming = place->naming;
      sorted.first_name = piece.name;
    }
    if (place->naming != *sorted.naming) {
      throw malformed(name, "names", fmt::format("'{}' beside '{}'", piece.name, sorted.first_name),
                      fmt::format("one kind of names: {}", kAllowedNames));
    }
    if (!sorted.layers[place->layer].emplace(place->part, &piece).second) {
      throw malformed(name, piece.name, "it in two files", "every tensor once");
    }
  }
  return sorted;
}

void refuse_absence(const std::vector<DumpPiece>& pieces, const std::string& name) {
  const std::string found = pieces.empty()
                                ? "no tensor"
                                : fmt::format("{} of other names, '{}' the first", pieces.size(),
                                              excerpt(pieces.front().name));
  throw malformed(name, "tensors", found, kAllowedNames);
}

std::optional<DumpPiece> optional_part(const Parts& parts, std::string_view part) {
  const auto found = parts.find(part);
  return found == parts.end() ? std::nullopt : std::optional(*found->second);
}

DumpPiece required_part(const Parts& parts, Naming naming, std::size_t layer,
                        std::string_view part) {
  std::optional<DumpPiece> piece = optional_part(parts, part);
  if (piece) return *std::move(piece);
  const DumpPiece& other = *parts.begin()->second;
  throw malformed(other.file, name_of(naming, layer, part), "no such tensor",
                  fmt::format("one beside '{}'", other.name));
}

bool is_rotated(const Sorted& sorted) {
  return std::any_of(sorted.layers.begin(), sorted.layers.end(), [](const auto& layer) {
    return layer.second.contains("rot_q") || layer.second.contains("rot_k");
  });
}

}  // namespace

DumpTensors tensors_of_layers(const std::vector<DumpPiece>& pieces, const std::string& name) {
  const Sorted sorted = sorted_pieces(pieces, name);
  if (sorted.layers.empty()) refuse_absence(pieces, name);

  const Naming naming = *sorted.naming;
  const bool rotated = is_rotated(sorted);
  DumpTensors result;
  result.transformer_lens = naming == Naming::transformer_lens;
  result.before_rotation = result.transformer_lens && !rotated;
  for (const auto& [number, parts] : sorted.layers) {
    result.layers.push_back({number, required_part(parts, naming, number, rotated ? "rot_q" : "q"),
                             required_part(parts, naming, number, rotated ? "rot_k" : "k"),
                             optional_part(parts, "v"), optional_part(parts, "sink")});
  }
  return result;
}

// --- files ---------------------------------------------------------------------------------------

namespace {

std::string scalar_text(const std::string& key, const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw Refusal{fmt::format("metadata key '{}'", excerpt(key)), value.type_name(),
                "a text, a number, true, false or null"};
}

DumpMetadata parse_member(const Tensor& member) {
  const std::optional<std::string> text = text_of(member);
  if (!text) throw Refusal{kMetadata, "an array of numbers", "a text, or its bytes as u8"};
  const nlohmann::ordered_json object = parse_json(*text);
  if (!object.is_object()) throw Refusal{kMetadata, object.type_name(), "one JSON object"};
  DumpMetadata metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_null()) metadata[key] = scalar_text(key, value);
  }
  return metadata;
}

DumpMetadata metadata_in(const Tensor& member, const std::string& file) {
  try {
    return parse_member(member);
  } catch (Refusal& refusal) {
    if (refusal.field.starts_with("byte")) refusal.field.insert(0, "metadata, ");
    throw to_error(Code::malformed_file, file, refusal);
  }
}

// Adds a file to a dump of several.
void append(DumpPieces& all, DumpPieces more) {
  if (all.metadata.empty()) {
    all.metadata = std::move(more.metadata);
  } else if (!more.metadata.empty() && more.metadata != all.metadata) {
    throw malformed(more.archives.front().name(), kMetadata, "others than in the files before it",
                    "the same metadata in all files of a folder");
  }
  std::move(more.pieces.begin(), more.pieces.end(), std::back_inserter(all.pieces));
  std::move(more.archives.begin(), more.archives.end(), std::back_inserter(all.archives));
}

// The one array of an .npy file under the name of a tensor.
DumpPieces single_piece(const fs::path& file, std::string name) {
  TensorArchive archive = TensorArchive::open(file);
  std::vector<Tensor> tensors = archive.tensors();
  if (tensors.size() != 1) {
    throw malformed(file.string(), "file", fmt::format("{} tensors", tensors.size()), "one array");
  }
  tensors.front().name = std::move(name);
  DumpPieces pieces = pieces_of(tensors, archive.metadata(), archive.name());
  pieces.archives.push_back(std::move(archive));
  return pieces;
}

// The last number in a file's name.
std::optional<std::size_t> file_number(std::string_view stem) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t last = stem.find_last_of(digits);
  if (last == std::string_view::npos) return {};
  const std::size_t before = stem.find_last_not_of(digits, last);
  std::string_view number = stem.substr(before + 1, last - before);  // npos + 1 is 0
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size() - 1));
  return plain_number(number);
}

// A file that holds one layer under bare names: which one, its own name must say.
DumpPieces layer_pieces(const fs::path& file) {
  DumpPieces pieces = pieces_of(TensorArchive::open(file));
  for (DumpPiece& piece : pieces.pieces) {
    const std::optional<Place> place = place_of(piece.name);
    if (!place || place->naming != Naming::bare) continue;
    const std::optional<std::size_t> number = file_number(file.stem().string());
    if (!number) {
      throw malformed(file.string(), "file name", "no number in it",
                      "the number of the layer, as in layer_12.npz");
    }
    piece.name = name_of(Naming::own, *number, place->part);
  }
  return pieces;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string extension = entry->path().extension().string();
    if (one_of(extension, {".safetensors", ".npz", ".npy"})) files.push_back(entry->path());
  }
  if (error) {
    throw to_error(Code::unreadable_file, folder.string(),
                   {"folder", error.message(), "a readable folder"});
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

DumpPieces pieces_of(std::span<const Tensor> tensors, DumpMetadata metadata,
                     const std::string& file) {
  DumpPieces result;
  result.metadata = std::move(metadata);
  for (const Tensor& tensor : tensors) {
    if (tensor.name == kMetadata) {
      result.metadata = metadata_in(tensor, file);
    } else {
      result.pieces.push_back({tensor.name, file, tensor});
    }
  }
  return result;
}

DumpPieces pieces_of(TensorArchive archive) {
  DumpPieces result = pieces_of(archive.tensors(), archive.metadata(), archive.name());
  result.archives.push_back(std::move(archive));
  return result;
}

DumpPieces pieces_of_folder(const fs::path& folder) {
  const std::vector<fs::path> files = files_in(folder);
  if (files.empty()) {
    throw malformed(folder.string(), "folder", "no file of a dump in it",
                    ".safetensors, .npz or .npy files");
  }
  DumpPieces all;
  for (const fs::path& file : files) {
    const bool array = file.extension() == ".npy";
    append(all, array ? single_piece(file, file.stem().string()) : layer_pieces(file));
  }
  return all;
}

DumpPieces pieces_of_pair(const fs::path& queries, const fs::path& keys) {
  DumpPieces all = single_piece(queries, "q");
  append(all, single_piece(keys, "k"));
  return all;
}

}  // namespace dewpoint::checkpoint
