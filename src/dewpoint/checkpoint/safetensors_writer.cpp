#include "dewpoint/checkpoint/safetensors_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "dewpoint/checkpoint/safetensors_types.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAlignment = 8;
constexpr const char* kGenerator = "generator";
constexpr const char* kOurs = "dewpoint";

std::string_view type_name(ElementType type) {
  const auto it = std::find_if(kSafetensorsTypes.begin(), kSafetensorsTypes.end(),
                               [&](const SafetensorsType& known) { return known.type == type; });
  return it->name;
}

// Wide elements first, then by name.
std::vector<const Tensor*> in_file_order(std::span<const Tensor> tensors) {
  std::vector<const Tensor*> sorted;
  for (const Tensor& tensor : tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const Tensor* a, const Tensor* b) {
    const std::size_t width_a = size_of(a->type);
    const std::size_t width_b = size_of(b->type);
    return width_a != width_b ? width_a > width_b : a->name < b->name;
  });
  return sorted;
}

std::string header_of(const std::vector<const Tensor*>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t begin = 0;
  for (const Tensor* tensor : tensors) {
    DEWPOINT_EXPECTS(tensor->type != ElementType::other && tensor->name != "__metadata__");
    DEWPOINT_EXPECTS(tensor->byte_count() == tensor->elements() * size_of(tensor->type));
    DEWPOINT_EXPECTS(!header.contains(tensor->name));
    const std::size_t end = begin + tensor->byte_count();
    header[tensor->name] = {{"dtype", type_name(tensor->type)},
                            {"shape", tensor->shape},
                            {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

// What stands before the tensors: the length of the header, and the header.
std::string beginning_of(const std::vector<const Tensor*>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  std::string bytes;
  for (int k = 0; k < 8; ++k) {
    bytes.push_back(static_cast<char>(std::uint64_t{header.size()} >> (8 * k) & 0xff));
  }
  return bytes + header;
}

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // of a tensor that is in a file

void write_bytes(std::ofstream& file, std::span<const std::byte> bytes) {
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void write_tensor(std::ofstream& file, const Tensor& tensor) {
  if (!tensor.in_file.file) return write_bytes(file, tensor.bytes);
  std::vector<std::byte> piece;
  for (std::size_t done = 0; done < tensor.byte_count(); done += piece.size()) {
    piece.resize(std::min(kPieceBytes, tensor.byte_count() - done));
    tensor.read_bytes(done, piece);
    write_bytes(file, piece);
  }
}

}  // namespace

void write_safetensors(const OutputFile& output, std::span<const Tensor> tensors,
                       const std::map<std::string, std::string>& metadata, const FileKind& kind) {
  const std::vector<const Tensor*> sorted = in_file_order(tensors);
  const std::string beginning = beginning_of(sorted, metadata);

  PendingFile pending(output, kind);
  std::ofstream file(pending.path(), std::ios::binary);
  write_bytes(file, std::as_bytes(std::span(beginning)));
  for (const Tensor* tensor : sorted) write_tensor(file, *tensor);
  file.close();
  if (!file) throw_unwritable(output.path, "not all bytes could be written");
  pending.commit();
}

FileKind safetensors_kind(const std::string& name, const std::string& key,
                          const std::string& value) {
  return marked_kind(name, "", fmt::format(R"("{}":"{}")", key, value));
}

const std::map<std::string, std::string>& model_metadata() {
  static const std::map<std::string, std::string> metadata{{"format", "pt"}, {kGenerator, kOurs}};
  return metadata;
}

FolderKind model_folder_kind() {
  return {"the folder of a model that Dewpoint wrote",
          {safetensors_kind("a model that Dewpoint wrote", kGenerator, kOurs)}};
}

std::vector<std::byte> safetensors_bytes(std::span<const Tensor> tensors,
                                         const std::map<std::string, std::string>& metadata) {
  const std::vector<const Tensor*> sorted = in_file_order(tensors);
  const std::string beginning = beginning_of(sorted, metadata);

  const auto text = std::as_bytes(std::span(beginning));
  std::vector<std::byte> bytes(text.begin(), text.end());
  std::size_t size = bytes.size();
  for (const Tensor* tensor : sorted) size += tensor->byte_count();
  bytes.resize(size);
  std::size_t done = text.size();
  for (const Tensor* tensor : sorted) {
    tensor->read_bytes(0, std::span(bytes).subspan(done, tensor->byte_count()));
    done += tensor->byte_count();
  }
  return bytes;
}

}  // namespace dewpoint::checkpoint
