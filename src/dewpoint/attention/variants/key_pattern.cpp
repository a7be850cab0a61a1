#include "dewpoint/attention/variants/key_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dewpoint/attention/named_numbers.hpp"

namespace dewpoint::attention {
namespace {

// Ranges in any order as the fewest that hold them, increasing.
std::vector<Range> merged(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::begin);
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

}  // namespace

std::size_t VisibleKeys::size() const {
  std::size_t sum = 0;
  for (const KeyRun& run : runs()) sum += run.size();
  return sum;
}

std::vector<std::size_t> VisibleKeys::keys() const {
  std::vector<std::size_t> result;
  result.reserve(size());
  for (const KeyRun& run : runs()) {
    for (std::size_t place = 0; place < run.size(); ++place) result.push_back(run.key(place));
  }
  return result;
}

KeyPattern KeyPattern::dilated(std::size_t width, std::size_t stride) {
  if (width == 0 || stride == 0) {
    throw Error(Code::bad_value,
                fmt::format("mask: dilated:{}:{} needs a width >= 1 (0 leaves every query without "
                            "a visible key) and a stride >= 1",
                            width, stride));
  }
  KeyPattern pattern;
  pattern.kind_ = Kind::dilated;
  pattern.width_ = width;
  pattern.stride_ = stride;
  return pattern;
}

KeyPattern KeyPattern::global(std::size_t width, std::size_t tokens) {
  if (width == 0 || tokens == 0) {
    throw Error(Code::bad_value,
                fmt::format("mask: global:{}:{} needs a width >= 1, so that every query sees "
                            "itself, and at least 1 global token (without any it is window:{})",
                            width, tokens, std::max<std::size_t>(width, 1)));
  }
  KeyPattern pattern(Mask::window(width));
  pattern.kind_ = Kind::global;
  pattern.width_ = width;
  pattern.global_ = tokens;
  return pattern;
}

VisibleKeys KeyPattern::visible(std::size_t query, std::size_t n) const {
  DEWPOINT_EXPECTS(query < n);
  if (kind_ == Kind::dilated) {
    const std::size_t back = std::min(width_ - 1, query / stride_);
    return VisibleKeys({query - back * stride_, query + 1, stride_});
  }
  const Range range = mask_.visible(query, n);
  const KeyRun near{range.begin, range.end};
  if (kind_ == Kind::mask) return VisibleKeys(near);
  if (near.begin <= global_) return VisibleKeys({0, near.end});
  return {{0, global_}, near};
}

std::vector<Range> KeyPattern::ranges_seen(std::span<const std::size_t> queries,
                                           std::size_t n) const {
  std::vector<Range> seen;
  for (const std::size_t query : queries) {
    for (const KeyRun& run : visible(query, n).runs()) seen.push_back(run.hull());
  }
  return merged(std::move(seen));
}

std::vector<Range> KeyPattern::ranges_seen(Range queries, std::size_t n) const {
  std::vector<std::size_t> each(queries.size());
  std::iota(each.begin(), each.end(), queries.begin);
  return ranges_seen(each, n);
}

std::optional<Mask> KeyPattern::mask() const {
  return kind_ == Kind::mask ? std::optional(mask_) : std::nullopt;
}

std::string KeyPattern::name() const {
  switch (kind_) {
    case Kind::dilated:
      return fmt::format("dilated:{}:{}", width_, stride_);
    case Kind::global:
      return fmt::format("global:{}:{}", width_, global_);
    case Kind::mask:
      break;
  }
  return mask_.name();
}

KeyPattern parse_key_pattern(const std::string& text) {
  if (const auto mask = find_mask(text)) return *mask;
  if (const auto dilated = numbers_behind<std::size_t>("dilated", text, 2)) {
    return KeyPattern::dilated((*dilated)[0], (*dilated)[1]);
  }
  if (const auto global = numbers_behind<std::size_t>("global", text, 2)) {
    return KeyPattern::global((*global)[0], (*global)[1]);
  }
  throw Error(Code::bad_value,
              fmt::format("mask: '{}' is not none, causal, window:W, dilated:W:S (W keys at stride "
                          "S) or global:W:G (a window and the first G tokens), with whole numbers "
                          ">= 1",
                          text));
}

}  // namespace dewpoint::attention
