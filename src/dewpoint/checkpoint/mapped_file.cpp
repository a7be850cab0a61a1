#include "dewpoint/checkpoint/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

class Descriptor {
 public:
  // Without O_NONBLOCK a named pipe would keep us waiting for its other end.
  explicit Descriptor(const std::filesystem::path& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string last_error() { return std::generic_category().message(errno); }

// What fstat says of an open file, or what stands in its way.
std::string obstacle(int descriptor, struct stat& status) {
  if (descriptor < 0) return errno == ENOENT ? "nothing at this path" : last_error();
  if (::fstat(descriptor, &status) != 0) return last_error();
  if (S_ISDIR(status.st_mode)) return "a directory";
  return S_ISREG(status.st_mode) ? "" : "something that is not a regular file";
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, std::string_view allowed) {
  const auto refuse = [&](std::string found) {
    return to_error(Code::unreadable_file, path.string(),
                    {"file", std::move(found), std::string(allowed)});
  };
  const Descriptor file(path);
  struct stat status {};
  std::string found = obstacle(file.number(), status);
  if (!found.empty()) throw refuse(std::move(found));

  // Nothing can be mapped of an empty file.
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) throw refuse(last_error());
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace dewpoint::checkpoint
