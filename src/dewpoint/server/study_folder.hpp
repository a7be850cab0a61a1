// The one folder that the explorer reads and writes: names in, paths below it out, nothing else.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dewpoint::server {

/// Files by kind, as names below the folder, sorted.
struct FolderList {
  std::vector<std::string> studies;  // *.study
  std::vector<std::string> texts;    // *.toml
  std::vector<std::string> dumps;    // *.npz, *.safetensors
};

inline constexpr int kMostFolderDepth = 3;
inline constexpr std::size_t kMostListedFiles = 2000;

class StudyFolder {
 public:
  /// Throws Error{unreadable_file} where there is no such folder. Links in `folder` itself are
  /// followed once, here.
  explicit StudyFolder(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// The last part of the folder's name.
  [[nodiscard]] std::string name() const;
  /// What stands before a name on a command line of the server's own folder: "studies/", or
  /// nothing.
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

  /// The file of this name, which exists and has one of these extensions. Throws Refusal{404} for
  /// anything else, whether it is outside, hidden, absent or of another kind.
  ///   Properties  (1) the path lies below root(), symbolic links resolved.
  [[nodiscard]] std::filesystem::path existing(const std::string& name,
                                               const std::vector<std::string>& extensions) const;

  /// Where a new or old file of this name would lie; its folder exists and lies below root().
  /// Throws Refusal{400} for a name that is no plain path of parts, or has another extension.
  [[nodiscard]] std::filesystem::path writable(const std::string& name,
                                               const std::string& extension) const;

  [[nodiscard]] FolderList list() const;

  /// A message with paths below the folder as names in it: who asks need not know where it lies.
  [[nodiscard]] std::string without_root(std::string message) const;

 private:
  [[nodiscard]] bool is_inside(const std::filesystem::path& path) const;

  std::filesystem::path root_;
  std::string prefix_;
};

/// Whether a name is a relative path of plain parts: not empty, no "..", no hidden part, no
/// backslash, no control character, at most 255 bytes.
[[nodiscard]] bool is_plain_name(const std::string& name);

}  // namespace dewpoint::server
