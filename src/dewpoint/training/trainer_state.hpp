// The state of a step optimiser as bytes of this machine: a mark, which optimiser, its sizes and
// precision, the number of steps done, then the numbers it keeps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace dewpoint::training {

enum class TrainerKind : std::uint32_t { adam = 1, plain_adam = 2, gradient_descent = 3 };

/// What must agree before a state is taken over.
struct TrainerShape {
  TrainerKind kind;
  std::uint32_t real_size;  // bytes of a number
  std::uint64_t vocabulary;
  std::uint64_t width;
  bool operator==(const TrainerShape&) const = default;
};

class StateWriter {
 public:
  StateWriter(const TrainerShape& shape, std::uint64_t done);

  template <class Real>
  StateWriter& add(std::span<const Real> numbers) {
    append(numbers.data(), numbers.size_bytes());
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size);
  std::vector<std::byte> bytes_;
};

/// Checks everything before anything is taken: a state that is refused has changed nothing.
class StateReader {
 public:
  /// Throws Error{malformed_file} unless the bytes begin as a state of this shape and hold exactly
  /// `payload` bytes of numbers.
  StateReader(std::span<const std::byte> bytes, const TrainerShape& shape, std::size_t payload);

  [[nodiscard]] std::uint64_t done() const { return done_; }

  template <class Real>
  StateReader& take(std::span<Real> numbers) {
    std::memcpy(numbers.data(), rest_.data(), numbers.size_bytes());
    rest_ = rest_.subspan(numbers.size_bytes());
    return *this;
  }

 private:
  std::span<const std::byte> rest_;
  std::uint64_t done_ = 0;
};

}  // namespace dewpoint::training
