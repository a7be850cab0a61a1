#include "dewpoint/checkpoint/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "dewpoint/checkpoint/json_text.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/safetensors_types.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestHeader = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr const char* kAllowedEntry = "an object of dtype, shape and data_offsets";

// --- the header ----------------------------------------------------------------------------------

// The text of the header; the data follow on it.
std::string read_header(const ByteSource& bytes) {
  if (bytes.size() < kLengthBytes) {
    throw Refusal{"header length", fmt::format("a file of {} bytes", bytes.size()),
                  "8 bytes of length, a JSON header, data"};
  }
  std::array<std::byte, kLengthBytes> digits;
  bytes.read(0, digits);
  std::uint64_t length = 0;
  for (std::size_t k = kLengthBytes; k-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(digits[k]);
  const std::size_t left = bytes.size() - kLengthBytes;
  if (length > std::min(left, kLongestHeader)) {
    throw Refusal{
        "header length", fmt::format("{} bytes", length),
        fmt::format("at most {} bytes, of which the file has {} left", kLongestHeader, left)};
  }
  return bytes.text(kLengthBytes, length);
}

Json parse_header(std::string_view text) {
  constexpr std::size_t depth = 3;  // the header, an entry, its shape
  try {
    Json header = parse_json(text, {.bytes = kLongestHeader, .depth = depth});
    if (header.is_object()) return header;
    throw Refusal{"byte 0", fmt::format("'{}'", excerpt(text)), "a JSON object"};
  } catch (Refusal& refusal) {
    refusal.field.insert(0, "header, ");
    throw;
  }
}

std::map<std::string, std::string> metadata_of(const Json& entry) {
  const auto refuse = [](const Json& value) {
    throw Refusal{"__metadata__", excerpt(value.dump()), "an object of texts"};
  };
  if (!entry.is_object()) refuse(entry);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) refuse(value);
    metadata.emplace(key, value.get_ref<const std::string&>());
  }
  return metadata;
}

// --- one tensor ----------------------------------------------------------------------------------

struct Entry {
  Tensor tensor;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The fields of a tensor, by name; the name of the tensor goes into every refusal.
class EntryReader {
 public:
  EntryReader(const std::string& name, const Json& json) : name_(name), json_(json) {
    if (!json.is_object()) refuse("", excerpt(json.dump()), kAllowedEntry);
    for (const auto& [key, value] : json.items()) {
      const bool known = key == "dtype" || key == "shape" || key == "data_offsets";
      if (!known) refuse("", fmt::format("the key '{}'", excerpt(key)), kAllowedEntry);
    }
  }

  Entry read(std::size_t data) const {
    Entry entry;
    entry.tensor.name = name_;
    entry.tensor.shape = numbers("shape");
    const std::string& dtype = type_name();
    const auto bits = type_of(dtype, entry.tensor);
    const std::vector<std::size_t> offsets = numbers("data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data) {
      refuse("data_offsets", excerpt(shape_text(offsets)),
             fmt::format("begin and end within {} bytes of data", data));
    }
    entry.begin = offsets[0];
    entry.end = offsets[1];
    check_size(entry, bits, dtype);
    return entry;
  }

 private:
  const Json& field(const char* key) const {
    const auto it = json_.find(key);
    if (it == json_.end()) refuse("", fmt::format("no {}", key), kAllowedEntry);
    return *it;
  }

  const std::string& type_name() const {
    const Json& value = field("dtype");
    if (!value.is_string()) refuse("dtype", excerpt(value.dump()), "a text such as \"F32\"");
    return value.get_ref<const std::string&>();
  }

  // Sets the type of the tensor, and returns the bits of one element where they are known.
  static std::optional<std::size_t> type_of(const std::string& dtype, Tensor& tensor) {
    const auto it = std::find_if(kSafetensorsTypes.begin(), kSafetensorsTypes.end(),
                                 [&](const SafetensorsType& type) { return type.name == dtype; });
    const bool known = it != kSafetensorsTypes.end();
    if (known) tensor.type = it->type;
    if (tensor.type == ElementType::other) tensor.foreign_type = dtype;
    return known ? std::optional(it->bits) : std::nullopt;
  }

  std::vector<std::size_t> numbers(const char* key) const {
    const Json& list = field(key);
    const auto counts = [](const Json& value) { return value.is_number_unsigned(); };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), counts)) {
      refuse(key, excerpt(list.dump()), "a list of whole numbers, none negative");
    }
    return list.get<std::vector<std::size_t>>();
  }

  void check_size(const Entry& entry, std::optional<std::size_t> bits,
                  const std::string& dtype) const {
    const std::vector<std::size_t>& shape = entry.tensor.shape;
    const auto elements = checked_product(shape);
    const std::size_t most = std::numeric_limits<std::size_t>::max() / bits.value_or(1);
    if (!elements || *elements > most) {
      refuse("shape", excerpt(shape_text(shape)), fmt::format("at most {} elements", most));
    }
    if (!bits) return;
    const std::size_t found = entry.end - entry.begin;
    const std::size_t promised = *elements * *bits;
    if (promised % 8 == 0 && found == promised / 8) return;
    refuse("data_offsets", fmt::format("{} bytes", found),
           fmt::format("{} bytes, for shape {} of {}", promised / 8, excerpt(shape_text(shape)),
                       excerpt(dtype)));
  }

  [[noreturn]] void refuse(std::string_view key, std::string found, std::string allowed) const {
    const char* dot = key.empty() ? "" : ".";
    throw Refusal{fmt::format("'{}'{}{}", excerpt(name_), dot, key), std::move(found),
                  std::move(allowed)};
  }

  const std::string& name_;
  const Json& json_;
};

// --- all tensors ---------------------------------------------------------------------------------

// In the order of their bytes each must begin where the one before it ended.
void check_cover(std::vector<Entry>& entries, std::size_t data) {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::size_t covered = 0;
  for (const Entry* entry : sorted) {
    if (entry->begin != covered) {
      throw Refusal{fmt::format("'{}'.data_offsets", excerpt(entry->tensor.name)),
                    fmt::format("a begin of {}", entry->begin),
                    fmt::format("{}, where the tensor before it ends", covered)};
    }
    covered = entry->end;
  }
  if (covered != data) {
    throw Refusal{"data", fmt::format("{} bytes", data),
                  fmt::format("{} bytes, which is what the tensors cover", covered)};
  }
}

SafetensorsContent content_of(const ByteSource& bytes) {
  const std::string text = read_header(bytes);
  const Json header = parse_header(text);
  const std::size_t begin = kLengthBytes + text.size(), data = bytes.size() - begin;
  SafetensorsContent content;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == "__metadata__") {
      content.metadata = metadata_of(json);
    } else {
      entries.push_back(EntryReader(name, json).read(data));
    }
  }
  check_cover(entries, data);
  for (Entry& entry : entries) {
    entry.tensor.take_bytes(bytes, begin + entry.begin, entry.end - entry.begin);
    content.tensors.push_back(std::move(entry.tensor));
  }
  return content;
}

}  // namespace

SafetensorsContent parse_safetensors(const ByteSource& bytes, std::string_view name) {
  try {
    return content_of(bytes);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::checkpoint
