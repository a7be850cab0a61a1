#include "dewpoint/checkpoint/head_dump_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "dewpoint/checkpoint/dump_metadata.hpp"
#include "dewpoint/checkpoint/safetensors_writer.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr std::size_t kHeaderAlignment = 8;

// Where tensors lie, in bytes after the header: all sinks, then queries and keys layer by layer.
// So sinks, whose elements may be the widest, are aligned.
struct Places {
  explicit Places(const DumpPlan& plan)
      : shape(plan.shape),
        queries(shape.queries * shape.dimension * size_of(plan.type)),
        keys(shape.keys * shape.dimension * size_of(plan.type)),
        sinks(shape.sinks ? plan.layers * shape.heads * sizeof(float) : 0) {}

  [[nodiscard]] std::size_t sink(std::size_t layer, std::size_t head) const {
    return (layer * shape.heads + head) * sizeof(float);
  }
  [[nodiscard]] std::size_t query(std::size_t layer, std::size_t head) const {
    return sinks + layer * (shape.heads * queries + shape.key_heads * keys) + head * queries;
  }
  [[nodiscard]] std::size_t key(std::size_t layer, std::size_t head) const {
    return query(layer, shape.heads) + head * keys;
  }

  const DumpShape& shape;
  std::size_t queries, keys;  // of one head
  std::size_t sinks;          // of all layers
};

DumpMetadata metadata_for(const DumpPlan& plan, const DumpFacts& facts) {
  DumpStatement statement;
  statement.layout = "HND";
  statement.rope = facts.rope;
  statement.scale = facts.scale;
  statement.m_applied = facts.m_applied;
  statement.causal = facts.causal;
  if (facts.window != 0) statement.window = facts.window;
  if (facts.softcap != 0.0) statement.softcap = facts.softcap;
  const std::size_t first = plan.shape.first_position;
  statement.positions = Range{first, first + plan.shape.queries};
  statement.model = facts.model;
  statement.text_sha256 = facts.text_sha256;
  return metadata_of(statement);
}

std::string type_name(ElementType type) {
  return type == ElementType::f32 ? "F32" : type == ElementType::f16 ? "F16" : "BF16";
}

std::string header_text(const DumpPlan& plan, const DumpFacts& facts) {
  const Places places(plan);
  const DumpShape& shape = plan.shape;
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata_for(plan, facts);
  const auto add = [&](std::size_t l, const char* part, const std::string& type,
                       const std::vector<std::size_t>& extents, Range bytes) {
    header[fmt::format("layers.{}.{}", l, part)] = {
        {"dtype", type}, {"shape", extents}, {"data_offsets", {bytes.begin, bytes.end}}};
  };
  const std::string type = type_name(plan.type);
  for (std::size_t l = 0; l < plan.layers; ++l) {
    if (shape.sinks) {
      add(l, "sink", "F32", {shape.heads}, {places.sink(l, 0), places.sink(l, shape.heads)});
    }
    add(l, "q", type, {shape.heads, shape.queries, shape.dimension},
        {places.query(l, 0), places.query(l, shape.heads)});
    add(l, "k", type, {shape.key_heads, shape.keys, shape.dimension},
        {places.key(l, 0), places.key(l, shape.key_heads)});
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.append((kHeaderAlignment - text.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
  return text;
}

std::string length_bytes(std::uint64_t length) {
  std::string bytes;
  for (int k = 0; k < 8; ++k) bytes += static_cast<char>(length >> (8 * k) & 0xff);
  return bytes;
}

// The largest float that a type rounds to something finite.
float largest_of(ElementType type) {
  if (type == ElementType::f16) return 65519.996F;  // below 65520, half way to what would be 2^16
  if (type == ElementType::bf16) return std::bit_cast<float>(0x7f7f7fffU);
  return std::numeric_limits<float>::max();
}

void check_range(std::span<const float> row, std::size_t i, ElementType type,
                 const std::string& what) {
  const float largest = largest_of(type);
  const auto bad = std::find_if(row.begin(), row.end(),
                                [largest](float x) { return !(std::abs(x) <= largest); });
  if (bad == row.end()) return;
  throw Error(Code::bad_value,
              fmt::format("{}, row {}, column {}: found {}, allowed: numbers that are finite in {}",
                          what, i, bad - row.begin(), *bad, name_of(type)));
}

}  // namespace

FileKind dump_kind() {
  return safetensors_kind("a dump of queries and keys", "format", kDumpFormat);
}

HeadDumpWriter::HeadDumpWriter(const OutputFile& output, const DumpPlan& plan,
                               const DumpFacts& facts)
    : name_(output.path),
      pending_(output, dump_kind()),
      file_(pending_.path(), std::ios::binary),
      plan_(plan),
      heads_left_(plan.layers * plan.shape.heads) {
  DEWPOINT_EXPECTS(plan.shape.key_heads > 0 && plan.shape.heads % plan.shape.key_heads == 0);
  DEWPOINT_EXPECTS(plan.type == ElementType::f32 || plan.type == ElementType::f16 ||
                   plan.type == ElementType::bf16);
  const std::string header = header_text(plan, facts);
  file_ << length_bytes(header.size()) << header;
  data_begin_ = 8 + header.size();
  check_file();
}

void HeadDumpWriter::check_file() const {
  if (!file_) throw_unwritable(name_, "not all bytes could be written");
}

void HeadDumpWriter::put(std::size_t offset, MatrixView<const float> matrix, ElementType type,
                         const std::string& what) {
  file_.seekp(static_cast<std::streamoff>(data_begin_ + offset));
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    check_range(matrix.row(i), i, type, what);
    const std::vector<std::byte> bytes = element_bytes(matrix.row(i), type);
    file_.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
  }
  check_file();
}

void HeadDumpWriter::write(std::size_t layer, std::size_t head, MatrixView<const float> queries,
                           MatrixView<const float> keys, std::optional<double> sink) {
  const DumpShape& shape = plan_.shape;
  DEWPOINT_EXPECTS(heads_left_ > 0 && layer < plan_.layers && head < shape.heads);
  DEWPOINT_EXPECTS(queries.rows() == shape.queries && queries.cols() == shape.dimension);
  DEWPOINT_EXPECTS(keys.rows() == shape.keys && keys.cols() == shape.dimension);
  DEWPOINT_EXPECTS(sink.has_value() == shape.sinks);

  const Places places(plan_);
  const std::size_t group = shape.heads / shape.key_heads;
  const auto what = [&](const char* part) {
    return fmt::format("{} of layer {}, head {}", part, layer, head);
  };
  put(places.query(layer, head), queries, plan_.type, what("queries"));
  if (head % group == 0) {
    put(places.key(layer, head / group), keys, plan_.type, what("keys"));
  }
  if (sink) {
    const auto value = static_cast<float>(*sink);
    put(places.sink(layer, head), {&value, 1, 1, 1}, ElementType::f32, what("sink"));
  }
  --heads_left_;
}

void HeadDumpWriter::finish() {
  DEWPOINT_EXPECTS(heads_left_ == 0);
  file_.close();
  check_file();
  pending_.commit();
}

}  // namespace dewpoint::checkpoint
