#include "dewpoint/server/refusal.hpp"

#include <algorithm>
#include <cctype>

namespace dewpoint::server {

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string field_of(const std::string& message, const std::vector<std::string>& fields) {
  const auto end = std::find_if(message.begin(), message.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_';
  });
  const std::string name(message.begin(), end);
  return std::find(fields.begin(), fields.end(), name) == fields.end() ? std::string() : name;
}

Refusal refusal_of(const Error& error, const std::vector<std::string>& fields) {
  const int status = error.code() == Code::unreadable_file   ? 404
                     : error.code() == Code::unwritable_file ? 409
                                                             : 400;
  return {status, error.what(), field_of(error.what(), fields)};
}

}  // namespace dewpoint::server
