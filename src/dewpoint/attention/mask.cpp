#include "dewpoint/attention/mask.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dewpoint/attention/named_numbers.hpp"

namespace dewpoint::attention {

Mask Mask::causal() {
  Mask mask;
  mask.backward_only_ = true;
  return mask;
}

Mask Mask::window(std::size_t width) {
  if (width == 0) {
    throw Error(Code::bad_value,
                "mask: window:0 leaves every query without a visible key; the width must be >= 1");
  }
  Mask mask = causal();
  mask.width_ = width;
  return mask;
}

Range Mask::visible(std::size_t query, std::size_t n) const {
  DEWPOINT_EXPECTS(query < n);
  if (!backward_only_) return {0, n};
  const std::size_t seen = width_ == 0 ? query + 1 : std::min(width_, query + 1);
  return {query + 1 - seen, query + 1};
}

std::string Mask::name() const {
  if (!backward_only_) return "none";
  return width_ == 0 ? "causal" : fmt::format("window:{}", width_);
}

std::optional<Mask> find_mask(const std::string& text) {
  if (text == "none") return Mask::none();
  if (text == "causal") return Mask::causal();
  const auto width = numbers_behind<std::size_t>("window", text, 1);
  return width ? std::optional(Mask::window((*width)[0])) : std::nullopt;
}

Mask parse_mask(const std::string& text) {
  if (const auto mask = find_mask(text)) return *mask;
  throw Error(Code::bad_value,
              fmt::format("mask: '{}' is not none, causal or window:W with a width W >= 1", text));
}

}  // namespace dewpoint::attention
