// A file that appears whole or not at all.
//
// The content goes to `<target>.tmp-<pid>` in the same folder; commit() sends it to the disk and
// renames it over the target, which POSIX does in one step. Whoever reads the target sees the old
// file or the new one, never a half, whatever happens in between: an exception, a full disk, a
// kill. Only a kill leaves the temporary behind. What is not ours is not replaced
// (output_file.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "dewpoint/core/output_file.hpp"

namespace dewpoint {

class PendingFile {
 public:
  /// Creates the empty temporary. Throws Error{unwritable_file} when the folder does not allow it,
  /// Error{bad_value} when the target is there and is not of this kind.
  PendingFile(OutputFile target, FileKind kind);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  /// Removes the temporary unless it was committed.
  ~PendingFile();

  /// The temporary, to be written by any means; it exists and is empty.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  /// Puts the temporary in the place of the target, after which path() no longer exists. Throws as
  /// the constructor does.
  void commit();

 private:
  OutputFile target_;
  FileKind kind_;
  std::filesystem::path temporary_;
};

/// Throws Error{unwritable_file}: "cannot write '<file>': <reason>".
[[noreturn]] void throw_unwritable(const std::filesystem::path& file, std::string_view reason);

}  // namespace dewpoint
