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
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/store/access.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// is_locked() holds the lock for an instant, so a writer that finds it taken looks again.
constexpr int kAttempts = 20;
constexpr std::chrono::milliseconds kBetweenAttempts{10};

constexpr std::size_t kMostDigits = 10;  // of the number of a process

fs::path lock_path(const fs::path& file) {
  std::error_code failed;
  const fs::path resolved = fs::weakly_canonical(file, failed);
  return beside(failed ? file : resolved, "-lock");
}

// What the holder wrote; empty before it did.
std::string content(int descriptor) {
  char bytes[24] = {};
  const ssize_t size = ::pread(descriptor, bytes, sizeof bytes, 0);
  return {bytes, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::string digits_of(const std::string& text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

[[noreturn]] void throw_running(const fs::path& file, int descriptor) {
  const std::string process = digits_of(content(descriptor));
  throw Error(Code::unwritable_file,
              fmt::format("'{}' is being run by another process{}; wait for it or stop it",
                          file.string(), process.empty() ? "" : fmt::format(" (pid {})", process)));
}

[[noreturn]] void throw_not_a_lock(const fs::path& lock, std::string_view what) {
  throw Error(Code::malformed_file,
              fmt::format("'{}' is no lock of Dewpoint ({}): move it away and run the same command "
                          "again",
                          lock.string(), what));
}

struct Descriptor {
  int number = -1;
  Descriptor(const fs::path& path, int flags)
      : number(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int release() { return std::exchange(number, -1); }
};

// Before anything is written to it: it could be anybody's file.
void expect_own_file(int descriptor, const fs::path& lock) {
  struct stat found = {};
  if (::fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) {
    throw_not_a_lock(lock, "not a regular file");
  }
  if (found.st_nlink > 1) throw_not_a_lock(lock, "a file with another name");
}

// Once it is held: a number of a process and the end of its line, or nothing.
void expect_own_content(int descriptor, const fs::path& lock) {
  const std::string text = content(descriptor);
  const std::string digits = digits_of(text);
  const bool is_number = digits.size() <= kMostDigits && (text == digits || text == digits + '\n');
  if (!is_number) throw_not_a_lock(lock, "it has other content");
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

// False: another holds it.
bool try_lock(int descriptor, const fs::path& file) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw_unwritable(file,
                       fmt::format("it cannot be locked ({}): choose a folder on another disk",
                                   std::generic_category().message(errno)));
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  }
  return false;
}

}  // namespace

LockFile::LockFile(const fs::path& file) : path_(lock_path(file)) {
  while (descriptor_ < 0) {
    Descriptor descriptor(path_, O_RDWR | O_CREAT);
    if (descriptor.number < 0 && errno == ELOOP) throw_not_a_lock(path_, "a link");
    if (descriptor.number < 0) {
      throw_unwritable(file, fmt::format("{}: choose a folder that exists and may be written",
                                         std::generic_category().message(errno)));
    }
    expect_own_file(descriptor.number, path_);
    if (!try_lock(descriptor.number, file)) throw_running(file, descriptor.number);
    if (is_still_there(descriptor.number, path_)) {
      expect_own_content(descriptor.number, path_);
      descriptor_ = descriptor.release();
    }
  }
  write_process_number(descriptor_);
}

LockFile::~LockFile() {
  ::unlink(path_.c_str());  // while it is held: nobody can have locked another one of this name
  ::close(descriptor_);
}

bool is_locked(const fs::path& file) {
  const Descriptor descriptor(lock_path(file), O_RDONLY);
  return descriptor.number >= 0 && ::flock(descriptor.number, LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

}  // namespace dewpoint::store
