#include "dewpoint/checkpoint/foreign_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

// What fstat says of an open file, or what stands in its way.
std::string obstacle(int descriptor, struct stat& status) {
  if (descriptor < 0) return last_error();
  if (::fstat(descriptor, &status) != 0) return last_error();
  if (S_ISDIR(status.st_mode)) return "a directory";
  return S_ISREG(status.st_mode) ? "" : "something that is not a regular file";
}

}  // namespace

// Without O_NONBLOCK a named pipe would keep us waiting for its other end.
ForeignFile::ForeignFile(const std::filesystem::path& path, std::string_view allowed)
    : name_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0 && errno == ENOENT) {
    throw to_error(Code::unreadable_file, name_, {"", "no such file", std::string(allowed)});
  }
  struct stat status {};
  std::string found = obstacle(descriptor_, status);
  if (!found.empty()) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw to_error(Code::unreadable_file, name_, {"file", std::move(found), std::string(allowed)});
  }
  size_ = static_cast<std::size_t>(status.st_size);
}

ForeignFile::~ForeignFile() { ::close(descriptor_); }

void ForeignFile::read(std::size_t first, std::span<std::byte> out) const {
  DEWPOINT_EXPECTS(first <= size_ && out.size() <= size_ - first);
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(first));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw to_error(
          Code::unreadable_file, name_,
          {"file", count < 0 ? last_error() : fmt::format("its end before byte {}", first + 1),
           fmt::format("the {} bytes that it had when it was opened", size_)});
    }
    first += static_cast<std::size_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

std::string ForeignFile::text(std::size_t most) const {
  if (size_ > most) {
    throw to_error(Code::malformed_file, name_,
                   {"file", fmt::format("{} bytes", size_), fmt::format("at most {} bytes", most)});
  }
  std::string text(size_, '\0');
  read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void ByteSource::read(std::size_t first, std::span<std::byte> out) const {
  if (file_) return file_->read(first, out);
  DEWPOINT_EXPECTS(first <= memory_.size() && out.size() <= memory_.size() - first);
  if (!out.empty()) std::memcpy(out.data(), memory_.data() + first, out.size());
}

std::string ByteSource::text(std::size_t first, std::size_t count) const {
  DEWPOINT_EXPECTS(first <= size());
  std::string text(std::min(count, size() - first), '\0');
  read(first, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace dewpoint::checkpoint
