#include "dewpoint/server/study_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dewpoint/core/error.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

namespace fs = std::filesystem;

bool has_extension(const fs::path& path, const std::vector<std::string>& extensions) {
  return std::find(extensions.begin(), extensions.end(), path.extension().string()) !=
         extensions.end();
}

std::string prefix_of(const fs::path& folder) {
  const std::string text = folder.lexically_normal().generic_string();
  if (text == "." || text == "./") return {};
  return text.ends_with('/') ? text : text + "/";
}

void add(const fs::path& file, const std::string& name, FolderList& list) {
  if (has_extension(file, {".study"})) list.studies.push_back(name);
  if (has_extension(file, {".toml"})) list.texts.push_back(name);
  if (has_extension(file, {".npz", ".safetensors"})) list.dumps.push_back(name);
}

}  // namespace

bool is_plain_name(const std::string& name) {
  if (name.empty() || name.size() > 255 || name.front() == '/' || name.back() == '/') return false;
  const bool printable = std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\';
  });
  if (!printable) return false;
  for (const fs::path& part : fs::path(name)) {
    if (part.empty() || part.string().front() == '.') return false;
  }
  return name.find("//") == std::string::npos;
}

StudyFolder::StudyFolder(const fs::path& folder) : prefix_(prefix_of(folder)) {
  std::error_code failed;
  root_ = fs::canonical(folder, failed);
  if (failed || !fs::is_directory(root_)) {
    throw Error(Code::unreadable_file, fmt::format("{}: is not a folder", folder.string()));
  }
}

std::string StudyFolder::name() const { return root_.filename().string(); }

bool StudyFolder::is_inside(const fs::path& path) const {
  const auto [end, ignored] = std::mismatch(root_.begin(), root_.end(), path.begin(), path.end());
  return end == root_.end();
}

fs::path StudyFolder::existing(const std::string& name,
                               const std::vector<std::string>& extensions) const {
  const Refusal refusal(404,
                        fmt::format("file: there is no '{}' ({}) in the folder of the explorer",
                                    name.substr(0, 80), fmt::join(extensions, ", ")),
                        "file");
  if (!is_plain_name(name)) throw refusal;
  std::error_code failed;
  const fs::path path = fs::canonical(root_ / name, failed);
  const bool fits = !failed && is_inside(path) && fs::is_regular_file(path, failed) &&
                    has_extension(path, extensions);
  if (!fits) throw refusal;
  return path;
}

fs::path StudyFolder::writable(const std::string& name, const std::string& extension) const {
  const auto refuse = [&](const std::string& why) {
    throw Refusal(400, fmt::format("file: '{}' {}", name.substr(0, 80), why), "file");
  };
  if (!is_plain_name(name)) refuse("is not a plain name of a file");
  if (!name.ends_with(extension) || fs::path(name).stem().empty()) {
    refuse(fmt::format("does not end in {}", extension));
  }
  std::error_code failed;
  const fs::path path = root_ / name;
  const fs::path folder = fs::canonical(path.parent_path(), failed);
  if (failed || !is_inside(folder)) refuse("lies in no folder of the explorer");
  const fs::path target = folder / path.filename();
  if (fs::is_symlink(target, failed)) refuse("is a link; a file is needed");
  return target;
}

FolderList StudyFolder::list() const {
  FolderList list;
  std::error_code failed;
  std::size_t seen = 0;
  auto entry = fs::recursive_directory_iterator(
      root_, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (++seen > 50 * kMostListedFiles) break;
    const fs::path& path = entry->path();
    const bool hidden = path.filename().string().front() == '.';
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (hidden || entry.depth() + 1 >= kMostFolderDepth) entry.disable_recursion_pending();
      continue;
    }
    const fs::path real = fs::canonical(path, ignored);
    if (hidden || ignored || !is_inside(real) || !fs::is_regular_file(real, ignored)) continue;
    if (list.studies.size() + list.texts.size() + list.dumps.size() >= kMostListedFiles) break;
    add(path, path.lexically_relative(root_).generic_string(), list);
  }
  std::sort(list.studies.begin(), list.studies.end());
  std::sort(list.texts.begin(), list.texts.end());
  std::sort(list.dumps.begin(), list.dumps.end());
  return list;
}

std::string StudyFolder::without_root(std::string message) const {
  const std::string before = (root_ / "").string();
  for (auto at = message.find(before); at != std::string::npos; at = message.find(before, at)) {
    message.erase(at, before.size());
  }
  return message;
}

}  // namespace dewpoint::server
