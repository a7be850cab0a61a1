#include "dewpoint/server/request_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

constexpr std::array<std::string_view, 8> kHeadersRead = {
    "authorization", "content-length", "content-type",  "cookie",
    "expect",        "host",           "last-event-id", "origin"};

struct Header {
  std::string name;  // in small letters
  std::string_view value;
};

[[noreturn]] void refuse_head() { throw Refusal(400, "request: is not HTTP that can be read"); }

bool is_text(std::string_view line) {
  return std::none_of(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Header header_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) refuse_head();
  Header header{std::string(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
  for (char& c : header.name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isgraph(letter) == 0) refuse_head();
    c = static_cast<char>(std::tolower(letter));
  }
  return header;
}

std::size_t body_length(std::string_view value, std::size_t most) {
  std::size_t length = 0;
  const bool digits = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (!digits) throw Refusal(400, "content-length: is not a number of bytes");
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (error != std::errc{} || length > most) {
    throw Refusal(413, fmt::format("body: is larger than {} bytes", most));
  }
  return length;
}

std::vector<std::string_view> lines_of(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty()) {
    const auto end = head.find(kLineEnd);
    lines.push_back(head.substr(0, end));
    if (!is_text(lines.back())) refuse_head();
    head.remove_prefix(end + kLineEnd.size());
  }
  return lines;
}

void require_bounded(const std::vector<std::string_view>& lines) {
  if (lines[0].empty()) refuse_head();
  if (lines[0].size() > kMostAddressBytes) throw Refusal(414, "address: is too long");
  if (lines.size() > kMostHeaders + 1) {
    throw Refusal(431, fmt::format("head: has more than {} headers", kMostHeaders));
  }
}

bool is_read(const Header& header) {
  return std::find(kHeadersRead.begin(), kHeadersRead.end(), header.name) != kHeadersRead.end();
}

void refuse_coded(const Header& header) {
  if (header.name == "transfer-encoding") {
    throw Refusal(411, "transfer-encoding: is not taken; a body needs its content-length");
  }
  if (header.name == "content-encoding" && header.value != "identity") {
    throw Refusal(415, "content-encoding: is not taken; send the body as it is");
  }
}

}  // namespace

bool has_whole_head(std::string_view bytes) {
  return bytes.find(kHeadEnd) != std::string_view::npos;
}

RequestHead read_head(std::string_view bytes, std::size_t most_body) {
  const auto end = bytes.substr(0, kMostHeadBytes).find(kHeadEnd);
  if (end == std::string_view::npos) {
    throw Refusal(431, fmt::format("head: is larger than {} bytes", kMostHeadBytes));
  }
  RequestHead head;
  head.size = end + kHeadEnd.size();
  const std::vector<std::string_view> lines = lines_of(bytes.substr(0, end + kLineEnd.size()));
  require_bounded(lines);
  head.text = fmt::format("{}{}", lines[0], kLineEnd);
  std::vector<std::string> seen;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const Header header = header_of(lines[k]);
    refuse_coded(header);
    if (!is_read(header)) continue;
    if (std::find(seen.begin(), seen.end(), header.name) != seen.end()) {
      throw Refusal(400, fmt::format("{}: is given twice", header.name));
    }
    if (header.name == "content-length") head.body = body_length(header.value, most_body);
    head.text += fmt::format("{}: {}{}", header.name, header.value, kLineEnd);
    seen.push_back(header.name);
  }
  head.text += kLineEnd;
  return head;
}

}  // namespace dewpoint::server
