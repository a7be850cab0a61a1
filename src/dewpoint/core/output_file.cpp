#include "dewpoint/core/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::bad_value, message); }

std::string bytes_from(std::ifstream& in, std::uintmax_t place) {
  std::string bytes(kMarkReach, '\0');
  in.clear();
  in.seekg(static_cast<std::streamoff>(place));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

struct Signature {
  std::string_view beginning;
  std::string_view name;
};

// What a stranger's file is, as far as its first bytes tell.
constexpr std::array kSignatures{Signature{"SQLite format 3\0"sv, "an SQLite database"},
                                 Signature{"\x89PNG", "a PNG picture"},
                                 Signature{"%PDF", "a PDF document"},
                                 Signature{"PK\x03\x04", "a zip archive"},
                                 Signature{"\x89HDF", "an HDF5 file"},
                                 Signature{"\xff\xd8\xff", "a JPEG picture"}};

bool is_text(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f';
  });
}

std::string content_of(const fs::path& file, const FileKind& kind) {
  const std::string described = kind.described ? kind.described(file) : "";
  if (!described.empty()) return described;
  std::ifstream in(file, std::ios::binary);
  if (!in) return "a file that may not be read";
  const std::string bytes = bytes_from(in, 0);
  for (const Signature& known : kSignatures) {
    if (bytes.starts_with(known.beginning)) return std::string(known.name);
  }
  return is_text(bytes) ? "a text" : "a file of another program";
}

bool holds_ours(const fs::path& folder, const FolderKind& kind) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (!entry.is_regular_file(unreadable)) continue;
    const auto is_ours = [&](const FileKind& one) { return one.is_ours(entry.path()); };
    if (std::any_of(kind.files.begin(), kind.files.end(), is_ours)) return true;
  }
  return false;
}

}  // namespace

void expect_replaceable(const OutputFile& file, const FileKind& kind) {
  std::error_code unknown;
  const fs::file_status status = fs::status(file.path, unknown);  // of what a link leads to
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) {
    refuse(fmt::format("'{}' is {}; the name of a file is needed", file.path.string(),
                       fs::is_directory(status) ? "a folder" : "no ordinary file"));
  }
  if (file.force || fs::is_empty(file.path, unknown) || kind.is_ours(file.path)) return;
  refuse(
      fmt::format("'{}' is there already: {}, not {}; choose another name, or --force replaces it",
                  file.path.string(), content_of(file.path, kind), kind.name));
}

void require_writable(const OutputFile& file, const FileKind& kind) {
  expect_replaceable(file, kind);
  const fs::path& path = file.path;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto fail = [&](const char* why) {
    throw Error(Code::unwritable_file, fmt::format("{}: {}", path.string(), why));
  };
  if (!fs::is_directory(folder)) fail("its folder does not exist");
  if (access(folder.c_str(), W_OK) != 0) fail("its folder may not be written to");
}

void expect_own_folder(const OutputFile& folder, const FolderKind& kind) {
  std::error_code unknown;
  const fs::file_status status = fs::status(folder.path, unknown);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    refuse(fmt::format("'{}' is a file; the name of a folder is needed", folder.path.string()));
  }
  if (folder.force || fs::is_empty(folder.path, unknown) || holds_ours(folder.path, kind)) return;
  refuse(fmt::format("'{}' is not empty and not {}; choose another name, or --force writes into it",
                     folder.path.string(), kind.name));
}

void make_own_folder(const OutputFile& folder, const FolderKind& kind) {
  expect_own_folder(folder, kind);
  std::error_code failed;
  fs::create_directories(folder.path, failed);
  if (failed) throw_unwritable(folder.path, failed.message());
}

const FileKind& file_of_own_folder() {
  static const FileKind kind{"a file of this folder", [](const fs::path&) { return true; }};
  return kind;
}

bool is_marked(const fs::path& file, std::string_view beginning, std::string_view mark) {
  std::ifstream in(file, std::ios::binary);
  const std::string head = bytes_from(in, 0);
  if (!head.starts_with(beginning)) return false;
  if (head.find(mark) != std::string::npos) return true;
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file, unknown);
  if (unknown || size <= kMarkReach) return false;
  return bytes_from(in, size - kMarkReach).find(mark) != std::string::npos;
}

FileKind marked_kind(std::string name, std::string beginning, std::string mark) {
  return {std::move(name), [beginning = std::move(beginning), mark = std::move(mark)](
                               const fs::path& file) { return is_marked(file, beginning, mark); }};
}

}  // namespace dewpoint
