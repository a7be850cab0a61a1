#include "dewpoint/checkpoint/safetensors_writer.hpp"

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
    DEWPOINT_EXPECTS(tensor->bytes.size() == tensor->elements() * size_of(tensor->type));
    DEWPOINT_EXPECTS(!header.contains(tensor->name));
    const std::size_t end = begin + tensor->bytes.size();
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

void write_bytes(std::ofstream& file, std::span<const std::byte> bytes) {
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::vector<const Tensor*> sorted = in_file_order(tensors);
  const std::string beginning = beginning_of(sorted, metadata);

  PendingFile pending(path);
  std::ofstream file(pending.path(), std::ios::binary);
  write_bytes(file, std::as_bytes(std::span(beginning)));
  for (const Tensor* tensor : sorted) write_bytes(file, tensor->bytes);
  file.close();
  if (!file) throw_unwritable(path, "not all bytes could be written");
  pending.commit();
}

std::vector<std::byte> safetensors_bytes(std::span<const Tensor> tensors,
                                         const std::map<std::string, std::string>& metadata) {
  const std::vector<const Tensor*> sorted = in_file_order(tensors);
  const std::string beginning = beginning_of(sorted, metadata);

  std::size_t size = beginning.size();
  for (const Tensor* tensor : sorted) size += tensor->bytes.size();
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  const auto append = [&bytes](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(std::as_bytes(std::span(beginning)));
  for (const Tensor* tensor : sorted) append(tensor->bytes);
  return bytes;
}

}  // namespace dewpoint::checkpoint
