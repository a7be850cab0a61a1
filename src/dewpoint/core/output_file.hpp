// What may be written where: nothing takes the place of a file that is not ours.
//
// A file may be written where nothing is, over an empty file, over a file that its kind knows as
// its own, or, with force, over any ordinary file. Every writer asks, through PendingFile: before
// it begins and again before it replaces. A folder is ours when it is empty or holds a file of
// ours.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dewpoint {

/// A kind of file that we write, and how it knows its own.
struct FileKind {
  std::string name;  // with its article: "a Dewpoint study"
  std::function<bool(const std::filesystem::path&)> is_ours;  // asked of files with content
  // What a file is that is not ours, where the kind knows it better than its first bytes tell.
  std::function<std::string(const std::filesystem::path&)> described = {};
};

/// A folder that is written as a whole: one file of these kinds makes it ours.
struct FolderKind {
  std::string name;  // "a folder of Dewpoint figures"
  std::vector<FileKind> files;
};

/// Where to write, and whether that may take the place of anything.
struct OutputFile {
  std::filesystem::path path;
  bool force = false;

  template <std::convertible_to<std::filesystem::path> Path>
  OutputFile(Path&& file, bool forced = false)  // NOLINT: a path is an output that is not forced
      : path(std::forward<Path>(file)), force(forced) {}

  /// Another file, under the same rule.
  [[nodiscard]] OutputFile beside(std::filesystem::path other) const {
    return {std::move(other), force};
  }
};

/// Throws Error{bad_value} with the file, what it is and what it is not.
void expect_replaceable(const OutputFile& file, const FileKind& kind);

/// The same, and Error{unwritable_file} where its folder is not there or may not be written:
/// asked before long work.
void require_writable(const OutputFile& file, const FileKind& kind);

/// Throws Error{bad_value} for a folder that is not ours, without force; what is not there passes.
void expect_own_folder(const OutputFile& folder, const FolderKind& kind);

/// Makes the folder if it is not there. Throws what expect_own_folder does, and
/// Error{unwritable_file}.
void make_own_folder(const OutputFile& folder, const FolderKind& kind);

/// For files of a folder that was looked at as a whole.
[[nodiscard]] const FileKind& file_of_own_folder();

/// How far from either end of a file a mark is looked for, in bytes.
inline constexpr std::size_t kMarkReach = 1 << 16;

/// Whether a file begins so and holds `mark` near one of its ends.
[[nodiscard]] bool is_marked(const std::filesystem::path& file, std::string_view beginning,
                             std::string_view mark);

/// The kind of file that begins so and holds `mark` near one of its ends.
[[nodiscard]] FileKind marked_kind(std::string name, std::string beginning, std::string mark);

}  // namespace dewpoint
