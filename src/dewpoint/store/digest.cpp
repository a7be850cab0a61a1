#include "dewpoint/store/digest.hpp"

#define XXH_INLINE_ALL  // the header is the library
#include <xxhash.h>

#include <cmath>

namespace dewpoint::store {
namespace {

constexpr std::size_t kFoldedAtOnce = std::size_t{1} << 16;

}  // namespace

void Digest::add(std::int64_t value) { add_bytes('i', &value, sizeof value); }

void Digest::add(double value) {
  if (std::isnan(value)) return add_bytes('n', nullptr, 0);
  add_bytes('d', &value, sizeof value);
}

void Digest::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add_bytes('t', text.data(), text.size());
}

std::int64_t Digest::value() {
  fold();
  return static_cast<std::int64_t>(hash_);
}

void Digest::add_bytes(char kind, const void* first, std::size_t size) {
  bytes_ += kind;
  if (size > 0) bytes_.append(static_cast<const char*>(first), size);
  if (bytes_.size() >= kFoldedAtOnce) fold();
}

void Digest::fold() {
  hash_ = XXH3_64bits_withSeed(bytes_.data(), bytes_.size(), hash_);
  bytes_.clear();
}

}  // namespace dewpoint::store
