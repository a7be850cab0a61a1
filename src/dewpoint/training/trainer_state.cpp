#include "dewpoint/training/trainer_state.hpp"

#include <fmt/format.h>

#include <array>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

constexpr std::array<char, 8> kMark = {'d', 'e', 'w', 's', 't', 'e', 'p', '1'};

struct Header {
  std::array<char, 8> mark;
  TrainerShape shape;
  std::uint64_t done;
};
static_assert(sizeof(Header) == 40, "no padding: every byte of a state is written");

std::string description(const TrainerShape& shape) {
  return fmt::format("kind {}, {}-byte numbers, d = {}, m = {}",
                     static_cast<std::uint32_t>(shape.kind), shape.real_size, shape.vocabulary,
                     shape.width);
}

[[noreturn]] void malformed(const std::string& what) {
  throw Error(Code::malformed_file, "state of an optimiser: " + what);
}

}  // namespace

StateWriter::StateWriter(const TrainerShape& shape, std::uint64_t done) {
  const Header header{kMark, shape, done};
  append(&header, sizeof(header));
}

void StateWriter::append(const void* from, std::size_t size) {
  const std::size_t before = bytes_.size();
  bytes_.resize(before + size);
  if (size > 0) std::memcpy(bytes_.data() + before, from, size);
}

StateReader::StateReader(std::span<const std::byte> bytes, const TrainerShape& shape,
                         std::size_t payload) {
  if (bytes.size() < sizeof(Header)) {
    malformed(fmt::format("{} bytes, at least {} expected", bytes.size(), sizeof(Header)));
  }
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.mark != kMark) malformed("does not begin with its mark");
  if (header.shape != shape) {
    malformed(fmt::format("found {}, expected {}", description(header.shape), description(shape)));
  }
  if (bytes.size() != sizeof(Header) + payload) {
    malformed(fmt::format("{} bytes, {} expected", bytes.size(), sizeof(Header) + payload));
  }
  rest_ = bytes.subspan(sizeof(Header));
  done_ = header.done;
}

}  // namespace dewpoint::training
