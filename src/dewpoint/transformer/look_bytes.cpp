// Looks as bytes: 8 letters, then numbers of 8 bytes each: version, how many looks, the five sizes
// that all of them share, and every number of one look after the other.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

#include "dewpoint/core/error.hpp"
#include "dewpoint/transformer/probe.hpp"

namespace dewpoint::transformer {
namespace {

constexpr std::string_view kMark = "dewlooks";
constexpr std::uint64_t kVersion = 1;
// Of each size: their products stay within 64 bits.
constexpr std::uint64_t kMostOfOne = std::uint64_t{1} << 18;

/// What stands after the mark.
struct Head {
  std::uint64_t version = kVersion;
  std::uint64_t looks = 0;
  std::uint64_t maps = 0, side = 0;  // of attention
  std::uint64_t norms = 0, layers = 0, positions = 0;

  [[nodiscard]] std::array<std::uint64_t, 5> sizes() const {
    return {maps, side, norms, layers, positions};
  }
};
static_assert(sizeof(Head) == 7 * sizeof(std::uint64_t));

[[noreturn]] void refuse(const std::string& found) {
  throw Error(Code::malformed_file, fmt::format("looks of a training run: damaged, {}", found));
}

/// Calls `visit` with every number of a look, a span at a time, always in the same order.
template <class AnyLook, class Visit>
void each_part(AnyLook& look, Visit visit) {
  for (auto* number : {&look.step, &look.loss, &look.validation_loss, &look.rank_one,
                       &look.embedding_size, &look.unembedding_size, &look.gradient_size}) {
    visit(std::span(number, 1));
  }
  for (auto& map : look.attention) visit(std::span(map.data(), map.size()));
  for (auto* vector : {&look.norms, &look.query_size, &look.key_size, &look.self_attention}) {
    visit(std::span(*vector));
  }
}

std::size_t numbers_in(const Look& look) {
  std::size_t numbers = 0;
  each_part(look, [&](std::span<const double> part) { numbers += part.size(); });
  return numbers;
}

Head head_of(std::span<const Look> looks) {
  Head head;
  if (looks.empty()) return head;
  const Look& first = looks[0];
  head.looks = looks.size();
  head.maps = first.attention.size();
  head.side = first.attention.empty() ? 0 : first.attention[0].rows();
  head.norms = first.norms.size();
  head.layers = first.query_size.size();
  head.positions = first.self_attention.size();
  return head;
}

std::uint64_t numbers_per_look(const Head& head) {
  const std::size_t scalars = numbers_in(Look{});
  return scalars + head.maps * head.side * head.side + head.norms + 2 * head.layers +
         head.positions;
}

Look blank_look(const Head& head) {
  Look look;
  look.attention.assign(head.maps, Matrix<double>(head.side, head.side));
  look.norms.resize(head.norms);
  look.query_size.resize(head.layers);
  look.key_size.resize(head.layers);
  look.self_attention.resize(head.positions);
  return look;
}

/// Nothing is believed that the bytes at hand do not bear out.
Head checked_head(std::span<const std::byte> bytes) {
  constexpr std::size_t kBegin = kMark.size() + sizeof(Head);
  if (bytes.size() < kBegin) refuse(fmt::format("only {} bytes", bytes.size()));
  if (std::memcmp(bytes.data(), kMark.data(), kMark.size()) != 0) refuse("another kind of bytes");
  Head head;
  std::memcpy(&head, bytes.data() + kMark.size(), sizeof head);
  if (head.version != kVersion) refuse(fmt::format("version {}, not {}", head.version, kVersion));
  for (const std::uint64_t size : head.sizes()) {
    if (size > kMostOfOne) refuse(fmt::format("a size of {}", size));
    if (head.looks == 0 && size != 0) refuse("sizes without looks");
  }
  // Otherwise maps without entries would ask for memory that no byte stands for.
  if ((head.maps == 0) != (head.side == 0)) {
    refuse(fmt::format("{} maps of side {}", head.maps, head.side));
  }
  const std::size_t left = bytes.size() - kBegin;
  const std::uint64_t one = numbers_per_look(head) * sizeof(double);
  if (left / one != head.looks || left % one != 0) {
    refuse(fmt::format("{} bytes left for {} looks of {}", left, head.looks, one));
  }
  return head;
}

}  // namespace

FileKind looks_kind() {
  return marked_kind("what a checkpoint has seen", std::string(kMark), std::string(kMark));
}

std::vector<std::byte> to_bytes(std::span<const Look> looks) {
  const Head head = head_of(looks);
  std::vector<std::byte> bytes;
  const auto append = [&](const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  append(kMark.data(), kMark.size());
  append(&head, sizeof head);
  for (const Look& look : looks) {
    DEWPOINT_EXPECTS(numbers_in(look) == numbers_per_look(head));
    each_part(look, [&](std::span<const double> part) { append(part.data(), part.size_bytes()); });
  }
  return bytes;
}

std::vector<Look> looks_from(std::span<const std::byte> bytes) {
  const Head head = checked_head(bytes);
  std::vector<Look> looks(head.looks, blank_look(head));
  std::span<const std::byte> left = bytes.subspan(kMark.size() + sizeof head);
  for (Look& look : looks) {
    each_part(look, [&](std::span<double> part) {
      if (!part.empty()) std::memcpy(part.data(), left.data(), part.size_bytes());
      left = left.subspan(part.size_bytes());
    });
  }
  return looks;
}

}  // namespace dewpoint::transformer
