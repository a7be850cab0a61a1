#include "dewpoint/text/lower_case.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstddef>
#include <memory>

#include "dewpoint/core/error.hpp"

namespace dewpoint::text {
namespace {

struct Freed {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};

constexpr std::string_view kUpper = "\\p{Lu}", kLowered = "\\L$0";

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

const pcre2_code* upper_case() {
  int error = 0;
  PCRE2_SIZE place = 0;
  static const std::unique_ptr<pcre2_code, Freed> code(
      pcre2_compile(units(kUpper), kUpper.size(), PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr));
  return code.get();
}

// Two letters of two bytes have lower-case forms of three; no other grows.
void append_lowered(std::string_view run, std::string& result) {
  constexpr unsigned options =
      PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED | PCRE2_NO_UTF_CHECK;
  std::string lowered(run.size() + run.size() / 2 + 1, '\0');
  PCRE2_SIZE length = lowered.size();
  const int outcome = pcre2_substitute(upper_case(), units(run), run.size(), 0, options, nullptr,
                                       nullptr, units(kLowered), kLowered.size(),
                                       reinterpret_cast<PCRE2_UCHAR*>(lowered.data()), &length);
  if (outcome < 0) throw Error(Code::bad_value, "text: PCRE2 could not change its case");
  result.append(lowered, 0, length);
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t place = 0; place < text.size();) {
    std::size_t end = place;
    while (end < text.size() && !is_ascii(text[end])) ++end;
    if (end > place) append_lowered(text.substr(place, end - place), result);
    for (place = end; place < text.size() && is_ascii(text[place]); ++place) {
      const char c = text[place];
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return result;
}

}  // namespace dewpoint::text
