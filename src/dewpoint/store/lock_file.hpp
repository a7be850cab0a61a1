// One writer per study: `<file>-lock` beside it, held with flock(2) by whoever writes.
//
// The system drops the lock when its process ends, however it ends; a lock file that a killed
// process left behind is therefore no lock. A symbolic link and its target share one lock.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace dewpoint::store {

class LockFile {
 public:
  /// Throws Error{unwritable_file} when another holds it, when the folder may not be written or the
  /// system has no locks for it; Error{malformed_file} when something else has the name of the lock
  /// (a link, a folder, a file with two names or other content), which stays as it is.
  explicit LockFile(const std::filesystem::path& file);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  /// Removes the lock file and lets go.
  ~LockFile();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Whether somebody writes this study now.
[[nodiscard]] bool is_locked(const std::filesystem::path& file);

}  // namespace dewpoint::store
