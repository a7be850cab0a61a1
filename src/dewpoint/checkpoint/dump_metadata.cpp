#include "dewpoint/checkpoint/dump_metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr const char* kVersion = "1";

const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys{
      "format", "version", "layout",    "rope",  "scale", "m_applied",  "causal",
      "window", "softcap", "positions", "dtype", "model", "text_sha256"};
  return keys;
}

bool is_in(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end) return {};
  return number;
}

// The values of the keys, one kind per function; nothing where the key is absent.
class Reader {
 public:
  explicit Reader(const DumpMetadata& metadata) : metadata_(metadata) {}

  [[nodiscard]] std::optional<std::string> text(const char* key) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? std::nullopt : std::optional(found->second);
  }

  template <class Test>
  [[nodiscard]] std::optional<std::string> word(const char* key, Test allowed,
                                                const char* words) const {
    std::optional<std::string> value = text(key);
    if (value && !allowed(*value)) refuse(key, *value, words);
    return value;
  }

  [[nodiscard]] std::optional<double> positive(const char* key) const {
    const std::optional<std::string> value = text(key);
    if (!value) return {};
    const std::optional<double> number = whole_text_as<double>(*value);
    if (!number || !std::isfinite(*number) || *number <= 0.0) {
      refuse(key, *value, "a positive number, or no such key");
    }
    return number;
  }

  [[nodiscard]] std::optional<std::size_t> count(const char* key) const {
    const std::optional<std::string> value = text(key);
    if (!value) return {};
    const auto number = whole_text_as<std::size_t>(*value);
    if (!number) refuse(key, *value, "a whole number, 0 for no limit");
    return number;
  }

  [[nodiscard]] std::optional<bool> truth(const char* key) const {
    const auto value = word(
        key,
        [](const std::string& found) {
          return is_in(found, {"true", "True", "1", "false", "False", "0"});
        },
        "true or false");
    if (!value) return {};
    return is_in(*value, {"true", "True", "1"});
  }

  [[nodiscard]] std::optional<Range> positions() const {
    const std::optional<std::string> value = text("positions");
    if (!value) return {};
    const std::size_t colon = std::min(value->find(':'), value->size());
    const auto first = whole_text_as<std::size_t>(std::string_view(*value).substr(0, colon));
    const auto count = colon == value->size()
                           ? std::optional<std::size_t>{}
                           : whole_text_as<std::size_t>(std::string_view(*value).substr(colon + 1));
    constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
    if (!first || !count || *count == 0 || *count > largest - *first) {
      refuse("positions", *value, "first:count, as in 1024:512");
    }
    return Range{*first, *first + *count};
  }

 private:
  [[noreturn]] static void refuse(const char* key, const std::string& found, const char* allowed) {
    throw Refusal{fmt::format("metadata key '{}'", key), fmt::format("'{}'", excerpt(found)),
                  allowed};
  }

  const DumpMetadata& metadata_;
};

// Files of our own format promise its version, and have no keys that nobody knows.
void check_format(const DumpMetadata& metadata, const Reader& reader, DumpStatement& statement) {
  if (reader.text("format") != kDumpFormat) return;
  static_cast<void>(reader.word(
      "version", [](const std::string& found) { return found == kVersion; }, kVersion));
  for (const auto& [key, value] : metadata) {
    if (std::find(known_keys().begin(), known_keys().end(), key) != known_keys().end()) continue;
    const std::optional<std::string> nearest = nearest_word(key, known_keys());
    statement.warnings.push_back(
        fmt::format("unknown-metadata: the key '{}' is unknown and was ignored{}", excerpt(key),
                    nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
  }
}

DumpStatement statement_of(const DumpMetadata& metadata) {
  const Reader reader(metadata);
  DumpStatement statement;
  check_format(metadata, reader, statement);
  statement.layout = reader.word("layout", is_dump_layout, kDumpLayouts);
  statement.rope = reader.word("rope", is_dump_rope, kDumpRopes);
  statement.scale = reader.positive("scale");
  statement.m_applied = reader.positive("m_applied");
  statement.causal = reader.truth("causal");
  statement.window = reader.count("window");
  statement.softcap = reader.positive("softcap");
  statement.positions = reader.positions();
  statement.bf16_as_u16 = reader.word(
                              "dtype",
                              [](const std::string& found) {
                                return is_in(found, {"f16", "bf16", "f32", "f64"});
                              },
                              "f16, bf16, f32 or f64") == "bf16";
  statement.model = reader.text("model").value_or("");
  statement.text_sha256 = reader.text("text_sha256").value_or("");
  return statement;
}

}  // namespace

bool is_dump_layout(const std::string& layout) {
  return is_in(layout, {"ND", "HND", "NHD", "BHND", "BNHD"});
}

bool is_dump_rope(const std::string& rope) { return is_in(rope, {"post", "pre", "none"}); }

DumpStatement read_statement(const DumpMetadata& metadata, const std::string& file) {
  try {
    return statement_of(metadata);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, file, refusal);
  }
}

DumpMetadata metadata_of(const DumpStatement& statement) {
  DumpMetadata metadata{{"format", kDumpFormat}, {"version", kVersion}};
  const auto put = [&metadata](const char* key, const auto& value) {
    if (value) metadata[key] = fmt::format("{}", *value);
  };
  put("layout", statement.layout);
  put("rope", statement.rope);
  put("scale", statement.scale);
  put("m_applied", statement.m_applied);
  put("causal", statement.causal);
  put("window", statement.window);
  put("softcap", statement.softcap);
  if (statement.positions) {
    metadata["positions"] =
        fmt::format("{}:{}", statement.positions->begin, statement.positions->size());
  }
  if (statement.bf16_as_u16) metadata["dtype"] = "bf16";
  if (!statement.model.empty()) metadata["model"] = statement.model;
  if (!statement.text_sha256.empty()) metadata["text_sha256"] = statement.text_sha256;
  return metadata;
}

}  // namespace dewpoint::checkpoint
