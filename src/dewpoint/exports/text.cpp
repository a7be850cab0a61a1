#include "dewpoint/exports/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "dewpoint/checkpoint/utf8.hpp"

namespace dewpoint::exports {
namespace {

bool is_letter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }

bool is_plain(char32_t c) {
  constexpr std::u32string_view marks = U"_+.-";
  const bool digit = c >= U'0' && c <= U'9';
  return c >= 0x80 || digit || is_letter(c) || marks.find(c) != std::u32string_view::npos;
}

std::u32string plain(std::string_view name) {
  std::u32string result = checkpoint::decode_utf8(name);
  std::replace_if(
      result.begin(), result.end(), [](char32_t c) { return !is_plain(c); }, U'_');
  return result.empty() ? U"_" : result;
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (value == 0.0 && std::signbit(value)) return "-0.0";
  std::array<char, 32> buffer;  // the longest is -1.2345678901234567e-308: 24 characters
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string clean_text(std::string_view text) {
  std::u32string code_points = checkpoint::decode_utf8(text);
  std::replace(code_points.begin(), code_points.end(), U'\0', U'\xfffd');
  return checkpoint::encode_utf8(code_points);
}

std::string file_part(std::string_view name) { return checkpoint::encode_utf8(plain(name)); }

std::string netcdf_name(std::string_view name) {
  std::u32string result = plain(name);
  if (!is_letter(result.front()) && result.front() < 0x80) result.insert(0, 1, U'_');
  std::string text = checkpoint::encode_utf8(result);
  while (text.size() > kLongestNetcdfName) {
    result.pop_back();
    text = checkpoint::encode_utf8(result);
  }
  return text;
}

std::string Names::claim(const std::string& wanted) {
  std::string name = wanted;
  for (int k = 2; !taken_.insert(name).second; ++k) name = wanted + "_" + std::to_string(k);
  return name;
}

}  // namespace dewpoint::exports
