#include "dewpoint/training/record_bytes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

constexpr std::string_view kRecordMark = "dewrecrd", kMomentMark = "dewcosin";
constexpr std::uint64_t kVersion = 1;

class Writer {
 public:
  void raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  void count(std::uint64_t value) { raw(&value, sizeof value); }
  void number(double value) { raw(&value, sizeof value); }
  void numbers(std::span<const double> values) { raw(values.data(), values.size_bytes()); }
  void text(std::string_view value) {
    count(value.size());
    raw(value.data(), value.size());
  }
  void head(std::string_view mark) {
    raw(mark.data(), mark.size());
    count(kVersion);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view what) : left_(bytes), what_(what) {}

  void head(std::string_view mark) {
    const auto found = piece(mark.size());
    if (std::memcmp(found.data(), mark.data(), mark.size()) != 0) refuse("another kind of bytes");
    const auto version = number<std::uint64_t>();
    if (version != kVersion) refuse(fmt::format("version {}, not {}", version, kVersion));
  }
  template <class Number>
  Number number() {
    static_assert(std::is_arithmetic_v<Number>);
    Number value;
    std::memcpy(&value, piece(sizeof value).data(), sizeof value);
    return value;
  }
  void numbers(std::span<double> values) {
    const auto raw = piece(values.size_bytes());
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  }
  /// A number of things that take at least `size` bytes each.
  std::size_t count(std::size_t size) {
    const auto value = number<std::uint64_t>();
    if (value > left_.size() / size) refuse(fmt::format("a size of {}", value));
    return static_cast<std::size_t>(value);
  }
  std::string text() {
    const auto raw = piece(count(1));
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  /// That nothing is left but `things` of `size` bytes each.
  void expect_left(std::size_t things, std::size_t size) const {
    if (left_.size() / size == things && left_.size() % size == 0) return;
    refuse(fmt::format("{} bytes left for {} times {}", left_.size(), things, size));
  }
  [[noreturn]] void refuse(const std::string& found) const {
    throw Error(Code::malformed_file, fmt::format("{}: damaged, {}", what_, found));
  }

 private:
  std::span<const std::byte> piece(std::size_t size) {
    if (size > left_.size()) refuse(fmt::format("{} bytes are missing", size - left_.size()));
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }

  std::span<const std::byte> left_;
  std::string_view what_;
};

/// Calls `visit` with every number of a record, a span at a time, always in the same order.
template <class AnyRecord, class Visit>
void each_part(AnyRecord& record, Visit visit) {
  for (auto* number :
       {&record.time, &record.loss, &record.embedding_rank_one, &record.unembedding_rank_one,
        &record.embedding_size, &record.unembedding_size, &record.query_size, &record.key_size,
        &record.conserved_drift}) {
    visit(std::span(number, 1));
  }
  for (auto* vector : {&record.group_loss, &record.entropy, &record.weighted_entropy,
                       &record.embedding_norm, &record.parallel, &record.perpendicular,
                       &record.embedding_singular_values, &record.unembedding_singular_values}) {
    visit(std::span(*vector));
  }
  for (auto* matrix : {&record.attention, &record.weighted_attention, &record.embedding}) {
    visit(std::span(matrix->data(), matrix->size()));
  }
}

std::size_t bytes_of_one(const Record& record) {
  std::size_t bytes = 0;
  each_part(record, [&](std::span<const double> part) { bytes += part.size_bytes(); });
  return bytes;
}

}  // namespace

std::vector<std::byte> to_bytes(std::span<const Record> records) {
  Writer writer;
  writer.head(kRecordMark);
  writer.count(records.size());
  if (records.empty()) return writer.take();
  writer.count(records[0].embedding.rows());
  writer.count(records[0].embedding.cols());
  for (const Record& record : records) {
    DEWPOINT_EXPECTS(bytes_of_one(record) == bytes_of_one(records[0]));
    each_part(record, [&](std::span<const double> part) { writer.numbers(part); });
  }
  return writer.take();
}

std::vector<Record> records_from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes, "records of a training run");
  reader.head(kRecordMark);
  const std::size_t size = reader.count(1);
  std::vector<Record> records;
  if (size > 0) {
    const std::size_t vocabulary = reader.count(sizeof(double));
    if (vocabulary < 1 || vocabulary > kMostTokens) {
      reader.refuse(fmt::format("{} tokens", vocabulary));
    }
    const Record blank(vocabulary, reader.count(vocabulary * sizeof(double)));
    reader.expect_left(size, bytes_of_one(blank));
    records.assign(size, blank);
  }
  for (Record& record : records) {
    each_part(record, [&](std::span<double> part) { reader.numbers(part); });
  }
  reader.expect_left(0, 1);
  return records;
}

std::vector<std::byte> to_bytes(std::span<const Condensation> moments) {
  Writer writer;
  writer.head(kMomentMark);
  writer.count(moments.size());
  for (const Condensation& moment : moments) {
    writer.number(moment.time);
    writer.count(moment.blocks.size());
    for (const Condensation::Block& block : moment.blocks) {
      writer.text(block.matrix);
      writer.number(block.mean_modulus);
      writer.number(block.rank_one);
      writer.count(block.cosines.rows());
      writer.numbers({block.cosines.data(), block.cosines.size()});
    }
  }
  return writer.take();
}

std::vector<Condensation> condensations_from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes, "condensation of a training run");
  reader.head(kMomentMark);
  std::vector<Condensation> moments(reader.count(sizeof(double)));
  for (Condensation& moment : moments) {
    moment.time = reader.number<double>();
    moment.blocks.resize(reader.count(sizeof(double)));
    for (Condensation::Block& block : moment.blocks) {
      block.matrix = reader.text();
      block.mean_modulus = reader.number<double>();
      block.rank_one = reader.number<double>();
      const std::size_t side = reader.count(sizeof(double));
      if (side > kMostUnits) reader.refuse(fmt::format("{} units", side));
      block.cosines = Matrix<double>(side, side);
      reader.numbers({block.cosines.data(), block.cosines.size()});
    }
  }
  reader.expect_left(0, 1);
  return moments;
}

}  // namespace dewpoint::training
