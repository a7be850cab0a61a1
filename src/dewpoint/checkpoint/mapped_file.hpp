// The bytes of a file without reading them: mapped into memory, read-only.
//
// Pages come in when they are touched, so opening a checkpoint of many gigabytes costs nothing and
// what is never looked at is never read. The price: a file that another program shortens while it
// is mapped ends this one with SIGBUS. Files that are small and may change are better read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace dewpoint::checkpoint {

class MappedFile {
 public:
  /// `allowed` is what should have been at the path. Throws Error{unreadable_file} when there is
  /// nothing, something that is not a regular file, or a file that may not be read or mapped.
  MappedFile(const std::filesystem::path& path, std::string_view allowed);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// Empty for an empty file.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace dewpoint::checkpoint
