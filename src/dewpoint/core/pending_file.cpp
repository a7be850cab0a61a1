#include "dewpoint/core/pending_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

namespace fs = std::filesystem;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// Returns 0, or the errno of the step that failed.
int sync_to_disk(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
  const int closing = ::close(descriptor) == 0 ? 0 : errno;
  return failure != 0 ? failure : closing;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

void throw_unwritable(const fs::path& file, std::string_view reason) {
  throw Error(Code::unwritable_file, fmt::format("cannot write '{}': {}", file.string(), reason));
}

PendingFile::PendingFile(OutputFile target, FileKind kind)
    : target_(std::move(target)), kind_(std::move(kind)), temporary_(target_.path) {
  if (!target_.path.has_filename()) throw_unwritable(target_.path, "not the name of a file");
  expect_replaceable(target_, kind_);
  temporary_ += fmt::format(".tmp-{}", ::getpid());
  ::unlink(temporary_.c_str());  // left by a killed process that had our number
  const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) throw_unwritable(target_.path, reason(errno));
  ::close(descriptor);
}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void PendingFile::commit() {
  if (const int failure = sync_to_disk(temporary_, O_RDWR)) {
    throw_unwritable(target_.path, reason(failure));
  }
  expect_replaceable(target_, kind_);  // somebody may have come first
  if (::rename(temporary_.c_str(), target_.path.c_str()) != 0) {
    throw_unwritable(target_.path, reason(errno));
  }
  temporary_.clear();
  // The rename itself survives a power cut once the folder is synced. Some file systems refuse to
  // sync a folder; the new file is complete either way.
  static_cast<void>(sync_to_disk(folder_of(target_.path), O_RDONLY | O_DIRECTORY));
}

}  // namespace dewpoint
