#include "dewpoint/store/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/access.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// is_locked() holds the lock for an instant, so a writer that finds it taken looks again.
constexpr int kAttempts = 20;
constexpr std::chrono::milliseconds kBetweenAttempts{10};

fs::path lock_path(const fs::path& file) {
  std::error_code failed;
  const fs::path resolved = fs::weakly_canonical(file, failed);
  return beside(failed ? file : resolved, "-lock");
}

// Digits that the holder wrote; empty before it did.
std::string holder(int descriptor) {
  char digits[24] = {};
  const ssize_t size = ::pread(descriptor, digits, sizeof digits, 0);
  std::string text(digits, size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.find_first_not_of("0123456789"));
}

[[noreturn]] void throw_running(const fs::path& file, int descriptor) {
  const std::string process = holder(descriptor);
  ::close(descriptor);
  throw Error(Code::unwritable_file,
              fmt::format("'{}' is being run by another process{}; wait for it or stop it",
                          file.string(), process.empty() ? "" : fmt::format(" (pid {})", process)));
}

// The holder before us may have removed the name after we opened it: then we locked a ghost.
bool is_still_there(int descriptor, const fs::path& path) {
  struct stat ours = {};
  struct stat named = {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

// A full disk must not keep anybody from closing a study: the number is a courtesy.
void write_process_number(int descriptor) {
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor, 0) == 0) {
    static_cast<void>(::pwrite(descriptor, text.data(), text.size(), 0));
  }
}

bool try_lock(int descriptor) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(kBetweenAttempts);
  }
  return false;
}

}  // namespace

LockFile::LockFile(const fs::path& file) : path_(lock_path(file)) {
  while (true) {
    const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      throw_unwritable(file, fmt::format("{}: choose a folder that exists and may be written",
                                         std::generic_category().message(errno)));
    }
    if (!try_lock(descriptor)) throw_running(file, descriptor);
    if (is_still_there(descriptor, path_)) {
      descriptor_ = descriptor;
      break;
    }
    ::close(descriptor);
  }
  write_process_number(descriptor_);
}

LockFile::~LockFile() {
  ::unlink(path_.c_str());  // while it is held: nobody can have locked another one of this name
  ::close(descriptor_);
}

bool is_locked(const fs::path& file) {
  const int descriptor = ::open(lock_path(file).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool taken = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return taken;
}

}  // namespace dewpoint::store
