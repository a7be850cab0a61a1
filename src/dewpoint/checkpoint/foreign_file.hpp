// A file that another program wrote, read in the pieces that are asked for.
//
// Opening a checkpoint of many gigabytes costs nothing, and what is never looked at is never read.
// Nothing is mapped into memory: a mapped file that another program shortens ends its readers with
// SIGBUS, where here the read that meets the new end throws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dewpoint::checkpoint {

class ForeignFile {
 public:
  /// `allowed` is what should have been at the path. Throws Error{unreadable_file} when there is
  /// nothing, something that is not a regular file, or a file that may not be read.
  ForeignFile(const std::filesystem::path& path, std::string_view allowed);
  ForeignFile(const ForeignFile&) = delete;
  ForeignFile& operator=(const ForeignFile&) = delete;
  ~ForeignFile();

  /// Bytes it had when it was opened.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The bytes from `first` on, from any thread. Throws Error{unreadable_file} naming the file
  /// where it has become shorter or cannot be read.
  ///
  ///   Domain      first + out.size() <= size().
  void read(std::size_t first, std::span<std::byte> out) const;
  /// All of it. Throws in addition Error{malformed_file} for more than `most` bytes.
  [[nodiscard]] std::string text(std::size_t most = std::size_t{1} << 30) const;
  /// Its descriptor, for libraries that read for themselves.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::string name_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

/// Bytes to parse: in memory, where they must outlive what is made of them, or in a file.
class ByteSource {
 public:
  ByteSource(std::span<const std::byte> memory) : memory_(memory) {}
  ByteSource(const std::vector<std::byte>& memory) : memory_(memory) {}
  ByteSource(std::shared_ptr<const ForeignFile> file) : file_(std::move(file)) {}

  [[nodiscard]] std::size_t size() const { return file_ ? file_->size() : memory_.size(); }
  /// As ForeignFile::read.
  void read(std::size_t first, std::span<std::byte> out) const;
  /// The bytes from `first` on, `count` of them or as many as there are.
  [[nodiscard]] std::string text(std::size_t first, std::size_t count) const;
  /// Null where they are in memory.
  [[nodiscard]] const std::shared_ptr<const ForeignFile>& file() const { return file_; }
  /// Empty where they are in a file.
  [[nodiscard]] std::span<const std::byte> memory() const { return memory_; }

 private:
  std::span<const std::byte> memory_;
  std::shared_ptr<const ForeignFile> file_;
};

}  // namespace dewpoint::checkpoint
