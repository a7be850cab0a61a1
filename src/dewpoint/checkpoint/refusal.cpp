#include "dewpoint/checkpoint/refusal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace dewpoint::checkpoint {
namespace {

constexpr std::size_t kExcerptLength = 48;

std::string escaped(char c) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(c)); }

std::string one_line(std::string_view name) {
  std::string result;
  for (char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      result += escaped(c);
    } else {
      result += c;
    }
  }
  return result;
}

// Empty when the path leads to a regular file, else what it leads to.
std::string obstacle(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::regular) return {};
  if (type == std::filesystem::file_type::directory) return "a directory";
  return error ? error.message() : "something that is not a regular file";
}

// There a reader stumbles over its first field, which is not what is wrong.
bool is_empty_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) == 0;
}

}  // namespace

std::string excerpt(std::string_view text) {
  std::string result;
  for (char c : text.substr(0, kExcerptLength)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += escaped(c);
    }
  }
  return text.size() > kExcerptLength ? result + "..." : result;
}

Error to_error(Code code, std::string_view name, const Refusal& refusal) {
  const bool empty = code == Code::malformed_file && is_empty_file(name);
  if (empty || refusal.field.empty()) {
    return {code, fmt::format("{}: {}, allowed: {}", one_line(name),
                              empty ? "is empty" : refusal.found, refusal.allowed)};
  }
  return {code, fmt::format("{}: {}: found {}, allowed: {}", one_line(name), refusal.field,
                            refusal.found, refusal.allowed)};
}

std::ifstream open_regular_file(const std::filesystem::path& path, std::string_view allowed) {
  std::error_code ignored;
  if (std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found) {
    throw to_error(Code::unreadable_file, path.string(),
                   {"", "no such file", std::string(allowed)});
  }
  std::string found = obstacle(path);
  if (found.empty()) {
    std::ifstream file(path, std::ios::binary);
    if (file) return file;
    found = std::generic_category().message(errno);
  }
  throw to_error(Code::unreadable_file, path.string(),
                 {"file", std::move(found), std::string(allowed)});
}

}  // namespace dewpoint::checkpoint
