#include "dewpoint/text/protocol_buffer.hpp"

#include <fmt/format.h>

#include <string>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::text {

std::optional<WireField> WireReader::next() {
  if (offset_ == message_.size()) return std::nullopt;
  WireField field{.number = 0, .kind = {}, .value = 0, .bytes = {}, .place = place_ + offset_};
  const std::uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 32 != 0) refuse("a field without a number");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.kind = static_cast<WireField::Kind>(tag & 7U);
  switch (field.kind) {
    case WireField::Kind::varint:
      field.value = varint();
      return field;
    case WireField::Kind::fixed64:
      field.value = fixed(8);
      return field;
    case WireField::Kind::fixed32:
      field.value = fixed(4);
      return field;
    case WireField::Kind::bytes:
      field.bytes = take(varint());
      return field;
  }
  refuse(fmt::format("a field of kind {}", tag & 7U));
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
  refuse("a number of more than ten bytes");
}

std::uint64_t WireReader::fixed(std::size_t width) {
  std::uint64_t value = 0;
  const std::string_view bytes = take(width);
  for (std::size_t k = 0; k < width; ++k) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[k])) << (8 * k);
  }
  return value;
}

std::string_view WireReader::take(std::uint64_t length) {
  const std::size_t left = message_.size() - offset_;
  if (length > left) refuse(fmt::format("{} bytes to come where {} are left", length, left));
  const std::string_view taken = message_.substr(offset_, static_cast<std::size_t>(length));
  offset_ += taken.size();
  return taken;
}

void WireReader::refuse(std::string_view found) const {
  throw checkpoint::Refusal{fmt::format("byte {}", place_ + offset_), std::string(found),
                            "the fields of a sentencepiece model (a protocol buffer)"};
}

}  // namespace dewpoint::text
